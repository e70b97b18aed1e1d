"""What people see, and what programs read."""

import json
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from nkiport.contracts.judgement import Verdict
from nkiport.contracts.surfaces import JobView

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
COLOURS = {
    "accepted": "green", "accepted_slow": "yellow", "delivered": "green", "passed": "green",
    "approved": "green", "failed": "red", "abandoned": "red", "rejected": "red", "open": "cyan",
    "not_judged": "yellow", "not_measured": "yellow", "cancelled": "yellow", "bad_source": "red",
}  # fmt: skip


def console() -> Console:
    """The terminal. Progress goes to stderr where a program reads stdout."""
    return Console(soft_wrap=False, highlight=False)


def as_json(value: Any) -> None:
    """One JSON document on stdout."""
    if isinstance(value, BaseModel):
        sys.stdout.write(value.model_dump_json(indent=1) + "\n")
    else:
        sys.stdout.write(json.dumps(value, indent=1, default=str) + "\n")


def coloured(word: str) -> Text:
    """A status in its colour."""
    return Text(word.replace("_", " "), style=COLOURS.get(word, ""))


def table(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Table:
    """A plain table."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*[each if isinstance(each, Text) else str(each) for each in row])
    return made


def job_page(job: JobView) -> Group:
    """A job: its status, its gates, its kernels."""
    head = Text.assemble((job.job_id, "bold"), "  ", coloured(job.status), f"  {job.reason}")
    parts: list[Any] = [head]
    if job.gates:
        rows = [(g.gate, coloured(g.status), g.answered_by or "waits for an answer")
                for g in job.gates]  # fmt: skip
        parts.append(table(("gate", "status", "by"), rows))
    if job.kernels:
        kernels = [
            (k.kernel_id, k.kind, coloured(k.status), k.attempt or "", f"{k.file}:{k.line}",
             k.reason)
            for k in job.kernels
        ]  # fmt: skip
        columns = ("kernel", "kind", "status", "attempt", "where", "reason")
        parts.append(table(columns, kernels))
    return Group(*parts)


def verdict_page(verdict: Verdict) -> Group:
    """A verdict: every check with its result."""
    where = {
        "functional": "functional evidence, not hardware",
        "vendor_simulator": "vendor simulator evidence, not hardware",
        "silicon": "verified on hardware",
    }[verdict.level]
    head = Text.assemble(coloured(verdict.outcome), f": {where}")
    rows = [(c.stage, c.name, coloured(c.result), c.detail) for c in verdict.checks]
    return Group(head, table(("stage", "check", "result", "what was found"), rows))
