"""Write the page of operations from the tables: ``python -m nkiport.nki.docs``."""

from collections.abc import Iterator
from pathlib import Path

from nkiport.nki import OPS, TARGETS, Op

FILE = Path(__file__).resolve().parents[2] / "docs" / "ops.md"


def page() -> str:
    """Markdown: the targets, then every operation with its engine, operands and kind."""
    parts = [
        "# Operations of the simulated NKI language",
        "Made from the tables in `nkiport/nki` by `make docs`; do not edit.",
        "## Targets",
        "\n".join(_targets()),
    ]
    for namespace, title in (("nl", "nki.language"), ("nisa", "nki.isa")):
        mine = [op for op in OPS.values() if op.namespace == namespace]
        parts += [f"## {title}", "\n".join(_rows(sorted(mine, key=lambda op: op.name)))]
    return "\n\n".join(parts) + "\n"


def _targets() -> Iterator[str]:
    yield "| target | dialect | partitions |"
    yield "| --- | --- | --- |"
    for name, chip in TARGETS.items():
        yield f"| `{name}` | `{chip.dialect}` | {chip.partitions} |"


def _rows(ops: list[Op]) -> Iterator[str]:
    yield "| operation | engine | kind | parameters | what it does |"
    yield "| --- | --- | --- | --- | --- |"
    for op in ops:
        engine = op.engine if isinstance(op.engine, str) else "by its operands"
        parameters = ", ".join(op.parameters)
        yield f"| `{op.key}` | {engine} | {op.kind} | `{parameters}` | {op.summary} |"


if __name__ == "__main__":
    FILE.write_text(page())
