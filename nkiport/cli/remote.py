"""Commands that talk to the API."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.live import Live

from nkiport.cli.branch import deliver_branch
from nkiport.cli.output import AsJson, as_json, coloured, console, job_page, table
from nkiport.client import Client
from nkiport.contracts.errors import BadRequest
from nkiport.contracts.jobs import ENDED, JobRequest
from nkiport.contracts.surfaces import GateBody, JobView

POLL_SECONDS = 0.5
JobArgument = Annotated[str, typer.Argument(help="The job's id.")]
KERNEL_FILES = ("evidence.md", "evidence.json", "handoff.md")


def submit(
    source: Annotated[str, typer.Argument(help="A folder, file, zip, or URL@COMMIT.")],
    backend: Annotated[str, typer.Option(help="auto, recipes or claude.")] = "auto",
    target: Annotated[str, typer.Option(help="trn1, trn2 or trn3.")] = "trn1",
    notify: Annotated[str | None, typer.Option(help="Where gate mails go.")] = None,
    pull_request: Annotated[str | None, typer.Option(help="OWNER/REPOSITORY on GitHub.")] = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key.")] = None,
    json: AsJson = False,
) -> None:
    """Start a job on a source tree."""
    client = Client.connected()
    request = JobRequest.model_validate(
        {
            "source": source_of(source, client), "backend": backend, "target": target,
            "notify": notify, "idempotency_key": key,
            "delivery": {"github_repository": pull_request},
        }
    )  # fmt: skip
    job = client.submit(request)
    if json:
        as_json(job)
    else:
        console().print(f"{job.job_id} was submitted; 'nkiport watch {job.job_id}' follows it")


def watch(
    job_id: JobArgument,
    until: Annotated[str, typer.Option(help="'end', or 'gate' to stop where one waits.")] = "end",
    json: AsJson = False,
) -> None:
    """Follow a job live until it ends; exit code 0 if it delivered or a gate waits."""
    client = Client.connected()
    done = ended_or_waiting if until == "gate" else ended
    job = follow(client, job_id, done, show=not json)
    if json:
        as_json(job)
    raise typer.Exit(0 if job.status == "delivered" or job.status not in ENDED else 1)


def gate(
    job_id: JobArgument,
    name: Annotated[str, typer.Argument(metavar="GATE", help="scope or requirements.")],
    approve: Annotated[bool, typer.Option("--approve/--reject", help="The answer.")],
    kernel: Annotated[list[str] | None, typer.Option(help="Only this kernel; repeat.")] = None,
    json: AsJson = False,
) -> None:
    """Answer a gate."""
    body = GateBody(
        decision="approved" if approve else "rejected", kernels=tuple(kernel) if kernel else None
    )
    decided = Client.connected().answer(job_id, name, body)
    if json:
        as_json(decided)
    else:
        console().print(f"the {name} gate is", coloured(decided.status))


def jobs(limit: Annotated[int, typer.Option(min=1, max=100)] = 20, json: AsJson = False) -> None:
    """List jobs, newest first."""
    listed = Client.connected().jobs(limit)
    if json:
        as_json(listed)
        return
    rows = [(j.job_id, coloured(j.status), f"{j.created:%Y-%m-%d %H:%M}", j.reason)
            for j in listed.jobs]  # fmt: skip
    console().print(table(("job", "status", "created", "reason"), rows))


def cancel(job_id: JobArgument, json: AsJson = False) -> None:
    """End a job where it is."""
    job = Client.connected().cancel(job_id)
    if json:
        as_json(job)
    else:
        console().print(job_page(job))


def fetch(
    job_id: JobArgument,
    into: Annotated[Path, typer.Argument(help="A folder.")],
    branch_in: Annotated[
        Path | None, typer.Option(help="Also commit the patch on a branch of this repository.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Write a job's patch, report and evidence to a folder, and to a branch if asked."""
    written = fetched(Client.connected(), job_id, into)
    if branch_in:
        patch, title = (into / "migration.patch"), f"NKI kernels of {job_id}, with evidence"
        if not patch.is_file():
            raise BadRequest(f"job '{job_id}' delivered no patch")
        deliver_branch(branch_in, job_id, patch.read_bytes(), title)
    if json:
        as_json([str(path) for path in written])
    for path in () if json else written:
        console().print(str(path), soft_wrap=True)


