"""``python -m bench run --suite nkigen-150 --backend recipes --jobs 2 --out DIR``."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bench import shapes
from bench.compare import compared
from bench.harness import run, tasks_of
from bench.results import TaskResult
from bench.scoring import Rate, Summary, Typical
from bench.shapes import Shapes
from nkiport.contracts.errors import BadRequest

app = typer.Typer(help="Run a suite of tasks and report it.", no_args_is_help=True)


@app.callback()
def main() -> None:
    """Keep ``run`` a command of its own, so that others can join it."""


@app.command("run")
def run_suite(
    suite: Annotated[str, typer.Option(help="ten, nkigen-150, nkigen-250, or a folder")] = "ten",
    out: Annotated[Path, typer.Option(help="where results go; the same folder resumes")] = Path(
        "bench-out"
    ),
    backend: Annotated[str, typer.Option(help="recipes or claude")] = "recipes",
    jobs: Annotated[int, typer.Option(min=1, help="tasks at a time")] = 1,
    time_limit: Annotated[
        float | None, typer.Option(help="seconds for a task; 300, and 1800 with --full")
    ] = None,
    max_bytes: Annotated[int, typer.Option(help="largest task file")] = 256 * 1024,
    full: Annotated[bool, typer.Option("--full", help="full instead of reduced shapes")] = False,
    drawn: Annotated[
        int | None, typer.Option(help="draw the sizes of the tasks anew, from this number")
    ] = None,
) -> None:
    """Run every task that has no result yet, then print the rates and where the report lies."""
    console = Console()
    with Progress(console=console) as bar:
        shown = bar.add_task(suite, total=len(tasks_of(suite)))

        def progress(result: TaskResult, done: int, total: int) -> None:
            bar.update(shown, completed=done, total=total)
            console.print(f"{result.task}: {result.outcome} {result.reason}", highlight=False)

        report = run(
            suite,
            out,
            backend=backend,
            jobs=jobs,
            time_limit=time_limit or (1800 if full else 300),
            max_bytes=max_bytes,
            shapes=_shapes(full, drawn),
            progress=progress,
        )
    summary = Summary.model_validate(report["summary"])
    console.print(f"compiled: {_words(summary.compiled)}")
    console.print(f"correct: {_words(summary.correct)}")
    console.print(f"at {summary.fast_share:.0%} of the roofline or more: {_words(summary.fast)}")
    for what in ("compute_bound", "memory_bound"):
        console.print(f"{what.replace('_', ' ')}: {_typical(getattr(summary, what))}")
    console.print(f"report: {out / 'report.html'}")


@app.command("compare")
def compare(
    before: Annotated[Path, typer.Argument(help="a report.json")],
    after: Annotated[Path, typer.Argument(help="a later report.json of the same suite")],
) -> None:
    """Say what changed between two reports; exit code 1 if a task was lost."""
    found = compared(json.loads(before.read_text()), json.loads(after.read_text()))
    Console().print_json(data=found)
    raise typer.Exit(bool(found["lost"]))


def _shapes(full: bool, drawn: int | None) -> Shapes:
    if full and drawn is not None:
        raise BadRequest("--full and --drawn ask for different shapes; give one of them")
    if drawn is not None:
        return shapes.drawn(drawn)
    return shapes.AT_FULL if full else shapes.AS_WRITTEN


def _typical(found: Typical) -> str:
    if found.share is None:
        return f"{found.tasks} tasks"
    return f"{found.tasks} tasks, median {100 * found.share:.0f} % of the roofline"


def _words(rate: Rate) -> str:
    return f"{rate.passed} of {rate.total} (95 % interval {rate.low:.0%} to {rate.high:.0%})"


if __name__ == "__main__":
    app()
