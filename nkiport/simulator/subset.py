"""Reading a candidate: its kernels, and the names it gave to the dialect's modules."""

import ast


class _Ticks(ast.NodeTransformer):
    """Counts the trips of ``while`` loops, so that an endless one ends."""

    def visit_While(self, node: ast.While) -> ast.While:
        self.generic_visit(node)
        call = ast.Call(ast.Name("__tick__", ast.Load()), [], [])
        node.body.insert(0, ast.copy_location(ast.Expr(call), node))
        return node


def with_ticks(tree: ast.Module) -> ast.Module:
    """Return the tree with counted ``while`` loops; lines stay as they are."""
    ticked: ast.Module = _Ticks().visit(tree)
    return ast.fix_missing_locations(ticked)


def is_kernel(node: ast.FunctionDef) -> bool:
    """Whether a function is decorated with ``nki.jit`` in one of its forms."""
    for each in node.decorator_list:
        target = each.func if isinstance(each, ast.Call) else each
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name == "jit":
            return True
    return False


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the functions at the top level."""
    return [each for each in tree.body if isinstance(each, ast.FunctionDef)]


def entry(tree: ast.Module) -> str | None:
    """Return the function to call: ``forward``, or the only kernel; None if there is neither."""
    names = [each.name for each in functions(tree)]
    if "forward" in names:
        return "forward"
    kernels = [each.name for each in functions(tree) if is_kernel(each)]
    return kernels[0] if len(kernels) == 1 else None


def imports(tree: ast.Module) -> list[tuple[str, str, int]]:
    """Return (full module name, local name, line) of everything imported anywhere."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                local = each.asname or each.name.split(".")[0]
                full = each.name if each.asname else each.name.split(".")[0]
                found += [(each.name, local if full == each.name else "", node.lineno)]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            found += [(f"{base}.{e.name}", e.asname or e.name, node.lineno) for e in node.names]
    return found
