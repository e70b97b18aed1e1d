"""Arrays across a process border as raw bytes: nothing is unpickled, every dtype survives."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from nkiport.contracts.base import ON_DEVICE, DType

Array = NDArray[Any]
MAX_ARRAYS = 4096


class Unreadable(ValueError):
    """What the child described does not fit what it wrote."""


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a contract's name.

    >>> dtype_of("bfloat16").itemsize
    2
    """
    own = getattr(ml_dtypes, name, None)
    return np.dtype(name if own is None else own)


def device_dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype in which a device holds values of a contract's name.

    >>> device_dtype_of("int64").itemsize
    4
    """
    return dtype_of(ON_DEVICE.get(cast("DType", name), name))


def on_device(array: Array) -> Array:
    """The array as a device holds it; itself, where the dtype stays."""
    return array.astype(device_dtype_of(array.dtype.name), copy=False)


def write_arrays(file: IO[bytes], arrays: Iterable[Array]) -> list[dict[str, Any]]:
    """Append arrays to a file; return what a reader must know of each, as JSON."""
    described = []
    for array in arrays:
        file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).tobytes())
        described.append({"shape": list(array.shape), "dtype": array.dtype.name})
    file.flush()
    return described


def write_trials(
    file: IO[bytes], trials: Sequence[Sequence[Array]], as_: Callable[[Array], Array] = np.asarray
) -> dict[str, Any]:
    """Append the arrays of trials, ``as_`` they are held there; what trials share goes once.

    Return what ``read_trials`` must know, as JSON.
    """
    distinct = {id(each): each for trial in trials for each in trial}
    places = {key: place for place, key in enumerate(distinct)}
    return {
        "arrays": write_arrays(file, map(as_, distinct.values())),
        "trials": [[places[id(each)] for each in trial] for trial in trials],
    }


def read_trials(file: IO[bytes], described: Mapping[str, Any]) -> list[list[Array]]:
    """Read the trials that a parent wrote; arrays that trials share are one, and read-only."""
    arrays = [_read(file, each) for each in described["arrays"]]
    return [[arrays[place] for place in trial] for trial in described["trials"]]


def read_arrays(file: IO[bytes], described: Sequence[Mapping[str, Any]]) -> list[Array]:
    """Read the next arrays of a file. The description is hostile: raises ``Unreadable``."""
    if len(described) > MAX_ARRAYS:
        raise Unreadable(f"{len(described)} arrays; at most {MAX_ARRAYS} are taken")
    return [_read(file, each) for each in described]


def _read(file: IO[bytes], described: Mapping[str, Any]) -> Array:
    try:
        kind = dtype_of(str(described["dtype"]))
        shape = tuple(int(size) for size in described["shape"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"no array is described by {str(described)[:200]}") from error
    if kind.hasobject or any(size < 0 for size in shape):
        raise Unreadable(f"no array of numbers is described by {str(described)[:200]}")
    wanted = int(np.prod(shape, dtype=object)) * kind.itemsize
    data = _exactly(file, wanted)
    return np.frombuffer(data, np.uint8).view(kind).reshape(shape)


def _exactly(file: IO[bytes], wanted: int) -> bytes:
    here = file.tell()
    there = file.seek(0, 2)
    file.seek(here)
    if wanted > there - here:
        raise Unreadable(f"{wanted} bytes are described, {there - here} were written")
    return file.read(wanted)
