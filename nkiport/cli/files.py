"""Commands on files of this machine: nothing is sent anywhere."""

from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from nkiport.cli.output import AsJson, as_json, coloured, console, table, verdict_page
from nkiport.contracts.base import BackendName, TargetName
from nkiport.contracts.errors import BadRequest
from nkiport.contracts.judgement import Requirements, Tolerance, Verdict
from nkiport.discovery import discover as walk

Target = Annotated[str, typer.Option(help="trn1, trn2 or trn3.")]
Atol = Annotated[float, typer.Option(help="Absolute tolerance.")]
Rtol = Annotated[float, typer.Option(help="Relative tolerance.")]
Share = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Of the roofline, estimated; if given, tilings are searched (minutes)."
    ),
]
Seconds = Annotated[
    int, typer.Option(min=1, help="For all trials of the kernel, and for those of the reference.")
]
REJECTED = 1


def discover(
    path: Annotated[Path, typer.Argument(help="A source tree.")], json: AsJson = False
) -> None:
    """Find what could be migrated, without importing any of it."""
    if not path.is_dir():
        raise BadRequest(f"there is no folder '{path}'")
    found = walk(path)
    if json:
        as_json(found)
        return
    rows = [
        (k.name, k.kind, f"{k.file}:{k.line}", "; ".join(k.missing) or "nothing")
        for k in found.kernels
    ]
    console().print(table(("kernel", "kind", "where", "missing"), rows))
    skipped = [f"{each.file} ({each.reason})" for each in found.skipped]
    console().print(f"{len(found.kernels)} kernels in {found.files_read} files")
    if skipped:
        console().print(f"skipped: {', '.join(skipped)}")


def judge(
    reference: Annotated[Path, typer.Option(help="A file with class Model.")],
    candidate: Annotated[Path, typer.Option(help="A file with NKI kernels.")],
    target: Target = "trn1",
    atol: Atol = 1e-3,
    rtol: Rtol = 1e-3,
    seconds: Seconds = 120,
    json: AsJson = False,
) -> None:
    """Judge a candidate against a reference; exit code 0 only if it is accepted."""
    from nkiport.local.loop import judge_files

    verdict = judge_files(
        reference, candidate, target=target_named(target), requirements=_limits(atol, rtol),
        seconds=seconds, told=_told(quiet=json),
    )  # fmt: skip
    _end(verdict, json=json)


def migrate(
    reference: Annotated[Path, typer.Argument(help="A file with class Model.")],
    backend: Annotated[str, typer.Option(help="recipes, or auto.")] = "recipes",
    out: Annotated[Path | None, typer.Option(help="Where to write the kernel.")] = None,
    target: Target = "trn1",
    atol: Atol = 1e-3,
    rtol: Rtol = 1e-3,
    share: Share = None,
    seconds: Seconds = 120,
    json: AsJson = False,
) -> None:
    """Write a kernel for a reference and judge it, without any service."""
    from nkiport.generation import set_up
    from nkiport.local.loop import migrate as run

    done = run(
        reference, backends=set_up(), backend=_backend(backend), target=target_named(target),
        requirements=_limits(atol, rtol, share), seconds=seconds, told=_told(quiet=json),
    )  # fmt: skip
    accepted = done.verdict is not None and done.verdict.outcome != "rejected"
    if out and done.source and accepted:
        out.mkdir(parents=True, exist_ok=True)
        written = out / f"{reference.stem}_nki.py"
        written.write_text(done.source)
        _told(quiet=json)(f"written    {written}")
    if done.verdict is None:
        _abandoned(done.reason, json=json)
    else:
        _end(done.verdict, json=json)


def openapi() -> None:
    """Print the API's description."""
    from lambdas.api.openapi import document

    typer.echo(document(), nl=False)


def mcp() -> None:
    """Serve the tools to a coding agent over stdin and stdout."""
    from nkiport.mcp_server import serve

    serve()


def bench_application() -> typer.Typer:
    """``nkiport bench``: the benchmark's own commands."""
    from bench.__main__ import app

    return app


def _abandoned(reason: str, *, json: bool) -> None:
    """No candidate was written: an answer, not trouble."""
    if json:
        as_json({"verdict": None, "outcome": "abandoned", "reason": reason})
    else:
        console().print(coloured("abandoned"), reason)
    raise typer.Exit(REJECTED)


def _end(verdict: Verdict, *, json: bool) -> None:
    if json:
        as_json(verdict)
    else:
        console().print(verdict_page(verdict))
    raise typer.Exit(REJECTED if verdict.outcome == "rejected" else 0)


def _told(*, quiet: bool):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a callable of one line
    out = console()
    return (lambda _line: None) if quiet else (lambda line: out.print(line, style="dim"))


def _limits(atol: float, rtol: float, share: float | None = None) -> Requirements:
    return Requirements(tolerance=Tolerance(atol=atol, rtol=rtol), min_roofline_share=share)


def target_named(name: str) -> TargetName:
    """The target of that name. Raises ``BadRequest``."""
    if name not in get_args(TargetName):
        raise BadRequest(f"there is no target '{name}'; there are trn1, trn2 and trn3")
    return cast("TargetName", name)


def _backend(name: str) -> BackendName:
    if name not in ("auto", "recipes"):
        raise BadRequest(f"'{name}' runs in a service only; here there are recipes and auto")
    return cast("BackendName", name)