def evidence_application() -> typer.Typer:
    """``nkiport evidence``."""
    app = typer.Typer(no_args_is_help=True, help="Show, verify and repeat evidence.")
    for command in (show, verify, rerun):
        app.command()(command)
    return app


def show(
    job_id: JobArgument, kernel_id: Annotated[str, typer.Argument()], json: AsJson = False
) -> None:
    """Print a kernel's evidence."""
    name = f"kernels/{kernel_id}/evidence.{'json' if json else 'md'}"
    typer.echo(Client.connected().artifact(job_id, name).decode())


def verify(
    file: Annotated[Path, typer.Argument(help="evidence.json")],
    public_key: Annotated[Path, typer.Option(help="The signer's public key, PEM.")],
    json: AsJson = False,
) -> None:
    """Check evidence's signature, its subject, and the commitment to its seed."""
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    from securesystemslib.signer import SSlibKey

    from nkiport.judge.evidence import signed_by
    from nkiport.judge.evidence import verify as checked

    data, public = file.read_bytes(), load_pem_public_key(public_key.read_bytes())
    evidence = checked(data, SSlibKey.from_crypto(public, keyid=signed_by(data)))
    if json:
        as_json(evidence)
    else:
        console().print(f"the signature holds\n{evidence.headline}")


def rerun(
    file: Annotated[Path, typer.Argument(help="evidence.json")],
    candidate: Annotated[Path, typer.Option(help="The kernel's file.")],
    tree: Annotated[Path, typer.Option(help="The repository with the reference.")],
    json: AsJson = False,
) -> None:
    """Repeat the comparison on the evidence's own inputs; runs the reference's code here."""
    from nkiport.jobs.rerun import rerun_files

    problems = rerun_files(evidence=file, candidate=candidate, tree=tree)
    if json:
        as_json(list(problems))
    else:
        console().print("it agrees" if not problems else "\n".join(problems))
    raise typer.Exit(bool(problems))


def follow(
    client: Client, job_id: str, done: Callable[[JobView], bool], *, show: bool = True
) -> JobView:
    """Poll a job until ``done``; show it live."""
    job = client.job(job_id)
    with Live(job_page(job), console=console(), refresh_per_second=8, auto_refresh=show,
              transient=not show) as live:  # fmt: skip
        while not done(job):
            time.sleep(POLL_SECONDS)
            job = client.job(job_id)
            live.update(job_page(job))
    if show and not live.console.is_terminal:
        live.console.line()  # a page that is not redrawn does not end its last line itself
    return job


def ended(job: JobView) -> bool:
    """Whether nothing more will happen."""
    return job.status in ENDED


def ended_or_waiting(job: JobView) -> bool:
    """Whether it ended or a gate waits."""
    return ended(job) or any(each.status == "open" for each in job.gates)


def fetched(client: Client, job_id: str, into: Path) -> list[Path]:
    """Write everything a job delivers; what was not made is left out."""
    job = client.job(job_id)
    names = ["migration.patch", "report.md"]
    names += [f"kernels/{k.kernel_id}/{name}" for k in job.kernels for name in KERNEL_FILES]
    written = []
    for name in names:
        data = _there(client, job_id, name)
        if data is not None:
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            written.append(path)
    return written


def source_of(source: str, client: Client) -> dict[str, object]:
    """A local path, or ``URL@COMMIT``."""
    url, at, commit = source.rpartition("@")
    if at and "://" in url:
        return {"kind": "git", "url": url, "commit": commit}
    if "://" in source:
        raise BadRequest(f"'{source}' names no commit; write it as URL@COMMIT, with all 40 digits")
    return client.source(Path(source))


def _there(client: Client, job_id: str, name: str) -> bytes | None:
    from nkiport.contracts.errors import NotFound

    try:
        return client.artifact(job_id, name)
    except NotFound:
        return None
