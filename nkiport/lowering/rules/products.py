"""Products of matrices, and distances between rows."""

import math

from nkiport.contracts.base import DType
from nkiport.contracts.graph import Node
from nkiport.lowering.builder import Builder, Operand, permute, unsqueeze
from nkiport.lowering.ir import Op, Use
from nkiport.lowering.rules.rule import Result, Rule


def _matmul(b: Builder, node: Node, x: Use, y: Use) -> Result:
    return _product(b, x, y, name=node.name, dtype=node.dtype)


def _product(b: Builder, x: Use, y: Use, *, name: str, dtype: DType) -> Use:
    dims = (*x.dims[:-1], y.dims[-1])
    return b.add(Op(name, "matmul", (x, y), dims, dtype))


def _addmm(
    b: Builder, node: Node, bias: Use, x: Use, y: Use, *, beta: float = 1, alpha: float = 1
) -> Result:
    product: Operand = _product(b, x, y, name=f"{node.name}_product", dtype="float32")
    if alpha != 1:
        product = b.part("scaled", "mul", product, alpha)
    if beta == 0:
        return b.elementwise("cast", product, dtype=node.dtype)
    weighed = bias if beta == 1 else b.part("bias", "mul", bias, beta)
    return b.elementwise("add", product, weighed, dtype=node.dtype)


def _linear(b: Builder, node: Node, x: Use, weight: Use, bias: Use | None = None) -> Result:
    rows = b.view(x, (-1, x.shape[-1]))
    turned = permute(weight, (1, 0))
    if bias is None:
        product = _product(b, rows, turned, name=node.name, dtype=node.dtype)
    else:
        inner = _product(b, rows, turned, name=f"{node.name}_product", dtype="float32")
        product = b.elementwise("add", inner, bias, dtype=node.dtype)
    return b.view(product, node.shape)


def _dot(b: Builder, node: Node, x: Use, y: Use) -> Result:
    return b.reduce("sum", b.part("product", "mul", x, y), [-1], keepdim=False, dtype=node.dtype)


def _bilinear(b: Builder, node: Node, x: Use, weight: Use, y: Use, *how: object) -> Result:
    """All products of the elements of x (N, I) and y (N, J), times the weights (O, I, J).

    ``_trilinear`` can sum over other axes too; PyTorch's own functions ask for this sum alone.
    """
    if how[:4] != BILINEAR:
        raise NotImplementedError(f"{node.name}: a trilinear sum other than that of a bilinear")
    pairs = b.part("pairs", "mul", unsqueeze(x, [2]), unsqueeze(y, [1]))
    out, *inner = weight.shape
    rows = b.view(pairs, (-1, math.prod(inner)))
    turned = permute(b.view(weight, (out, -1)), (1, 0))
    return _product(b, rows, turned, name=node.name, dtype=node.dtype)


BILINEAR = ((1, 3), (0,), (1, 2), (2, 3))
"""The axes that x, the weights and y lack, and those that are summed."""


def _distances(
    b: Builder, node: Node, x: Use, y: Use, order: float = 2.0, _mode: int | None = None
) -> Result:
    """Of every row of x to every row of y: from differences, which lose nothing to rounding."""
    rank = len(x.dims)
    apart = b.part("apart", "sub", unsqueeze(x, [rank - 1]), unsqueeze(y, [rank - 2]))
    joins = {1.0: ("abs", "sum"), 2.0: ("square", "sum"), math.inf: ("abs", "max")}
    if order not in joins:
        raise NotImplementedError(f"{node.name}: distances of order {order}")
    each, join = joins[order]
    size = b.part("size", each, apart)
    total = b.reduce(join, size, [rank], keepdim=False, name=f"{b.node}_total")
    return b.elementwise("sqrt" if order == 2 else "copy", total, dtype=node.dtype)  # noqa: PLR2004


RULES: tuple[Rule, ...] = (
    Rule("aten.mm.default", _matmul),
    Rule("aten.bmm.default", _matmul),
    Rule("aten.addmm.default", _addmm),
    Rule("aten.baddbmm.default", _addmm),
    Rule("aten.mv.default", _dot),
    Rule("aten.dot.default", _dot),
    Rule("aten.linear.default", _linear),
    Rule("aten._trilinear.default", _bilinear),
    Rule("aten._cdist_forward.default", _distances),
)
