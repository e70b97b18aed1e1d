"""A candidate keeps nothing between calls: what it returns depends on its inputs alone.

Otherwise it could be right once and then return what it kept, or behave well only while it is
judged. Nothing mutable may outlive a call, so there is no place to keep anything.
"""

import ast
from collections.abc import Iterator

from nkiport.contracts.judgement import Finding

PURE = frozenset({"int", "float", "bool", "str", "min", "max", "abs", "round"})
"""Calls whose results cannot change, allowed in the constants of a file beside those of math."""
DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef)


def stateful(tree: ast.Module) -> Iterator[Finding]:
    """Every place of a file that could keep something between two calls."""
    for statement in tree.body:
        if not isinstance(statement, DEFINES) and not _constant(statement):
            yield _finding(statement, "a statement outside of functions that is no constant")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each]
            for default in defaults:
                if not _immutable(default):
                    yield _finding(default, "a default that could change")
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield _finding(node, f"an assignment to '.{node.attr}'")


def _constant(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is None or _immutable(statement.value)
    return isinstance(statement, ast.Pass)


def _immutable(value: ast.expr) -> bool:
    """Whether an expression is made of numbers, texts, tuples and names of such only."""
    if isinstance(value, ast.Call):
        called = value.func
        pure = (isinstance(called, ast.Name) and called.id in PURE) or (
            isinstance(called, ast.Attribute) and ast.unparse(called.value) == "math"
        )
        return pure and all(_immutable(each) for each in value.args) and not value.keywords
    allowed = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.UnaryOp, ast.BinOp,
               ast.Compare, ast.IfExp, ast.BoolOp)  # fmt: skip
    parts = [each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)]
    return isinstance(value, allowed) and all(_immutable(each) for each in parts)


def _finding(node: ast.stmt | ast.expr, asked: str) -> Finding:
    return Finding(
        code="policy_state", line=node.lineno, asked=asked,
        allowed="imports, functions, and constants made of numbers, texts and tuples",
        fix="make it inside the function that uses it; nothing is kept between calls",
    )  # fmt: skip
