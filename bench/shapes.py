"""Which shapes a run gives its tasks: their own, the full ones, or some that nobody saw before."""

import ast
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REDUCED, FULL = 'SIZE = SIZES["reduced"]', 'SIZE = SIZES["full"]'
"""The line of a task that says which of its shapes it has."""
UNITS: Final = ("experts", "groups", "heads", "kv_heads", "patch", "window")
"""Sizes that stay: what they divide, they go on dividing."""
EDGES: Final = (127, 128, 129)
"""The border of the 128 partitions."""
NEAR_EDGE: Final = 0.25
"""How often a size that comes near an edge is one."""


@dataclass(frozen=True)
class Shapes:
    """How the text of a task becomes that of the same task at other shapes."""

    name: str
    rewrite: Callable[[str, str], str] | None = None
    """Name and text of a task to the text that runs; None leaves its file where it is."""


AS_WRITTEN: Final = Shapes("reduced")
AT_FULL: Final = Shapes("full", lambda _, text: text.replace(REDUCED, FULL))


def drawn(seed: int) -> Shapes:
    """Shapes that follow from the seed and the task's name alone.

    A kernel is made for the shapes it is called with, so that other shapes mean another kernel:
    they are drawn when the lowering is finished, and before it makes this kernel.
    """
    return Shapes(f"drawn ({seed})", lambda name, text: _redrawn(text, f"{seed} {name}"))


def rewritten(tasks: Mapping[str, Path], shapes: Shapes, into: Path) -> dict[str, Path]:
    """The tasks at those shapes, as copies; one that says no sizes is copied as it is."""
    if shapes.rewrite is None:
        return dict(tasks)
    copies = {name: into / f"{name}.py" for name in tasks}
    for name, copy in copies.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(shapes.rewrite(name, tasks[name].read_text()))
    return copies


def _redrawn(text: str, seed: str) -> str:
    draw = random.Random(seed)  # noqa: S311 - whoever knows the seed shall get the same shapes
    sizes = _sizes(text)
    units = [size for name, (size, *_) in sizes.items() if name in UNITS]
    same: dict[tuple[int, ...], int] = {}  # sizes alike at all shapes, as a residual needs them
    for name, alike in sizes.items():
        if name not in UNITS:
            same.setdefault(alike, _near(alike[0], units, draw))
    new = {name: same[alike] for name, alike in sizes.items() if alike in same}
    return text.replace(REDUCED, f"{REDUCED} | {new}")


def _near(size: int, units: list[int], draw: random.Random) -> int:
    """From half to one and a half of a size, or an edge up to its double."""
    unit = math.lcm(*(unit for unit in units if size % unit == 0))
    edges = [edge for edge in EDGES if size // 2 <= edge <= size * 2 and edge % unit == 0]
    if edges and draw.random() < NEAR_EDGE:
        return draw.choice(edges)
    return unit * draw.randint(-(-size // (2 * unit)), 3 * size // (2 * unit))


def _sizes(text: str) -> dict[str, tuple[int, ...]]:
    """Each size that a task declares, reduced first; none where it declares none."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SIZES":
            declared: dict[str, dict[str, int]] = ast.literal_eval(node.value)
            return {name: tuple(s[name] for s in declared.values()) for name in declared["reduced"]}
    return {}
