"""The report as one HTML page that needs nothing else."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bench.results import TaskResult
from bench.scoring import why_slow

WIDTH, HEIGHT, EDGE = 860, 300, 46
SHOWN = 10
"""How many of the slowest kernels are listed."""


def page(report: Mapping[str, Any], title: str) -> str:
    """The page of a report as ``harness.run`` writes it."""
    loader = PackageLoader("bench", ".")
    environment = Environment(loader=loader, undefined=StrictUndefined, autoescape=True)
    timed = [t for t in report["tasks"] if t["correct"] and t["roofline_share"] is not None]
    return environment.get_template("page.html.j2").render(
        title=title, report=report, summary=report["summary"], percent=percent,
        rates=_rates(report["summary"]), plot=Markup(plot(timed)),  # noqa: S704 - numbers and names we escape
        slowest=_slowest(timed),
    )  # fmt: skip


def _slowest(timed: Sequence[Mapping[str, Any]]) -> list[tuple[TaskResult, str]]:
    """The tasks farthest from the roofline, and why."""
    ordered = sorted((TaskResult.model_validate(t) for t in timed), key=_share)
    return [(result, why_slow(result)) for result in ordered[:SHOWN]]


def _share(result: TaskResult) -> float:
    return result.roofline_share or 0.0


def _rates(summary: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    named = [
        ("compiled, and no placeholder", summary["compiled"]),
        ("correct on hidden seeds", summary["correct"]),
        (f"at {percent(summary['fast_share'])} of the roofline or more", summary["fast"]),
    ]
    if summary["weight_free"]["total"]:
        named.append(("correct, of the tasks without weights", summary["weight_free"]))
    return named


def percent(share: float | None) -> str:
    """A share for people.

    >>> percent(0.123), percent(None)
    ('12 %', '')
    """
    return "" if share is None else f"{100 * share:.0f} %"


def plot(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Dots on logarithmic axes: the roofline to the right, the estimate upwards."""
    points = [
        (t["roofline_us"], t["p50_us"], t["task"])
        for t in tasks
        if t.get("roofline_us") and t.get("p50_us")
    ]
    if not points:
        return "<p>No kernel was timed.</p>"
    low = math.floor(math.log10(min(min(x, y) for x, y, _ in points)))
    high = math.ceil(math.log10(max(max(x, y) for x, y, _ in points)) + 1e-9)
    high = max(high, low + 1)

    def at(x: float, y: float) -> tuple[float, float]:
        across = EDGE + (math.log10(x) - low) / (high - low) * (WIDTH - 2 * EDGE)
        up = HEIGHT - EDGE - (math.log10(y) - low) / (high - low) * (HEIGHT - 2 * EDGE)
        return round(across, 1), round(up, 1)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="latency and roofline">']
    for power in range(low, high + 1):
        parts += _grid(at(10.0**power, 10.0**power), f"{10.0**power:g} us")
    (x1, y1), (x2, y2) = at(10.0**low, 10.0**low), at(10.0**high, 10.0**high)
    parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="var(--good)"/>')
    for x, y, name in points:
        across, up = at(x, y)
        said = Markup.escape(f"{name}: {y:.1f} us, roofline {x:.2f} us")
        parts.append(
            f'<circle cx="{across}" cy="{up}" r="3.5" fill="var(--bad)" fill-opacity=".6">'
            f"<title>{said}</title></circle>"
        )
    return "\n".join([*parts, "</svg>"])


def _grid(place: tuple[float, float], label: str) -> list[str]:
    across, up = place
    return [
        (
            f'<line x1="{across}" y1="{EDGE}" x2="{across}" y2="{HEIGHT - EDGE}" '
            'stroke="var(--line)"/>'
        ),
        f'<line x1="{EDGE}" y1="{up}" x2="{WIDTH - EDGE}" y2="{up}" stroke="var(--line)"/>',
        f'<text x="{across}" y="{HEIGHT - EDGE + 16}" text-anchor="middle">{label}</text>',
        f'<text x="{EDGE - 6}" y="{up + 4}" text-anchor="end">{label}</text>',
    ]
