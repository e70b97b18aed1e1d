"""Images made larger or smaller."""

from collections.abc import Callable, Sequence
from typing import Any

from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, expand, unsqueeze
from nkiport.lowering.ir import Use
from nkiport.lowering.rules.indexing import taken
from nkiport.lowering.rules.made import span
from nkiport.lowering.rules.rule import Result, Rewrite, Rule


def _nearest(b: Builder, node: Node, x: Use, size: Any, *rest: Any) -> Result:
    """By whole factors each value is repeated; by others the value before is read at each place.

    A place is floor(i * step), with the step in float32 as PyTorch takes it: from the factor if
    one was given, else from the sizes.
    """
    rank = len(x.dims) - 2
    have, wanted = x.shape[2:], node.shape[2:]
    if any(w % h for w, h in zip(wanted, have, strict=True)):
        given = rest[0] if rest and isinstance(rest[0], tuple) else rest
        factors = (None,) * rank if size and not any(given) else given
        for axis, factor in enumerate(factors, 2):
            x = _before(b, node, x, axis, node.shape[axis], factor)
        return b.elementwise("copy", x, dtype=node.dtype)
    spaced = unsqueeze(x, [3 + 2 * axis for axis in range(rank)])
    pairs = [n for h, w in zip(have, wanted, strict=True) for n in (h, w // h)]
    return b.view(expand(spaced, (*x.shape[:2], *pairs)), node.shape)


def _before(b: Builder, node: Node, x: Use, axis: int, size: int, factor: float | None) -> Use:
    have = x.shape[axis]
    if have == size and not factor:
        return x
    step = 1 / factor if factor else have / size
    floor = b.part("floor", "floor", span(b, size, 0, step))
    return _at(b, node, x, axis, b.part("low", "minimum", floor, float(have - 1)), size)


def _linear(corners: Callable[[tuple[Any, ...]], bool]) -> Rewrite:
    """Along each axis between the two nearest values, by how near they are."""

    def rewrite(b: Builder, node: Node, x: Use, _size: Any, *rest: Any) -> Result:
        for axis in range(2, len(x.dims)):
            if x.shape[axis] != node.shape[axis]:
                x = _along(b, node, x, axis, node.shape[axis], corners=corners(rest))
        return b.elementwise("copy", x, dtype=node.dtype)

    return rewrite


def _along(b: Builder, node: Node, x: Use, axis: int, size: int, *, corners: bool) -> Use:
    have = x.shape[axis]
    step = ((have - 1) / max(size - 1, 1)) if corners else have / size
    start = 0.0 if corners else step / 2 - 0.5
    place = b.part("place", "maximum", span(b, size, start, step), 0.0)
    low = b.part("low", "minimum", b.part("floor", "floor", place), float(have - 1))
    high = b.part("high", "minimum", b.part("next", "add", low, 1.0), float(have - 1))
    share = b.part("share", "sub", place, low)
    near, far = (_at(b, node, x, axis, line, size) for line in (low, high))
    share = unsqueeze(share, range(1, len(x.dims) - axis))
    way = b.part("way", "mul", b.part("difference", "sub", far, near), share)
    return b.part("between", "add", near, way)


def _at(b: Builder, node: Node, x: Use, axis: int, line: Use, size: int) -> Use:
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    inner = node.model_copy(update={"name": f"{node.name}_axis{axis}", "shape": shape})
    places = b.elementwise("cast", line, dtype="int32", name=f"{b.node}_places")
    return taken(b, inner, x, axis, places)


def _flag(rest: Sequence[Any]) -> bool:
    return bool(rest[0])


RULES: tuple[Rule, ...] = (
    *(
        Rule(f"aten.upsample_nearest{n}d.{overload}", _nearest)
        for n in (1, 2, 3)
        for overload in ("vec", "default")
    ),
    *(
        Rule(f"aten.upsample_{name}.{overload}", _linear(_flag))
        for name in ("linear1d", "bilinear2d", "trilinear3d")
        for overload in ("vec", "default")
    ),
)
