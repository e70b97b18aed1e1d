"""Write the page of what the tests cover: ``python -m tests.conformance.page``.

The names of the language are those of its last complete reference (SDK 2.26) and of our tables;
what no test covers is listed as missing, with the reason.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from nkiport.nki import target
from nkiport.nki.codes import CODES
from nkiport.simulator.language import isa, language
from nkiport.simulator.machine import Machine
from nkiport.simulator.newer import instructions
from nkiport.simulator.options import Options
from tests.conformance.constructs import CONSTRUCTS
from tests.conformance.corners import CORNERS
from tests.conformance.kernels import KERNELS, LATER
from tests.conformance.newer import NEWER
from tests.conformance.rules import FILES, RULES

FILE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
NOT_THERE = {
    "nl.all_reduce": "programs of a grid run one after the other here",
    "nisa.builtin_custom_op": "the meaning is in a library of the caller's",
}
"""What the reference has and the simulator does not."""
ABOUT = (
    "Made from the tables in `tests/conformance` by `make docs`; do not edit. Every kernel runs"
    " against a NumPy oracle; every rule is broken by one kernel and kept by its twin."
)
BODIES: Mapping[str, str] = {
    name: body
    for table in (KERNELS, LATER, CONSTRUCTS, CORNERS)
    for name, (body, _) in table.items()
}
NEWER_BODIES: Mapping[str, str] = {name: body for name, (body, _) in NEWER.items()}


def page() -> str:
    """Markdown: a table for each dialect's functions and instructions, and one for the rules."""
    machine = Machine(target("trn1"), Options())
    older = [f"nl.{n}" for n in _names(vars(language(machine)))]
    older += [f"nisa.{n}" for n in _names(vars(isa(machine)))]
    newer = [f"nisa.{n}" for n in _names(instructions(Machine(target("trn2"), Options())))]
    covered = {
        "neuronxcc.nki": _covered([*older, *NOT_THERE], BODIES),
        "nki (instructions)": _covered(newer, NEWER_BODIES),
        "rules": {code: _of_rule(code) for code in sorted(CODES)},
    }
    parts = [
        "# What the simulator's conformance tests cover",
        ABOUT,
        "\n".join(_summary(covered)),
    ]
    for title, rows in covered.items():
        parts += [f"## {title}", "\n".join(_rows(rows))]
    return "\n\n".join(parts) + "\n"


def missing(rows: Mapping[str, str]) -> list[str]:
    """What nothing covers."""
    return [name for name, by in rows.items() if not by]


def _names(space: Iterable[str]) -> list[str]:
    return sorted(name for name in space if not name.startswith("_"))


def _covered(names: Iterable[str], bodies: Mapping[str, str]) -> dict[str, str]:
    """The kernel of each name: its own, or the first that uses it."""
    return {name: _kernel(name, bodies) for name in sorted(set(names))}


def _kernel(name: str, bodies: Mapping[str, str]) -> str:
    own = (name, name.partition(".")[2])
    for each in own:
        if each in bodies:
            return each
    uses = re.compile(rf"\b{re.escape(name)}\b")
    return next((each for each, body in bodies.items() if uses.search(body)), "")


def _of_rule(code: str) -> str:
    twins = sum(1 for rule in (*RULES, *FILES) if rule.code == code)
    return f"{twins} pair{'s' if twins > 1 else ''} of kernels" if twins else ""


def _summary(covered: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    yield "| what | covered | of |"
    yield "| --- | --- | --- |"
    for title, rows in covered.items():
        yield f"| {title} | {len(rows) - len(missing(rows))} | {len(rows)} |"


def _rows(rows: Mapping[str, str]) -> Iterator[str]:
    yield "| name | covered by |"
    yield "| --- | --- |"
    for name, by in rows.items():
        reason = NOT_THERE.get(name, "no test")
        yield f"| `{name}` | {by or f'**missing**: {reason}'} |"


if __name__ == "__main__":
    FILE.write_text(page())
