"""Element types: their names, how they promote, and how values are rounded into them."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
AnyDType = np.dtype[Any]

FLOAT32: AnyDType = np.dtype(np.float32)
INT32: AnyDType = np.dtype(np.int32)
UINT8: AnyDType = np.dtype(np.uint8)
BOOL: AnyDType = np.dtype(np.bool_)
BFLOAT16: AnyDType = np.dtype(ml_dtypes.bfloat16)
FLOAT16: AnyDType = np.dtype(np.float16)
FLOAT8_E4M3: AnyDType = np.dtype(ml_dtypes.float8_e4m3)
FLOAT8_E5M2: AnyDType = np.dtype(ml_dtypes.float8_e5m2)

DTYPES: Mapping[str, AnyDType] = MappingProxyType(
    {
        "float32": FLOAT32,
        "tfloat32": FLOAT32,
        "bfloat16": BFLOAT16,
        "float16": FLOAT16,
        "float8_e4m3": FLOAT8_E4M3,
        "float8_e5m2": FLOAT8_E5M2,
        "int32": INT32,
        "int16": np.dtype(np.int16),
        "int8": np.dtype(np.int8),
        "uint32": np.dtype(np.uint32),
        "uint16": np.dtype(np.uint16),
        "uint8": UINT8,
        "bool_": BOOL,
    }
)
"""The names a kernel sees. Tfloat32 is stored, and for now also rounded, as float32."""

_KNOWN = frozenset(DTYPES.values())
_FLOATS = frozenset({FLOAT32, BFLOAT16, FLOAT16, FLOAT8_E4M3, FLOAT8_E5M2})


def as_dtype(value: object) -> AnyDType:
    """Return the dtype that a name, a NumPy type or a dtype means; ``KeyError`` for none of ours.

    >>> as_dtype("bfloat16").itemsize
    2
    """
    if isinstance(value, str):
        return DTYPES["bool_" if value == "bool" else value]
    found: AnyDType = np.dtype(value)  # type: ignore[call-overload]
    if found not in _KNOWN:
        raise KeyError(found.name)
    return found


def is_float(dtype: AnyDType) -> bool:
    """Whether it is one of the floating types, the 8-bit ones included."""
    return dtype in _FLOATS


def scalar_dtype(value: object) -> AnyDType:
    """Return what a scalar counts as: bool uint8, int int32, float float32; NumPy's keep theirs."""
    if isinstance(value, np.generic):
        return value.dtype if value.dtype in _KNOWN else FLOAT32
    if isinstance(value, bool):
        return UINT8
    return INT32 if isinstance(value, int) else FLOAT32


def promote(a: AnyDType, b: AnyDType) -> AnyDType:
    """Return the type of a result with both types among its operands.

    >>> promote(DTYPES["float16"], DTYPES["bfloat16"]).name
    'float32'
    >>> promote(DTYPES["int32"], DTYPES["uint32"]).name
    'float32'
    """
    a, b = (UINT8 if each == BOOL else each for each in (a, b))
    if a == b:
        return a
    if is_float(a) or is_float(b):
        return _promote_floats(a, b)
    widened = np.promote_types(a, b)
    return FLOAT32 if widened.itemsize > INT32.itemsize else widened


def _promote_floats(a: AnyDType, b: AnyDType) -> AnyDType:
    if not is_float(b):
        return a
    if not is_float(a):
        return b
    if a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    return FLOAT32 if a.itemsize > 1 else BFLOAT16


def cast(values: Array, dtype: AnyDType) -> Array:
    """Round ``values`` into ``dtype``; the same array if it has that type already.

    Floats round to nearest even and overflow to infinity. Integers round to nearest even and
    saturate, as the hardware does (NKI 0.6.0 release note); NaN becomes 0.
    """
    if values.dtype == dtype:
        return values
    if dtype == BOOL:
        return np.asarray(values != 0)
    if is_float(dtype):
        return values.astype(dtype)
    info = np.iinfo(dtype)
    wide = values.astype(np.int64 if values.dtype.kind in "iub" else np.float64)
    if wide.dtype.kind == "f":
        wide = np.nan_to_num(np.rint(wide), nan=0.0, posinf=info.max, neginf=info.min)
    return np.clip(wide, info.min, info.max).astype(dtype)


def poison(dtype: AnyDType) -> Any:
    """Return what memory that nobody wrote holds: NaN, or an unlikely small integer."""
    return np.nan if is_float(dtype) else dtype.type(113 if dtype != BOOL else 1)
