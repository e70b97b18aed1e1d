"""A chain of groups that hand each other whole rows, and the tiles it is cut into."""

import math
from dataclasses import dataclass, replace

from nkiport.lowering.fusion import Group
from nkiport.lowering.ir import Op
from nkiport.lowering.tiling import even
from nkiport.nki import Target

BANKED = 4
"""Tiles of scores in a PSUM bank, where the keys lie on the partitions."""
TOGETHER = 4
"""Heads that are worked on together at most: more only wait for each other."""


@dataclass(frozen=True)
class Chain:
    """Three groups over the same batch and rows.

    ``scores`` (..., rows, keys) is built on a product, ``weights`` (..., rows, keys) has row
    operations, ``values`` (..., rows, width) is built on a product of the weights. What one hands
    to the next is among the results of both, and never stored.
    """

    scores: Group
    weights: Group
    values: Group
    hidden: float | None = None
    """What the scores of keys after a row's own become; None if every row sees every key."""

    @property
    def ops(self) -> tuple[Op, ...]:
        """All operations, in an order that can be run."""
        return (*self.scores.ops, *self.weights.ops, *self.values.ops)

    @property
    def stored(self) -> tuple[str, ...]:
        """What the kernel writes."""
        return self.values.stored

    @property
    def name(self) -> str:
        """What the chain is called: what it stores."""
        return self.values.name


@dataclass(frozen=True)
class ChainPlan:
    """Tiles of a chain: so many rows, keys, columns of scores and parts of the depth at a time."""

    chain: Chain
    rows: int
    keys: int
    columns: int
    depth: int
    stack: int = 1
    """How many elements of the last batch dimension lie beside each other on the partitions."""
    heads: int = 1
    """How many of them are worked on together, step by step, so that all engines have work."""
    upright: bool = False
    """Whether scores have their keys on the partitions."""


def plan_chain(chain: Chain, target: Target) -> ChainPlan:
    """Equal tiles where the sizes allow it: none is masked then, and nothing filled first."""
    *_, rows, keys = chain.scores.sizes
    base = chain.scores.base
    depth = base.uses[0].shape[-1] if base else 1
    stack, heads = together(chain, target)
    plan = ChainPlan(
        chain,
        even(rows, target.stationary_fmax),
        even(keys, target.partitions),
        even(keys, target.moving_fmax),
        even(depth, target.partitions),
        stack,
        heads,
    )
    return replace(plan, upright=_upright(plan, target))


def _upright(plan: ChainPlan, target: Target) -> bool:
    """Whether it is a plain softmax, of so many keys that turning the weights costs more.

    The scores of a tile of rows take at most two banks of PSUM.
    """
    chain = plan.chain
    *_, rows, keys = chain.scores.sizes
    tiles = keys // target.partitions
    even_tiles = not (keys % (BANKED * target.partitions) or rows % plan.rows)
    if not even_tiles or tiles > 2 * BANKED or not target.partitions // 2 <= plan.rows:
        return False
    base = chain.scores.base
    if base is None or base.uses[0].shape[-1] > plan.depth or chain.hidden is not None:
        return False
    wide = chain.values.sizes[-1] < target.moving_fmax
    return wide and _plain_softmax(chain)


def _plain_softmax(chain: Chain) -> bool:
    """Whether the weights are the exponentials of scores less their maximum, and their sum."""
    ops = chain.weights.ops
    if tuple(op.kind for op in ops) != ("max", "sub", "exp", "sum"):
        return False
    most, less, power, total = ops
    scores = most.uses[0].value
    read = [[use.value for use in op.uses] for op in (less, power, total)]
    floats = all(op.dtype == "float32" for op in (*chain.scores.ops, *ops))
    chained = read == [[scores, most.name], [less.name], [power.name]]
    return floats and chained and set(chain.weights.stored) == {power.name, total.name}


def together(chain: Chain, target: Target) -> tuple[int, int]:
    """How many heads lie beside each other on the partitions, and are worked on together.

    Tiles begin at each 32 or 64 partitions. Long rows of scores are work enough by themselves.
    """
    base = chain.scores.base
    if base is None or len(base.shape) < 3:  # noqa: PLR2004 - there is no batch
        return 1, 1
    (q, k), near = base.uses, [base.uses[0].strides[-1], base.uses[1].strides[-2]]
    (*_, heads, _, keys), depth = base.shape, q.shape[-1]
    if depth > target.partitions or not q.strides[-3]:
        return 1, 1
    shallow = depth in {32, 64} and near == [1, 1] and keys > 1 and k.strides[-3]
    stack = math.gcd(heads, target.partitions // depth) if shallow else 1
    most = max(1, min(TOGETHER, 2 * target.moving_fmax // keys) // stack)
    return stack, stack * next(n for n in range(most, 0, -1) if heads // stack % n == 0)
