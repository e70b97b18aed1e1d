"""Writes Python lines: indentation, and long lines broken as the formatter breaks them."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

WIDTH = 100
INDENT = "    "
OPEN, CLOSE = "([{", ")]}"


@dataclass
class Writer:
    """Collects the lines of a file."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def line(self, text: str = "") -> None:
        """One line at the present depth; on several if it is too long."""
        room = WIDTH - len(INDENT) * self.depth
        self.lines += [f"{INDENT * self.depth}{each}" if each else "" for each in fold(text, room)]

    def comment(self, text: str) -> None:
        """A comment, wrapped between words."""
        room = WIDTH - 4 * self.depth - 2
        words = " ".join(text.split()).split(" ")
        row = ""
        for word in words:
            if row and len(row) + 1 + len(word) > room:
                self.line(f"# {row}")
                row = word
            else:
                row = f"{row} {word}".strip()
        self.line(f"# {row}")

    def call(self, head: str, args: Sequence[str], tail: str = ")") -> None:
        """``head`` (which ends in a bracket), arguments, ``tail``."""
        self.line(f"{head}{', '.join(args)}{tail}")

    @contextmanager
    def block(self, head: str = "") -> Iterator[None]:
        """Indent what follows, under a head line if one is given."""
        if head:
            self.line(head)
        self.depth += 1
        yield
        self.depth -= 1

    def text(self) -> str:
        """The file."""
        return "\n".join(self.lines) + "\n"


def fold(text: str, room: int) -> list[str]:
    """The text in lines of at most ``room`` characters, broken inside its last bracket.

    >>> fold("f(aaaa, bbbb)", 10)
    ['f(', '    aaaa,', '    bbbb,', ')']
    >>> fold("m=(aaaa) & (bbbb)", 14)
    ['m=(', '    (aaaa)', '    & (bbbb)', ')']
    """
    if len(text) <= room:
        return [text]
    joined = split(text, " & ")
    if len(joined) > 1:
        return _conditions(joined)
    start, end = _bracket(text)
    if start < 0:
        return fold(f"return ({text[7:]})", room) if text.startswith("return ") else [text]
    inner = text[start + 1 : end]
    if start >= room:
        above = fold(text[: start + 1], room)
        return [*above[:-1], *fold(above[-1] + text[start + 1 :], room)] if above[1:] else [text]
    first, *more = fold(text[end + 1 :], room - 1)
    tail = [text[end] + first, *more]
    if len(INDENT) + len(inner) <= room:
        return [text[: start + 1], INDENT + inner, *tail]
    parts = [part for part in split(inner, ", ") if part]
    lines = [text[: start + 1]]
    for part in parts:
        folded = fold(part.removesuffix(","), room - len(INDENT) - 1)
        lines += [INDENT + each for each in (*folded[:-1], f"{folded[-1]},")]
    return [*lines, *tail]


def _conditions(joined: list[str]) -> list[str]:
    """One condition on each line, in brackets; the first may begin with a keyword."""
    name = re.match(r"\w+=", joined[0])
    head = name.group() if name else ""
    first, *rest = joined[0].removeprefix(head), *joined[1:]
    return [f"{head}(", INDENT + first, *(f"{INDENT}& {each}" for each in rest), ")"]


def split(text: str, at: str) -> list[str]:
    """The parts between separators that stand in no bracket."""
    parts, depth, last = [], 0, 0
    for place, sign in enumerate(text):
        depth += (sign in OPEN) - (sign in CLOSE)
        if not depth and text.startswith(at, place):
            parts.append(text[last:place])
            last = place + len(at)
    return [*parts, text[last:]]


def _bracket(text: str) -> tuple[int, int]:
    """Where the longest outermost pair of brackets opens and closes; -1 where there is none."""
    found, depth, opened = (-1, -1), 0, 0
    for place, sign in enumerate(text):
        if sign in OPEN:
            opened = place if depth == 0 else opened
            depth += 1
        elif sign in CLOSE:
            depth -= 1
            if depth == 0 and place - opened > found[1] - found[0]:
                found = (opened, place)
    return found
