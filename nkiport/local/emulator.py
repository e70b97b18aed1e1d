"""The emulator: its own environment, a clean process environment, a free port on loopback.

``python -m nkiport.local.emulator`` installs it, and does nothing if it is there.
"""

import socket
import subprocess
import sys
import time
import venv
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from nkiport.contracts.errors import BadRequest
from nkiport.local import process
from nkiport.local.paths import EMULATOR

PINS: Final = (
    "ministack==1.5.33",      # the emulator
    "boto3==1.43.106",        # what Lambda's runtime brings; the release ministack pins
    "cryptography==50.0.2",   # without it KMS has no asymmetric keys
)  # fmt: skip
PROGRAM: Final = "ministack"
READY_SECONDS: Final = 20.0
REGION: Final = "us-east-1"


def install() -> bool:
    """Install the pinned release; False if it was there."""
    marker, wanted = EMULATOR / ".pins", "\n".join(PINS)
    if marker.exists() and marker.read_text() == wanted:
        return False
    venv.create(EMULATOR, with_pip=True, clear=True)
    pip = [str(EMULATOR / "bin" / "python"), "-m", "pip", "install", "-qq"]
    subprocess.run([*pip, "--disable-pip-version-check", *PINS], check=True)
    marker.write_text(wanted)
    return True


@dataclass(frozen=True)
class Running:
    """An emulator that answers."""

    pid: int
    endpoint: str


def start(folder: Path, bedrock_url: str = "") -> Running:
    """Start it with everything it writes below ``folder``; ready when it says so."""
    program = EMULATOR / "bin" / PROGRAM
    if not program.exists():
        raise BadRequest("the emulator is not installed; run 'make install'")
    port = _free_port()
    pid = process.start(
        [str(program)], cwd=folder, env=_environment(folder, port, bedrock_url),
        log=folder / "emulator.log",
    )  # fmt: skip
    running = Running(pid, f"http://127.0.0.1:{port}")
    _wait(running, folder)
    return running


def client_environment(endpoint: str) -> dict[str, str]:
    """What an AWS client needs to talk to the emulator, and nothing of this machine's account."""
    return {
        "AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_REGION": REGION,
        "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip


def _environment(folder: Path, port: int, bedrock_url: str) -> dict[str, str]:
    """Lambdas inherit it all, so nothing of the caller's is in it."""
    here = {name: str(_made(folder / name.lower())) for name in ("TMPDIR", "STATE_DIR",
                                                                "S3_DATA_DIR")}  # fmt: skip
    bedrock = {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": bedrock_url} if bedrock_url else {}
    return {
        "PATH": f"{EMULATOR / 'bin'}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder),
        "BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0", "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1", **here, **bedrock,
    }  # fmt: skip


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(running: Running, folder: Path) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and process.alive(running.pid):
        with suppress(httpx.HTTPError):
            if httpx.get(f"{running.endpoint}/_ministack/health", timeout=2).is_success:
                return
        time.sleep(0.05)
    process.end(running.pid)
    log = (folder / "emulator.log").read_text(errors="replace")[-2000:]
    raise BadRequest(f"the emulator did not become ready in {READY_SECONDS:g} s: {log}")


if __name__ == "__main__":
    sys.stdout.write("installed the emulator\n" if install() else "")
