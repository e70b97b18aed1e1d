"""The first code of every child: raise the walls, then hand over to the module asked for.

Run as a file by ``nkiport.sandbox.child``, with the request in ``request.json`` of the current
folder. The report about the walls goes through a pipe that is closed before the module starts.
"""

import errno
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

EXIT_MEMORY, EXIT_TOO_LARGE, EXIT_RAISED = 77, 78, 79
SIGNALLED = 128


def main() -> int:
    """Raise the walls and run the module in a process of its own; return its exit code."""
    request = json.loads(Path("request.json").read_text())
    sys.path[:] = request["sys_path"]
    from nkiport.sandbox import walls  # after sys.path is set: -I leaves it without the package

    libc = walls.Libc()
    up = walls.unshare(libc)
    if not up:
        up = _inside(request, walls, libc, confined=())
        return _run(request, up)
    inside = os.fork()
    if inside == 0:
        os._exit(_first_process(request, walls, libc, up))
    return _wait(inside)


def _first_process(request: dict[str, Any], walls: Any, libc: Any, up: tuple[str, ...]) -> int:
    """Be process 1 of the namespace: when this ends, the kernel ends all that is left in it."""
    confined = walls.confine(libc, Path(request["scratch"]), request["readable"])
    up = (*up, *_inside(request, walls, libc, confined=confined))
    child = os.fork()
    if child == 0:
        os._exit(_run(request, up))
    os.close(request["report_fd"])
    return _wait(child)


def _inside(
    request: dict[str, Any], walls: Any, libc: Any, *, confined: tuple[str, ...]
) -> tuple[str, ...]:
    walls.limit(request)
    if confined or walls.readable_by_nobody(request["sys_path"]):
        return (*confined, *walls.drop(libc), "limits")
    return ("limits",)


def _wait(child: int) -> int:
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return SIGNALLED + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def _run(request: dict[str, Any], up: tuple[str, ...]) -> int:
    """Run the module's ``main`` and write what it returned."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.write(request["report_fd"], json.dumps(up).encode())
    os.close(request["report_fd"])
    try:
        answer = importlib.import_module(request["module"]).main(request["request"])
        with Path("result.json").open("r+") as result:
            json.dump(answer, result)
            result.truncate()
    except MemoryError:
        return EXIT_MEMORY
    except OSError as error:
        traceback.print_exc()
        return EXIT_TOO_LARGE if error.errno == errno.EFBIG else EXIT_RAISED
    except BaseException:  # noqa: BLE001 - whatever ended it, the parent only needs to know
        traceback.print_exc()
        return EXIT_RAISED
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    os._exit(main())
