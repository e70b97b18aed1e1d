"""How each ATen overload becomes the few kinds of ``KINDS``: one rule for each."""

from nkiport.lowering.rules import (
    elementwise,
    functions,
    indexing,
    made,
    norms,
    products,
    recurrent,
    reductions,
    resizing,
    scattering,
    sorting,
    views,
    windows,
)
from nkiport.lowering.rules.rule import (
    ANCHORS,
    ELEMENTWISE,
    KINDS,
    REDUCTIONS,
    SOLO,
    Result,
    Rewrite,
    Rule,
)

__all__ = ["ANCHORS", "ELEMENTWISE", "KINDS", "REDUCTIONS", "RULES", "SOLO", "Result", "rule_table"]

RULES: tuple[Rule, ...] = (
    *elementwise.RULES,
    *functions.RULES,
    *views.RULES,
    *made.RULES,
    *reductions.RULES,
    *sorting.RULES,
    *norms.RULES,
    *products.RULES,
    *recurrent.RULES,
    *windows.RULES,
    *resizing.RULES,
    *indexing.RULES,
    *scattering.RULES,
)
"""In the order a reader looks for them; no overload has two."""


def rule_table() -> dict[str, Rewrite]:
    """Overload to rewrite."""
    return {rule.op: rule.rewrite for rule in RULES}
