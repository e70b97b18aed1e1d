"""How much arithmetic one call of a graph does."""

from math import prod

from nkiport.contracts.graph import Graph, Node, Ref

MATMULS = ("aten.mm.", "aten.bmm.", "aten.addmm.", "aten.linear.", "aten.baddbmm.")
MOVES = (
    "aten.view", "aten._unsafe_view", "aten.reshape", "aten.permute", "aten.transpose", "aten.t.",
    "aten.expand", "aten.clone", "aten.unsqueeze", "aten.squeeze", "aten.slice", "aten.select",
    "aten.cat", "aten.full", "aten.alias", "aten.detach", "aten.split", "aten.copy", "aten.flip",
    "aten.index", "aten.gather", "aten.embedding", "aten.constant_pad", "aten.repeat",
    "aten.scalar_tensor", "aten.empty", "aten._assert", "aten.stack", "aten.unbind",
    "nkiport.tensor",
)  # fmt: skip
"""Operators that move data and compute nothing."""


def flops_of(graph: Graph) -> float:
    """Multiply-adds count twice; every other operator counts once for each element it reads."""
    shapes = {each.name: each.shape for each in graph.inputs}
    shapes |= {each.name: each.shape for each in graph.nodes}
    return float(sum(_flops(node, shapes) for node in graph.nodes))


def _flops(node: Node, shapes: dict[str, tuple[int, ...]]) -> int:
    if node.op.startswith(MOVES):
        return 0
    read = [shapes.get(each.ref, ()) for each in node.args if isinstance(each, Ref)]
    if node.op.startswith(MATMULS):
        first = read[1] if node.op.startswith(("aten.addmm.", "aten.baddbmm.")) else read[0]
        return 2 * prod(node.shape) * first[-1]
    if node.op == "nkiport.recurrent.default":
        _, _, _, params, *_ = node.args
        given = params if isinstance(params, tuple) else ()
        weights = sum(prod(shapes.get(each.ref, ())) for each in given if isinstance(each, Ref))
        return 2 * weights * prod(read[0][:-1])
    if node.op.startswith("aten.convolution"):
        return 2 * prod(node.shape) * prod(read[1][1:])
    return max([prod(node.shape), *(prod(shape) for shape in read)])
