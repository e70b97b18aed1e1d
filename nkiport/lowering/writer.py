"""Writes Python lines: indentation, and calls that break as the formatter breaks them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

WIDTH = 100


@dataclass
class Writer:
    """Collects the lines of a file."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def line(self, text: str = "") -> None:
        """One line at the present depth."""
        self.lines.append(f"{'    ' * self.depth}{text}" if text else "")

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
        """``head`` (which ends in a bracket), arguments, ``tail``; on several lines if too long."""
        flat = f"{head}{', '.join(args)}{tail}"
        inner = ", ".join(args)
        if 4 * self.depth + len(flat) <= WIDTH:
            self.line(flat)
            return
        self.line(head)
        with self.block():
            if 4 * self.depth + len(inner) <= WIDTH:
                self.line(inner)
            else:
                for arg in args:
                    self.line(f"{arg},")
        self.line(tail)

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
