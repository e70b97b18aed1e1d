"""Questions about one parsed Python file."""

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any


class File:
    """A Python file: its name in the tree, its text, and its syntax."""

    def __init__(self, name: str, text: str, tree: ast.Module) -> None:
        self.name = name
        self.tree = tree
        self._lines = text.splitlines()

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """Every function, nested ones too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]

    @cached_property
    def top_level(self) -> set[str]:
        """Names of functions and classes a stranger can import."""
        kinds = ast.FunctionDef | ast.ClassDef
        return {node.name for node in self.tree.body if isinstance(node, kinds)}

    @cached_property
    def modules(self) -> list[ast.ClassDef]:
        """Top-level classes that derive from ``Module`` and have a ``forward``."""
        return [
            node
            for node in self.tree.body
            if isinstance(node, ast.ClassDef)
            and any(last_name(base) == "Module" for base in node.bases)
            and any(isinstance(f, ast.FunctionDef) and f.name == "forward" for f in node.body)
        ]

    @cached_property
    def constants(self) -> Mapping[str, ast.Constant]:
        """Module-level names bound to a string."""
        return {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name) and isinstance(node.value.value, str)
        }

    def place(self, node: ast.FunctionDef | ast.ClassDef) -> dict[str, Any]:
        """Name, file, lines and text of a definition."""
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        last = node.end_lineno or node.lineno
        snippet = "\n".join(self._lines[first - 1 : last])
        return {
            "name": node.name, "file": self.name, "line": node.lineno, "end_line": last,
            "snippet": snippet,
        }  # fmt: skip

    def calls(self, node: ast.AST) -> list[str]:
        """Last names of everything that is called inside."""
        return [last_name(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)]

    def calls_of(self, name: str) -> list[ast.Call]:
        """Every call of a function by its last name."""
        calls = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return [call for call in calls if last_name(call.func) == name]

    def launches(self, kernel: str) -> list[tuple[str, int]]:
        """(function, line) of each ``kernel[grid](...)``."""
        return [
            (owner, node.lineno)
            for owner, node in self._owned()
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Subscript)
            and last_name(node.func.value) == kernel
        ]

    def uses(self, name: str) -> list[tuple[str, int]]:
        """(function, line) of each use of a name inside a function."""
        return [
            (owner, node.lineno)
            for owner, node in self._owned()
            if isinstance(node, ast.Name) and node.id == name and owner != "module"
        ]

    def assigned_to(self, call: ast.Call) -> str:
        """The name a call's result is bound to, or nothing."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and node.value is call:
                return last_name(node.targets[0])
        return ""

    def names(self, node: ast.AST) -> set[str]:
        """Every name mentioned inside."""
        return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}

    def needs_arguments(self, module: ast.ClassDef) -> bool:
        """Whether its constructor has parameters without defaults."""
        for function in module.body:
            if isinstance(function, ast.FunctionDef) and function.name == "__init__":
                arguments = function.args
                return len(arguments.args) - 1 - len(arguments.defaults) > 0
        return False

    def _owned(self) -> Iterator[tuple[str, Any]]:
        """Every node with the outermost definition it lies in."""
        for top in self.tree.body:
            owner = getattr(top, "name", "module")
            for node in ast.walk(top):
                yield owner, node


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c``; nothing for what has no name."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


def decorated(function: ast.FunctionDef, module: str, name: str) -> bool:
    """Whether a decorator is ``module.name``, or ``name`` alone imported from anywhere."""
    for each in function.decorator_list:
        node = each.func if isinstance(each, ast.Call) else each
        if isinstance(node, ast.Attribute) and node.attr == name:
            return last_name(node.value) == module
    return False


def string_in(node: ast.AST, constants: Mapping[str, ast.Constant]) -> list[ast.Constant]:
    """String constants in an expression, through module-level names."""
    found = []
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.append(each)
        elif isinstance(each, ast.Name) and each.id in constants:
            found.append(constants[each.id])
    return found
