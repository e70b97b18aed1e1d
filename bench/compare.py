"""What changed between two reports of the same suite."""

from collections.abc import Mapping
from typing import Any

SLOWER = 1.1
"""A kernel whose estimate grew by more than this has become slower."""


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Tasks that were won and lost, and kernels that became slower or faster, by name.

    Raises ``ValueError`` where the two are of other backends, shapes or evidence levels: such
    reports say nothing about each other.
    """
    for field in ("backend", "shapes", "levels", "engines"):
        if before[field] != after[field]:
            raise ValueError(
                f"the reports differ in {field}: {before[field]} and {after[field]}; compare runs "
                "of the same backend, shapes and level"
            )
    old = {task["task"]: task for task in before["tasks"]}
    new = {task["task"]: task for task in after["tasks"]}
    both = sorted(old.keys() & new.keys())
    ratios = {name: _ratio(old[name], new[name]) for name in both}
    return {
        "since": before.get("commit", ""),
        "until": after.get("commit", ""),
        "won": [n for n in both if new[n]["correct"] and not old[n]["correct"]],
        "lost": [n for n in both if old[n]["correct"] and not new[n]["correct"]],
        "slower": {n: r for n, r in ratios.items() if r and r > SLOWER},
        "faster": {n: r for n, r in ratios.items() if r and r < 1 / SLOWER},
        "added": sorted(new.keys() - old.keys()),
        "removed": sorted(old.keys() - new.keys()),
    }


def _ratio(old: Mapping[str, Any], new: Mapping[str, Any]) -> float | None:
    first, second = old.get("p50_us"), new.get("p50_us")
    return round(second / first, 3) if first and second else None
