"""The static check: every finding of a candidate's text at once, without running it."""

import ast
from collections.abc import Iterator

from nkiport.contracts.base import TargetName
from nkiport.contracts.judgement import Finding
from nkiport.nki import target
from nkiport.nki.targets import Target
from nkiport.simulator.subset import entry, functions, imports, is_kernel

ALLOWED = ("neuronxcc", "math", "numpy", "__future__")
REFUSED: tuple[tuple[type[ast.AST], str], ...] = (
    (ast.Try, "try"),
    (ast.ClassDef, "class"),
    (ast.AsyncFunctionDef, "async def"),
    (ast.Await, "await"),
    (ast.Yield, "yield"),
    (ast.YieldFrom, "yield from"),
    (ast.Global, "global"),
    (ast.Nonlocal, "nonlocal"),
    (ast.With, "with"),
)
"""What the tracer does not take, or what would hide a broken rule."""


def check(source: str, *, target: TargetName = "trn1", own: bool = False) -> tuple[Finding, ...]:
    """Return what is wrong with the text of a candidate, in line order.

    The syntax, the imports and the dialect, the Python subset, the kernels and the entry, and
    names that ``nl`` and ``nisa`` do not have. In a file of the caller's ``own`` the Python around
    the kernels is free.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return (Finding(code="err_syntax", line=line, asked=str(error), fix="correct the syntax"),)
    except (RecursionError, MemoryError):
        return (Finding(code="err_syntax", asked="the file is nested too deeply"),)
    found = [
        *_imports(tree, _target(target), own=own),
        *([] if own else [*_subset(tree), *_entry(tree)]),
        *_names(tree),
        *_masks(tree),
    ]
    return tuple(sorted(found, key=lambda each: each.line or 0))


_target = target


def _imports(tree: ast.Module, chip: Target, *, own: bool) -> Iterator[Finding]:
    dialects = set()
    for module, _local, line in imports(tree):
        root = module.split(".")[0]
        dialects |= {root} & {"neuronxcc", "nki"}
        if root == "nki" and chip.dialect == "beta1":
            yield Finding(
                code="err_wrong_dialect",
                line=line,
                asked=f"import of '{module}'",
                allowed=f"{chip.name} takes the dialect neuronxcc.nki",
                fix="import neuronxcc.nki",
            )
        elif root not in {*ALLOWED, "nki"} and not own:
            yield Finding(
                code="err_import",
                line=line,
                asked=f"import of '{module}'",
                allowed="neuronxcc.nki and its modules, and math",
                fix="remove the import; every value is computed inside kernels",
            )
    if len(dialects) > 1:
        yield Finding(
            code="err_mixed_dialects",
            asked="imports of both neuronxcc.nki and nki",
            allowed="one dialect in a file",
            fix="import neuronxcc.nki only",
        )


def _subset(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        for kind, word in REFUSED:
            if isinstance(node, kind):
                yield Finding(
                    code="err_unsupported_python",
                    line=getattr(node, "lineno", None),
                    asked=f"'{word}'",
                    allowed="functions, for, while, if, assignments and calls",
                    fix="write it without",
                )
        name = getattr(node, "attr", getattr(node, "id", ""))
        if isinstance(node, ast.Attribute | ast.Name) and name.startswith("__"):
            yield Finding(
                code="err_unsupported_python",
                line=node.lineno,
                asked=f"the name '{name}'",
                allowed="names without two leading underscores",
                fix="write it without",
            )


def _entry(tree: ast.Module) -> Iterator[Finding]:
    kernels = [each.name for each in functions(tree) if is_kernel(each)]
    if not kernels:
        yield Finding(
            code="err_no_kernel",
            asked="a file without a kernel",
            allowed="at least one function decorated with @nki.jit",
            fix="decorate the kernel with @nki.jit",
        )
    elif entry(tree) is None:
        yield Finding(
            code="err_no_entry",
            asked=f"{len(kernels)} kernels ({', '.join(kernels)}) and no forward",
            allowed="one kernel, or a host function forward(...)",
            fix="add forward(...), taking the inputs in order and returning the outputs",
        )


def _names(tree: ast.Module) -> Iterator[Finding]:
    from nkiport.simulator.names import known_names
    from nkiport.simulator.namespace import unknown_name

    spaces = {"neuronxcc.nki.language": "nl", "neuronxcc.nki.isa": "nisa"}
    local = {alias: spaces[m] for m, alias, _ in imports(tree) if m in spaces and alias}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        space = local.get(node.value.id)
        if space and node.attr not in known_names(space):
            problem = unknown_name(space, node.attr, known_names(space))
            yield Finding(
                code=problem.code, line=node.lineno, asked=problem.asked,
                allowed=problem.allowed, fix=problem.fix,
            )  # fmt: skip


def _masks(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.keyword) or node.arg != "mask":
            continue
        for inner in ast.walk(node.value):
            if isinstance(inner, ast.BoolOp):
                yield Finding(
                    code="err_ambiguous_tensor_truth_value",
                    line=inner.lineno,
                    asked="'and' or 'or' in a mask",
                    allowed="comparisons joined by &",
                    fix="write (a < n) & (b < m)",
                )
