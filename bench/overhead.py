"""What orchestration costs: a job's time, minus its worker's, its model's and its people's.

``python -m bench.overhead --url URL --token TOKEN``, against stacks that are up. It submits one
task, answers both gates at once, and prints seconds. A benchmark, not a test: its numbers are of
the machine it runs on.
"""

import base64
import io
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from pydantic import BaseModel, ConfigDict
from rich.console import Console

from bench.harness import tasks_of
from nkiport.contracts.jobs import ENDED

GATES = ("scope", "requirements")


class Overhead(BaseModel):
    """Seconds of one job, and where they went."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    job_id: str
    status: str
    total: float
    worker: float
    model: float
    waiting: float
    """Between a gate's opening and its answer."""

    @property
    def orchestration(self) -> float:
        """What is left: queues, states, Lambdas."""
        return self.total - self.worker - self.model - self.waiting

    @property
    def share(self) -> float:
        """Orchestration's share of the time that nobody waited for a person."""
        return self.orchestration / max(self.total - self.waiting, 1e-9)


def overhead_of(job: Mapping[str, Any], gates: Iterable[Mapping[str, Any]]) -> Overhead:
    """Add up an ended job's records, as the API returns them."""
    return Overhead(
        job_id=job["job_id"],
        status=job["status"],
        total=_between(job["created"], job["updated"]),
        worker=job["worker_seconds"],
        model=job["model_seconds"],
        waiting=sum(_between(g["opened"], g["answered"]) for g in gates if g.get("answered")),
    )


def measure(
    client: httpx.Client,
    task: Path,
    *,
    limit: float = 300.0,
    poll: float = 0.1,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Overhead:
    """Submit one task, approve its gates as they open, and wait for its end.

    Raises ``TimeoutError`` after ``limit`` seconds, ``httpx.HTTPStatusError`` for a refusal.
    """
    source = {"kind": "upload", "zip_base64": _zipped(task)}
    body = {"source": source, "backend": "recipes"}
    job_id = client.post("jobs", json=body).raise_for_status().json()["job_id"]
    until = clock() + limit
    while clock() < until:
        shown = client.get(f"jobs/{job_id}").raise_for_status().json()
        job, gates = shown.get("job", shown), shown.get("gates", [])
        if job["status"] in ENDED:
            return overhead_of(job, gates)
        for gate in GATES:
            if job["status"] == f"waiting_{gate}":
                client.post(f"jobs/{job_id}/gates/{gate}", json={"decision": "approved"})
        sleep(poll)
    raise TimeoutError(f"job '{job_id}' did not end within {limit:g} seconds")


def _between(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def _met(run: int) -> str:
    """The first job after a start also pays for the cold start of every function."""
    return "warm" if run else "first"


def _zipped(task: Path) -> str:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(task.name, task.read_text())
    return base64.b64encode(data.getvalue()).decode()


def main(
    url: Annotated[str, typer.Option(help="the API's address, as `nkiport local up` prints it")],
    token: Annotated[str, typer.Option(envvar="NKIPORT_TOKEN", help="the local API token")],
    task: Annotated[str, typer.Option(help="a task of the suite of ten")] = "softmax",
    runs: Annotated[int, typer.Option(min=1)] = 3,
) -> None:
    """Print the seconds of each run and the share that orchestration took."""
    console = Console()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{url.rstrip('/')}/", headers=headers, timeout=30) as client:
        for run in range(runs):
            found = measure(client, tasks_of("ten")[task])
            console.print(
                f"{found.job_id} ({_met(run)}) {found.status}: {found.total:.2f} s in all, "
                f"worker {found.worker:.2f}, model {found.model:.2f}, gates {found.waiting:.2f}, "
                f"orchestration {found.orchestration:.2f} s ({found.share:.0%})"
            )


if __name__ == "__main__":
    typer.run(main)
