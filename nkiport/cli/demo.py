"""``nkiport demo``: the whole way, on the local stacks, with nothing left behind."""

import shutil
import time
from pathlib import Path
from typing import Annotated

import typer

from nkiport.cli.output import console, job_page
from nkiport.cli.remote import ended, ended_or_waiting, fetched, follow
from nkiport.client import Bearer, Client
from nkiport.contracts.errors import BadRequest
from nkiport.contracts.jobs import JobRequest
from nkiport.contracts.surfaces import GateBody, JobView
from nkiport.local import stacks
from nkiport.local.paths import ROOT, STATE

GATES = ("scope", "requirements")


def demo(
    source: Annotated[Path, typer.Argument(help="What to migrate.")] = ROOT / "examples",
    out: Annotated[Path, typer.Option(help="Where patch and evidence go.")] = STATE / "demo",
) -> None:
    """Migrate the examples on the local stacks: submit, both gates, patch and evidence."""
    started = time.monotonic()
    home = STATE / "demo-stacks"
    say = console().print
    try:
        say("[bold]1[/] the local stacks")
        state = stacks.up(home=home)
        say(f"  up after {state.seconds:.1f} s, as synthesized for AWS")
        client = Client(state.url, Bearer(state.token))
        job = _migrated(client, source)
        shutil.rmtree(out, ignore_errors=True)
        written = fetched(client, job.job_id, out)
    finally:
        stacks.down(home=home)
        shutil.rmtree(home, ignore_errors=True)
    say("[bold]5[/] written")
    for path in written:
        say(f"  {_near(path)}", soft_wrap=True)
    say(f"\n{len(job.kernels)} kernels: {_counted(job)}, in {time.monotonic() - started:.0f} s.")
    say("Evidence level: functional (simulated, not run on a Trainium device).")
    if job.status != "delivered":
        raise BadRequest(f"the demo ended as '{job.status}': {job.reason}")


def _migrated(client: Client, source: Path) -> JobView:
    say = console().print
    say(f"[bold]2[/] submit {_near(source)}")
    request = JobRequest.model_validate({"source": client.source(source)})
    job = client.submit(request)
    for number, gate in enumerate(GATES, 3):
        job = follow(client, job.job_id, ended_or_waiting, show=False)
        if ended(job):
            return job
        say(f"[bold]{number}[/] the {gate} gate, answered over the API")
        say(job_page(job))
        client.answer(job.job_id, gate, GateBody(decision="approved"))
    return follow(client, job.job_id, ended)


def _counted(job: JobView) -> str:
    statuses = [kernel.status for kernel in job.kernels]
    return ", ".join(f"{statuses.count(s)} {s.replace('_', ' ')}" for s in sorted(set(statuses)))


def _near(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
