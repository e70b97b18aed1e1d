"""A schedule to look at: as a Chrome trace, and as a small picture."""

import json
from collections.abc import Iterable
from xml.sax.saxutils import escape

from nkiport.simulator.schedule import Booking

ENGINES = ("tensor", "vector", "scalar", "gpsimd", "dma")
COLOURS = {
    "tensor": "#7b5ea7", "vector": "#2a7f62", "scalar": "#c8553d", "gpsimd": "#a0792c",
    "dma": "#3b6ea5",
}  # fmt: skip
WIDTH, ROW, LEFT = 900, 26, 70


def chrome_trace(bookings: Iterable[Booking]) -> str:
    """JSON that chrome://tracing and Perfetto open: one row for each engine."""
    events = [
        {
            "name": each.instruction.op, "ph": "X", "pid": 0, "tid": ENGINES.index(each.engine),
            "ts": round(each.start, 4), "dur": round(each.end - each.start, 4),
            "args": {"line": each.instruction.line, "partitions": each.instruction.partitions},
        }
        for each in bookings
    ]  # fmt: skip
    names = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": row, "args": {"name": engine}}
        for row, engine in enumerate(ENGINES)
    ]
    return json.dumps({"traceEvents": [*names, *events], "displayTimeUnit": "ns"})


def svg(bookings: Iterable[Booking], title: str) -> str:
    """A picture of the engines' time; what lies within one pixel is drawn once."""
    every = list(bookings)
    end = max([each.end for each in every], default=1.0) or 1.0
    bars: dict[tuple[int, int, int], str] = {}
    for each in every:
        row = ENGINES.index(each.engine)
        left = round(each.start / end * WIDTH)
        wide = max(1, round(each.end / end * WIDTH) - left)
        bars[row, left, wide] = each.engine
    height = ROW * len(ENGINES) + 50
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" '
            'font-family="system-ui, sans-serif" font-size="12">'
        ),
        f'<text x="{LEFT}" y="16" font-size="13">{escape(title)}</text>',
        *(_label(row, engine) for row, engine in enumerate(ENGINES)),
        *(_bar(*place, engine) for place, engine in sorted(bars.items())),
        f'<text x="{LEFT}" y="{height - 8}">0</text>',
        f'<text x="{LEFT + WIDTH}" y="{height - 8}" text-anchor="end">{end:.1f} us</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _label(row: int, engine: str) -> str:
    y = 26 + row * ROW
    return (
        f'<text x="{LEFT - 8}" y="{y + 16}" text-anchor="end">{engine}</text>'
        f'<rect x="{LEFT}" y="{y + 2}" width="{WIDTH}" height="{ROW - 6}" fill="#8882"/>'
    )


def _bar(row: int, left: int, wide: int, engine: str) -> str:
    y = 28 + row * ROW
    colour = COLOURS[engine]
    return f'<rect x="{LEFT + left}" y="{y}" width="{wide}" height="{ROW - 6}" fill="{colour}"/>'
