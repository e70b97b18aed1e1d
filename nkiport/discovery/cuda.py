"""CUDA kernels in a text: ``__global__`` functions, found by the CUDA grammar."""

from collections.abc import Iterator
from typing import Any

import tree_sitter_cuda
from tree_sitter import Language, Parser

from nkiport.discovery.found import Found

NEEDS_REFERENCE = (
    "a reference: name a PyTorch module or function that computes the same, in the job's "
    "'kernels' entry"
)
RANK = 3.0
"""Somebody took the trouble to write it by hand."""


def cuda_file(text: str, file: str) -> list[Found]:
    """The kernels of a ``.cu`` or ``.cuh`` file; each needs a reference."""
    return [
        kernel(each, file, 0, text, why="a __global__ function", missing=(NEEDS_REFERENCE,))
        for each in global_functions(text)
    ]


def global_functions(text: str) -> list[Any]:
    """The definitions of ``__global__`` functions, as syntax nodes."""
    tree = Parser(Language(tree_sitter_cuda.language())).parse(text.encode())
    return [node for node in _nodes(tree.root_node) if _is_kernel(node)]


def kernel(node: Any, file: str, offset: int, text: str, **more: Any) -> Found:
    """A kernel; ``offset`` lines lie above the text in its file."""
    signature = " ".join(_text(node.child_by_field_name("declarator")).split())
    return Found(
        name=signature.split("(")[0].split()[-1],
        kind="cuda",
        file=file,
        line=offset + node.start_point[0] + 1,
        end_line=offset + node.end_point[0] + 1,
        signature=signature,
        rank=RANK,
        snippet=_text(node) if text else "",
        **more,
    )


def _is_kernel(node: Any) -> bool:
    if node.type != "function_definition" or node.child_by_field_name("body") is None:
        return False
    before = node.child_by_field_name("body").start_byte - node.start_byte
    return b"__global__" in (node.text or b"")[:before]


def _nodes(root: Any) -> Iterator[Any]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type != "compound_statement":  # no kernel is defined inside a function
            waiting += reversed(node.children)


def _text(node: Any) -> str:
    return (node.text or b"").decode(errors="replace") if node else ""
