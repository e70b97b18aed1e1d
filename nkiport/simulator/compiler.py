"""``neuronxcc.nki.compiler``: buffers at addresses of the kernel's own choice, and directives."""

import math
from typing import Any

from nkiport.simulator.namespace import Namespace


class Placed(str):
    """A buffer at an address: ``sbuf`` or ``psum`` to everything else.

    ``tiles`` of them lie behind each other in a partition from ``address`` on, in bytes.
    """

    __slots__ = ("address", "tiles")
    address: int
    tiles: int

    @classmethod
    def at(cls, buffer: str, address: int, tiles: int) -> "Placed":
        """The buffer of that name, from that byte on."""
        made = cls(buffer)
        made.address, made.tiles = address, tiles
        return made


class _Allocator:
    """``ncc.sbuf`` or ``ncc.psum``."""

    def __init__(self, buffer: str, bank_bytes: int) -> None:
        self._buffer = buffer
        self._bank_bytes = bank_bytes

    def mod_alloc(
        self, *, base_addr: int = 0, base_bank: int = 0, num_free_tiles: Any = (),
        num_bank_tiles: Any = (), **_others: Any,
    ) -> Placed:  # fmt: skip
        """Tiles that take turns at their places."""
        start = base_bank * self._bank_bytes + base_addr
        tiles = math.prod((*num_free_tiles, *num_bank_tiles))
        return Placed.at(self._buffer, start, tiles)

    def alloc(self, _place: Any) -> Placed:
        """Tiles at places that a function gives; the places are not checked."""
        return Placed.at(self._buffer, 0, 1)

    def auto_alloc(self) -> Placed:
        """Wherever there is room."""
        return Placed.at(self._buffer, 0, 1)


def _directive(function: Any = None, **_options: Any) -> Any:
    """A decorator without a meaning here."""
    return function if callable(function) else _directive


def compiler(bank_bytes: int) -> Namespace:
    """Return ``neuronxcc.nki.compiler``."""
    directives = (
        "enable_stack_allocator", "force_auto_alloc", "skip_middle_end_transformations",
        "no_reorder",
    )  # fmt: skip
    return Namespace(
        "ncc",
        {
            "sbuf": _Allocator("sbuf", 0),
            "psum": _Allocator("psum", bank_bytes),
            "multi_buffer": lambda count: count,
            **dict.fromkeys(directives, _directive),
        },
    )
