"""The local deployment: up, down, status."""

import os
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from nkiport.local import emulator, process
from nkiport.local.assembly import assembly
from nkiport.local.deploy import Cloud, deploy
from nkiport.local.paths import ROOT, STATE

FILE = "state.json"
WORKER = "trn_worker"
WORKERS = 2


class State(BaseModel):
    """A deployment that runs. ``seconds`` is how long it took to be ready."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    token: str
    endpoint: str
    folder: str
    emulator_pid: int
    worker_pids: tuple[int, ...]
    outputs: dict[str, str]
    seconds: float

    @property
    def alive(self) -> bool:
        """Whether its emulator still runs."""
        return process.alive(self.emulator_pid, emulator.PROGRAM)


def up(*, workers: int = WORKERS, bedrock_url: str = "", home: Path = STATE) -> State:
    """Start the emulator, deploy the stacks, start the workers; what runs already is returned.

    Raises ``BadRequest`` with the reason, and then leaves nothing running.
    """
    there = status(home=home)
    if there:
        return there
    started = time.monotonic()
    home.mkdir(parents=True, exist_ok=True)
    made = assembly()
    folder = Path(tempfile.mkdtemp(prefix="nkiport-", dir=home))
    running = None
    try:
        running = emulator.start(folder, bedrock_url)
        with Cloud(running.endpoint) as cloud:
            outputs = deploy(made, cloud)
            token = cloud.secret(outputs["ApiTokenSecretArn"])
        state = State(
            url=outputs["ApiUrl"].rstrip("/"),
            token=token,
            endpoint=running.endpoint,
            folder=str(folder),
            emulator_pid=running.pid,
            worker_pids=tuple(_worker(running.endpoint, outputs, folder) for _ in range(workers)),
            outputs=outputs,
            seconds=time.monotonic() - started,
        )
    except BaseException:
        if running:
            process.end(running.pid)
        shutil.rmtree(folder, ignore_errors=True)
        raise
    _write(home / FILE, state)
    return state


def down(*, home: Path = STATE) -> bool:
    """End all of it and delete what it wrote; False if nothing ran."""
    state = _read(home / FILE)
    if state is None:
        return False
    for pid in state.worker_pids:
        process.end(pid, WORKER)
    process.end(state.emulator_pid, emulator.PROGRAM)
    shutil.rmtree(state.folder, ignore_errors=True)
    (home / FILE).unlink(missing_ok=True)
    return True


def status(*, home: Path = STATE) -> State | None:
    """The deployment that runs, or None; one that died is cleaned away."""
    state = _read(home / FILE)
    if state is not None and not state.alive:
        down(home=home)
        return None
    return state


def start_worker(state: State) -> int:
    """One more worker; return its process."""
    return _worker(state.endpoint, state.outputs, Path(state.folder))


def _worker(endpoint: str, outputs: dict[str, str], folder: Path) -> int:
    env = {
        "PATH": os.environ.get("PATH", ""), "HOME": str(folder), "STAGE": "local",
        "TMPDIR": str(folder / "tmpdir"), "PYTHONPATH": str(ROOT),
        "ARTIFACT_BUCKET": outputs["ArtifactBucket"], "TABLE_NAME": outputs["TableName"],
        "DEVICE_QUEUE_URL": outputs["DeviceQueueUrl"], **emulator.client_environment(endpoint),
    }  # fmt: skip
    command = [sys.executable, "-m", WORKER]
    return process.start(command, cwd=ROOT, env=env, log=folder / "worker.log")


def _write(file: Path, state: State) -> None:
    file.touch(mode=0o600)
    file.write_text(state.model_dump_json(indent=1))


def _read(file: Path) -> State | None:
    with suppress(FileNotFoundError, ValidationError):
        return State.model_validate_json(file.read_text())
    return None
