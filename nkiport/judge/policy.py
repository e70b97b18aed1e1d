"""The static policy: what a candidate's text may not do, every finding at once.

The simulator and the sandbox are the walls; this says early, and by name, what they would stop.
"""

import ast
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from nkiport.contracts.judgement import Check, Finding
from nkiport.contracts.tensors import InputSpec
from nkiport.judge.permitted import importable, permitted
from nkiport.judge.stateless import stateful
from nkiport.simulator.subset import functions, imports, is_kernel

CHECKED = frozenset({f"{root}nki.{each}" for root in ("neuronxcc.", "") for each in
                     ("language", "isa")})  # fmt: skip
"""Modules whose names the checker knows, and answers with the nearest one."""
_RUNS = ("exec", "eval", "compile", "__import__", "import_module")
_HIDES = ("getattr", "setattr", "delattr", "globals", "locals", "vars", "type", "super")
_LEAVES = ("open", "input", "breakpoint", "exit", "quit", "system", "popen", "environ", "socket")
_DRAWS = ("manual_seed", "default_rng", "RandomState", "randn", "random_seed", "rand")
_JUDGES = ("allclose", "assert_allclose", "isclose")
_PEEKS = ("_getframe", "settrace")
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(_RUNS, "runs other code"),
        **dict.fromkeys(_HIDES, "hides what it touches"),
        **dict.fromkeys(_LEAVES, "leaves the kernel"),
        **dict.fromkeys(_DRAWS, "draws random numbers, which could replay the judge's"),
        **dict.fromkeys(_JUDGES, "is the judge's work"),
        **dict.fromkeys(_PEEKS, "reads other code's variables"),
    }
)
"""Names no kernel needs, with what they would do."""


def policy(source: str, inputs: tuple[InputSpec, ...]) -> Check:
    """Read the candidate's text, and never run it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        found = [Finding(code="policy_syntax", asked=f"text that is not Python: {error}")]
    else:
        found = [
            *_imports(tree), *_names(tree), *stateful(tree), *_launches(tree),
            *_signature(tree, inputs),
        ]  # fmt: skip
    detail = (
        found[0].sentence() if found else "only kernels, and a host function that launches them"
    )
    return Check(
        name="static policy", stage="policy", result="failed" if found else "passed",
        detail=detail, findings=tuple(found),
    )  # fmt: skip


def _imports(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wrong = [each.name for each in node.names if not importable(each.name)]
        elif isinstance(node, ast.ImportFrom):
            module = f"{'.' * node.level}{node.module or ''}"
            known = importable(module)
            wrong = [f"{module}.{each.name}" for each in node.names
                     if not known or each.name not in permitted()]  # fmt: skip
        else:
            continue
        for name in wrong:
            yield Finding(
                code="policy_import", line=node.lineno, asked=f"import of '{name}'",
                allowed="neuronxcc.nki, its language, isa and typing, and math",
                fix="compute every value inside kernels",
            )  # fmt: skip


def _names(tree: ast.Module) -> Iterator[Finding]:
    modules = _checked(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Match):
            name, why = "match", "reads attributes without naming them"
        elif isinstance(node, ast.Attribute):
            name, why = node.attr, _reached_for(node, modules)
        elif isinstance(node, ast.Name):
            dunder = node.id.startswith("__")
            name = node.id
            why = "reaches into the interpreter" if dunder else REFUSED.get(name, "")
        else:
            continue
        if why:
            yield Finding(
                code="policy_name", line=node.lineno, asked=f"'{name}', which {why}",
                allowed="NKI calls, arithmetic on shapes, and kernel launches", fix="remove it",
            )  # fmt: skip


def _reached_for(node: ast.Attribute, modules: frozenset[str]) -> str:
    """What is wrong with the name after a dot: '' if a kernel may ask for it."""
    if node.attr.startswith("_"):
        return "reaches into the interpreter"
    if node.attr in REFUSED:
        return REFUSED[node.attr]
    on_module = isinstance(node.value, ast.Name) and node.value.id in modules
    return "" if on_module or node.attr in permitted() else "no kernel may ask for"


def _checked(tree: ast.Module) -> frozenset[str]:
    """The names of modules that the checker looks into, unless something else bears them too."""
    named = {local for module, local, _ in imports(tree) if module in CHECKED}
    bound = {
        n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    taken = {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
    return frozenset(named - bound - taken)


def _launches(tree: ast.Module) -> Iterator[Finding]:
    """A kernel is defined, and the host function reaches a launch of one."""
    kernels = {each.name for each in functions(tree) if is_kernel(each)}
    if not kernels:
        yield Finding(
            code="policy_no_kernel", asked="a file that defines no kernel",
            allowed="at least one function decorated with @nki.jit", fix="write the kernel",
        )  # fmt: skip
        return
    hosts = {each.name: each for each in functions(tree) if each.name not in kernels}
    if "forward" in hosts and not kernels & _reached("forward", hosts):
        yield Finding(
            code="policy_no_launch", line=hosts["forward"].lineno,
            asked="a host function that launches no kernel",
            allowed="forward(...) computes by launching the file's kernels", fix="launch them",
        )  # fmt: skip


def _reached(start: str, hosts: Mapping[str, ast.FunctionDef]) -> set[str]:
    """Every name that is mentioned from a host function on, through other host functions."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        body = hosts.get(waiting.pop())
        names = {n.id for n in ast.walk(body) if isinstance(n, ast.Name)} if body else set()
        waiting += sorted(names - seen)
        seen |= names
    return seen


def _signature(tree: ast.Module, inputs: tuple[InputSpec, ...]) -> Iterator[Finding]:
    entry = next((each for each in functions(tree) if each.name == "forward"), None)
    kernels = [each for each in functions(tree) if is_kernel(each)]
    if entry is None and len(kernels) == 1:
        entry = kernels[0]
    if entry is None or entry.args.vararg:
        return
    names = [each.arg for each in (*entry.args.posonlyargs, *entry.args.args)]
    least, most = len(names) - len(entry.args.defaults), len(names)
    if not least <= len(inputs) <= most:
        wanted = ", ".join(each.name for each in inputs)
        yield Finding(
            code="policy_signature", line=entry.lineno,
            asked=f"{entry.name}({', '.join(names)}), {most} parameters",
            allowed=f"{len(inputs)} parameters, in this order: {wanted}",
            fix="take the captured inputs in call order, then the lifted weights",
        )  # fmt: skip
