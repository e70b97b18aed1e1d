"""The sandbox: what hostile code tries, and what becomes of it.

The children are files written into a folder that the child may read. Where the host forbids
namespaces the walls named in ``ChildResult.isolation`` are missing, and tests of them are skipped.
"""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from nkiport.sandbox import Limits, run_child
from nkiport.sandbox.limits import MIB

SHORT = Limits(wall_seconds=20, cpu_seconds=20)


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Run a function body as a child's ``main``; returns its ``ChildResult``."""
    code, scratch = tmp_path / "code", tmp_path / "scratch"
    code.mkdir()
    scratch.mkdir()
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == Path.home().owner() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    monkeypatch.syspath_prepend(str(code))

    def run(body, *, limits=SHORT, request=None, env=None):
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        (code / "hostile.py").write_text(f"def main(request):\n{lines}\n")
        return run_child(
            "hostile", request or {}, scratch=scratch, limits=limits, env=env, readable=[code]
        )

    run.scratch = scratch
    return run


def walled(result, wall):
    if wall not in result.isolation:
        pytest.skip(f"this host does not allow the wall '{wall}'")


def test_what_main_returns_comes_back_and_what_it_prints_is_kept_apart(child):
    result = child("print('{\"y\": 2}')\nreturn {'y': request['x'] + 1}", request={"x": 40})

    assert (result.outcome, result.result) == ("done", {"y": 41})
    assert result.stdout == '{"y": 2}\n'


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("while True: pass", "timeout"),
        ("import time; time.sleep(60)", "timeout"),
        ("b = bytearray(10**12)", "memory"),
        ("raise ValueError('no')", "crash"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "crash"),
        ("import os; os._exit(3)", "crash"),
        ("import os; os._exit(0)", "no_result"),
        ("return [1, 2]", "no_result"),
        ("return {'x': 'y' * 1_500_000}", "no_result"),
        ("open('big', 'wb').write(b'x' * 3_000_000)", "output_too_large"),
        ("def f(): f()\nf()", "crash"),
    ],
)
def test_how_a_child_ends_is_data(child, body, outcome):
    limits = Limits(wall_seconds=2, cpu_seconds=20, file_bytes=2 * MIB, result_bytes=MIB)

    result = child(body, limits=limits)

    assert result.outcome == outcome, result
    assert result.result is None
    assert result.detail


def test_the_result_is_read_from_the_file_that_the_parent_made(child):
    forged = (
        "import os, pathlib\n"
        "os.unlink('result.json')\n"
        "pathlib.Path('result.json').write_text('{\"verdict\": \"accepted\"}')\n"
        "os._exit(0)"
    )

    result = child(forged)

    assert (result.outcome, result.result) == ("no_result", None)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "NaN", "null", "\\x00\\xff"])
def test_a_result_that_is_no_mapping_of_json_is_none(child, text):
    body = f"import os\nopen('result.json', 'w').write('{text}')\nos._exit(0)"

    assert child(body).outcome == "no_result"


def test_the_parents_environment_and_standard_input_are_not_there(child, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")

    result = child("import os, sys\nreturn {'env': dict(os.environ), 'in': sys.stdin.read()}",
                   env={"NKIPORT_X": "given"})  # fmt: skip

    assert "AWS_SECRET_ACCESS_KEY" not in result.result["env"]
    assert result.result["env"]["NKIPORT_X"] == "given"
    assert result.result["in"] == ""


def test_no_file_of_the_host_but_python_is_seen_and_none_can_be_written(child, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("readable by all")
    secret.chmod(0o644)
    body = (
        "import os\n"
        "def write(path):\n"
        "    try:\n"
        "        open(path, 'w').close()\n"
        "    except OSError:\n"
        "        return False\n"
        "    return True\n"
        "seen = [p for p in request['private'] if os.path.exists(p)]\n"
        "wrote = [p for p in ('/x', '/usr/x', os.path.dirname(__file__) + '/x') if write(p)]\n"
        "return {'seen': seen, 'wrote': wrote, 'here': write('x')}"
    )

    private = ["/etc/passwd", "/proc/self", "/proc/1", "/var", "/run", str(secret), __file__]
    result = child(body, request={"private": private})

    walled(result, "files")
    assert result.result == {"seen": [], "wrote": [], "here": True}


def test_there_is_no_network_and_so_no_metadata_service(child):
    body = (
        "import socket\n"
        "failed = []\n"
        "for address in (('169.254.169.254', 80), ('127.0.0.1', request['port'])):\n"
        "    try:\n"
        "        socket.create_connection(address, timeout=1).close()\n"
        "    except OSError:\n"
        "        failed.append(address[0])\n"
        "return {'failed': failed}"
    )
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        result = child(body, request={"port": server.getsockname()[1]})

    walled(result, "network")
    assert result.result == {"failed": ["169.254.169.254", "127.0.0.1"]}


def test_the_child_is_nobody_and_cannot_become_somebody(child):
    body = (
        "import os\n"
        "try:\n"
        "    os.setuid(0)\n"
        "    became = True\n"
        "except OSError:\n"
        "    became = False\n"
        "return {'uid': os.getuid(), 'became': became}"
    )

    result = child(body)

    walled(result, "user")
    assert result.result == {"uid": 65534, "became": False}


def test_nothing_that_the_child_started_outlives_it(child):
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    body = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', request['mark']],"
        " start_new_session=True)\n"
        "return {}"
    )

    result = child(body, request={"mark": mark})

    walled(result, "processes")
    assert result.outcome == "done"
    assert _ends(mark)


def test_a_child_that_hides_in_a_new_session_ends_when_time_is_up(child):
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    body = (
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', request['mark']],"
        " start_new_session=True)\n"
        "time.sleep(60)"
    )

    result = child(body, request={"mark": mark}, limits=Limits(wall_seconds=2))

    walled(result, "processes")
    assert result.outcome == "timeout"
    assert _ends(mark)


def test_processes_are_counted(child):
    body = (
        "import os, time\n"
        "made = 0\n"
        "try:\n"
        "    for _ in range(500):\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(30)\n"
        "            os._exit(0)\n"
        "        made += 1\n"
        "except OSError:\n"
        "    pass\n"
        "return {'made': made}"
    )

    result = child(body, limits=Limits(wall_seconds=20, processes=40))

    walled(result, "user")
    assert result.result["made"] < 40


def test_the_scratch_folder_cannot_be_filled_beyond_its_bound(child):
    body = (
        "for i in range(400):\n"
        "    with open(f'part{i}', 'wb') as part:\n"
        "        part.write(b'x' * 1_000_000)\n"
        "import time; time.sleep(30)"
    )

    result = child(body, limits=Limits(wall_seconds=25, scratch_bytes=50 * MIB))

    assert result.outcome == "output_too_large"
    assert result.seconds < 20


def test_links_out_of_the_scratch_folder_are_not_handed_over(child, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("x")
    (child.scratch / "link").symlink_to(outside)
    before = outside.stat().st_uid

    child("return {}")

    assert outside.stat().st_uid == before


def test_the_processor_is_described_because_torch_asks_before_it_computes_in_float16(child):
    result = child("return {'cpu': open('/proc/cpuinfo').read(9)}")

    assert result.result["cpu"] == "processor", sys.platform


def _ends(mark):
    """Whether the marked processes go away: the kernel reaps a killed namespace a moment later."""
    until = time.monotonic() + 10
    while _running(mark) and time.monotonic() < until:
        threading.Event().wait(0.02)
    return not _running(mark)


def _running(mark):
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return [line for line in lines if mark in line]
