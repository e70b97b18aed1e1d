"""Processes that outlive the command that starts them, and how they are ended."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

END_SECONDS: Final = 5.0
POLL_SECONDS: Final = 0.05


def start(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> int:
    """Start a command in a session of its own; return its process id.

    Not ``subprocess``, whose objects complain when they are dropped while the process runs.
    """
    into = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), into, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    inside = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(cwd), *command]
    return os.posix_spawn("/bin/sh", inside, dict(env), file_actions=actions, setsid=True)


def end(pid: int, named: str = "") -> None:
    """Ask a process group to end, wait, and end it: nothing of it is left.

    ``named`` is a word of its command line. A number that was written down may be another
    process's by now, which is left alone.
    """
    if alive(pid) and named not in _command(pid):
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(pid, number)
        until = time.monotonic() + END_SECONDS
        while time.monotonic() < until:
            if not (alive(pid) or _group(pid)):
                return
            time.sleep(POLL_SECONDS)


def alive(pid: int, named: str = "") -> bool:
    """Whether a process runs, and is the one ``named``; one that ended and is ours is collected."""
    with suppress(ChildProcessError):
        done, _ = os.waitpid(pid, os.WNOHANG)
        if done:
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return not named
    return named in _command(pid)


def _group(pid: int) -> bool:
    """Whether the group has a process left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, 0)
        return True
    return False


def _command(pid: int) -> str:
    """The command line; by ``ps`` where there is no ``/proc``."""
    if not Path("/proc/self/cmdline").exists():
        asked = ["ps", "-o", "command=", "-p", str(pid)]
        return subprocess.run(asked, check=False, capture_output=True, text=True).stdout
    with suppress(OSError):
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    return ""
