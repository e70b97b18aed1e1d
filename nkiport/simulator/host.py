"""Tensors as the host function sees them: shapes and views, no values."""

from typing import Any

import numpy as np

from nkiport.nki.dtypes import AnyDType, Array
from nkiport.simulator.errors import broken

ARITHMETIC = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "matmul", "rmatmul",
    "pow", "rpow", "neg", "abs", "mod", "and", "or", "xor", "invert", "lt", "le", "gt", "ge",
    "iadd", "isub", "imul", "itruediv", "bool", "float", "int", "setitem",
)  # fmt: skip


class HostTensor:
    """A tensor in the host function: shape arithmetic, views and kernel arguments only."""

    def __init__(
        self, values: Array, source: str = "", readers: Any = None, number: int | None = None
    ) -> None:
        self._values = values
        self._source = source
        self._readers = readers
        self._number = number
        """Of the storage a kernel made it in: a later launch that reads it waits for its writes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return self._values.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._values.ndim

    @property
    def dtype(self) -> AnyDType:
        """The element type."""
        return self._values.dtype

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<host tensor {self.shape} {self.dtype.name}>"

    def reshape(self, *shape: Any) -> "HostTensor":
        """Return a view of another shape."""
        sizes = tuple(shape[0]) if shape and isinstance(shape[0], tuple | list) else shape
        try:
            return self._like(self._values.reshape(sizes))
        except ValueError:
            raise broken(
                "err_shape_mismatch", f"reshape {self.shape} to {sizes}",
                "the same number of elements",
            ) from None  # fmt: skip

    view = reshape

    def flatten(self) -> "HostTensor":
        """Return a view of one dimension."""
        return self.reshape(-1)

    ravel = flatten

    def unsqueeze(self, axis: int) -> "HostTensor":
        """Return a view with a dimension of size 1 at ``axis``."""
        return self._like(np.expand_dims(self._values, axis))

    def squeeze(self, axis: int | None = None) -> "HostTensor":
        """Return a view without a dimension of size 1, or without all of them."""
        return self._like(np.squeeze(self._values, axis))

    def contiguous(self) -> "HostTensor":
        """Return itself: host tensors are contiguous."""
        return self

    def _like(self, values: Array) -> "HostTensor":
        return HostTensor(values, self._source, self._readers, self._number)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise broken(
            "err_host_arithmetic", f"'.{name}' of a host tensor",
            "shape, dtype, ndim, reshape, view, flatten, squeeze, unsqueeze",
            "compute values inside a kernel",
        )  # fmt: skip

    __iter__ = None
    __hash__ = object.__hash__


def _refuse(name: str) -> Any:
    def refuse(self: HostTensor, *_others: Any) -> Any:
        raise broken(
            "err_host_arithmetic", f"'{name}' on the values of {self!r}",
            "the host function arranges shapes and launches kernels",
            "compute it inside a kernel",
        )  # fmt: skip

    return refuse


for _name in ARITHMETIC:
    setattr(HostTensor, f"__{_name}__", _refuse(_name))
