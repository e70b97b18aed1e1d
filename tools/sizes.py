"""Refuse files over 400 lines and functions over 60, and print the lines of each package.

Tables may reach the limit; logic should not come near it.
"""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 400
FUNCTION_LINES = 60
PACKAGES = ("nkiport", "lambdas", "trn_worker", "statemachine", "stacks", "bench", "tools")


def tracked_sources() -> Iterator[Path]:
    """Python files of the packages that git tracks."""
    command = ["git", "ls-files", *(f"{package}/**.py" for package in PACKAGES), "app.py"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    yield from (Path(line) for line in listed.splitlines() if Path(line).is_file())


def findings(path: Path, text: str) -> Iterator[str]:
    """What is too large in one file."""
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield f"{path}: {lines} lines, at most {FILE_LINES}: split it by concern"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, at most 60: split it"


def main() -> int:
    """Print the sizes; return 1 if anything is too large."""
    totals: Counter[str] = Counter()
    complaints: list[str] = []
    for path in tracked_sources():
        text = path.read_text()
        totals["/".join(path.parts[:-1][:2]) or path.name] += text.count("\n")
        complaints += findings(path, text)
    for package, lines in sorted(totals.items()):
        sys.stdout.write(f"{lines:7d}  {package}\n")
    sys.stderr.writelines(f"{complaint}\n" for complaint in complaints)
    return bool(complaints)


if __name__ == "__main__":
    raise SystemExit(main())
