"""Where under its window a pooling found its largest value."""

import math
from itertools import product

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, cut, expand, unsqueeze
from nkiport.lowering.ir import Use, Window, dense_strides
from nkiport.lowering.rules.made import pad, span


def places_of_largest(b: Builder, node: Node, image: Use, window: Window) -> Use:
    """The place of the first largest value of each window, counted row by row through the image.

    The image is (1, C, D, H, W). Tap by tap the larger value wins; what is remembered is how far
    its tap lies from the first one.
    """
    padded = _padded(b, node, image, window)
    best: Use | None = None
    far: Use | float = 0.0
    for tap in product(*map(range, window.size)):
        ahead = [t * d for t, d in zip(tap, window.dilation, strict=True)]
        value = padded
        for axis, start in enumerate(ahead):
            value = cut(value, axis + 2, start, window.out[axis], window.stride[axis])
        if best is not None:
            larger = b.part("larger", "greater", value, best)
            far = b.part("far", "where", larger, _apart(window, ahead), far)
        best = value if best is None else b.part("best", "maximum", best, value)
    place = _first_tap(b, window)
    whole = b.elementwise("add", place, far, name=f"{b.node}_place")
    found = b.elementwise("cast", whole, dtype="int64", name=f"{node.name}_index")
    return b.view(expand(found, (*image.shape[:2], *window.out)), node.shape)


def _padded(b: Builder, node: Node, image: Use, window: Window) -> Use:
    """As far as windows reach, before and behind."""
    after = [
        max((out - 1) * stride + dilation * (size - 1) + 1 - low - have, 0)
        for out, stride, dilation, size, low, have in zip(
            window.out, window.stride, window.dilation, window.size, window.low, window.image,
            strict=True,
        )
    ]  # fmt: skip
    named = node.model_copy(update={"name": f"{node.name}_border"})
    return pad(b, named, image, (0, 0, *window.low), (0, 0, *after), -math.inf)


def _apart(window: Window, ahead: list[int]) -> float:
    steps = dense_strides(window.image)
    return float(sum(each * step for each, step in zip(ahead, steps, strict=True)))


def _first_tap(b: Builder, window: Window) -> Use:
    """Where each window begins, which may be before the image: the sum of a line for each axis."""
    steps = dense_strides(window.image)
    depth, rows, columns = (
        unsqueeze(span(b, window.out[axis], -window.low[axis] * step, window.stride[axis] * step),
                  range(1, len(steps) - axis))
        for axis, step in enumerate(steps)
    )  # fmt: skip
    return b.part("start", "add", b.part("start", "add", depth, rows), columns)
