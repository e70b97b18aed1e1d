"""What ``nl``, ``nisa`` and ``nki`` have beside operations: memory, loops, indices, constants."""

import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from nkiport.nki.dtypes import DTYPES, FLOAT32, as_dtype
from nkiport.nki.functions import ALIASES, BINARY, UNARY
from nkiport.nki.op import HBM, Buffer
from nkiport.nki.ops.chance import drawn
from nkiport.simulator import newer
from nkiport.simulator.compiler import Placed, compiler
from nkiport.simulator.errors import broken
from nkiport.simulator.index import MGrid, arange
from nkiport.simulator.launch import Kernel
from nkiport.simulator.machine import Machine
from nkiport.simulator.memory import Tile
from nkiport.simulator.namespace import BoundOp, Namespace, bound_operations, token
from nkiport.simulator.special import Kept, add_rows, join_over_loops
from nkiport.simulator.storage import ParDim, Slice

BUFFERS = {
    "sbuf": "sbuf", "psum": "psum", "hbm": "private_hbm", "private_hbm": "private_hbm",
    "shared_hbm": "shared_hbm",
}  # fmt: skip
LOOPS = ("affine_range", "sequential_range", "static_range")


class Memory:
    """The functions that make tensors."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._joined: Kept = {}

    def ndarray(
        self, shape: Any, dtype: Any, *, buffer: Any = None, name: str = "", **_ignored: Any
    ) -> Tile:
        """Make a tensor that nobody has written yet."""
        self._inside("nl.ndarray")
        where: Any = buffer or "sbuf"
        if where not in BUFFERS.values():
            raise broken("err_unsupported_memory", f"buffer={buffer!r}", ", ".join(BUFFERS))
        sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
        if isinstance(where, Placed):
            self._fits(where, sizes, self._dtype(dtype))
            chip: Buffer = "psum" if where == "psum" else "sbuf"
            made = self._machine.allocate(sizes, self._dtype(dtype), chip, name=name)
            made.storage.placed = True
            return made
        if where == "shared_hbm":
            return self._machine.shared_output(sizes, self._dtype(dtype), name)
        return self._machine.allocate(sizes, self._dtype(dtype), where, name=name)

    def full(
        self, shape: Any, fill_value: Any, dtype: Any, *, buffer: Any = None, name: str = "",
        **ignored: Any,
    ) -> Tile:  # fmt: skip
        """Make a tensor of one constant, on chip."""
        if buffer in HBM:
            raise broken(
                "err_hbm_tensor_with_init_value_not_supported", "an HBM tensor with a value",
                "HBM tensors start unwritten", "use nl.ndarray and nl.store",
            )  # fmt: skip
        made = self.ndarray(shape, dtype, buffer=buffer, name=name, **ignored)
        self._machine.execute_fill(made, fill_value)
        return made

    def zeros(self, shape: Any, dtype: Any = FLOAT32, **others: Any) -> Tile:
        """Make a tensor of zeros, on chip; in PSUM it starts an accumulation."""
        return self.full(shape, 0, dtype, **others)

    def ones(self, shape: Any, dtype: Any = FLOAT32, **others: Any) -> Tile:
        """Make a tensor of ones, on chip."""
        return self.full(shape, 1, dtype, **others)

    def zeros_like(self, a: Tile, dtype: Any = None, **others: Any) -> Tile:
        """Make a tensor of zeros with the shape of another."""
        return self.full(a.shape, 0, dtype or a.dtype, **others)

    def empty_like(self, a: Tile, dtype: Any = None, **others: Any) -> Tile:
        """Make a tensor that nobody has written, with the shape of another."""
        return self.ndarray(a.shape, dtype or a.dtype, **others)

    def rand(self, shape: Any, dtype: Any = FLOAT32) -> Tile:
        """Make a tile of numbers from 0 to 1; the simulator draws the same in each run."""
        self._inside("nl.rand")
        return self._machine.wrap(drawn(tuple(shape)).astype(self._dtype(dtype)), "sbuf", "rand")

    def random_seed(self, seed: Any, **_ignored: Any) -> None:
        """Seed the device's stream; the simulator's own stream is fixed."""
        del seed
        self._inside("nl.random_seed")

    def loop_reduce(
        self, x: Tile, op: Any, loop_indices: Any, *, dtype: Any = None, mask: Any = None,
        **_ignored: Any,
    ) -> Tile:  # fmt: skip
        """Join what ``x`` is over the named loops: what is returned last is the whole."""
        indices = tuple(loop_indices)
        return join_over_loops(
            self._machine, self._joined, x, token(op), indices, dtype=dtype, mask=mask
        )

    def atomic_rmw(self, dst: Tile, value: Tile, op: Any, **_ignored: Any) -> None:
        """Add rows to rows of an HBM tensor that an index tile names; a row may come twice."""
        add_rows(self._machine, dst, value, token(op))

    def expand_dims(self, data: Tile, axis: int) -> Tile:
        """Return a view with a dimension of size 1."""
        view: Tile = data.expand_dims(axis)
        return view

    def shared_constant(self, array: Any, dtype: Any = None) -> Tile:
        """Make an HBM tensor of a constant, to be loaded."""
        self._inside("nl.shared_constant")
        values = np.asarray(array)
        kind = as_dtype(dtype) if dtype is not None else as_dtype(values.dtype)
        return self._machine.wrap(values.astype(kind), "private_hbm", "constant")

    def shared_identity_matrix(self, n: int, dtype: Any = np.uint8) -> Tile:
        """Make an identity matrix in HBM, to be loaded."""
        return self.shared_constant(np.eye(n), dtype)

    def _inside(self, what: str) -> None:
        if not self._machine.kernel_depth:
            raise broken(
                "err_nki_api_outside_of_nki_kernel", f"{what} outside a kernel",
                "instructions run inside an @nki.jit function", "move it into a kernel",
            )  # fmt: skip

    def _fits(self, where: Placed, sizes: tuple[Any, ...], dtype: Any) -> None:
        """A kernel that places its tiles itself must place them inside."""
        partition = next((i for i, s in enumerate(sizes) if isinstance(s, ParDim)), 0)
        end = where.address + where.tiles * math.prod(sizes[partition + 1 :]) * dtype.itemsize
        chip = self._machine.target
        room = chip.sbuf_bytes if where == "sbuf" else chip.psum_bytes
        if end > room:
            raise broken(
                f"err_{where}_capacity", f"tiles up to byte {end} of a partition",
                f"{room} bytes on {chip.name}", "smaller tiles, or fewer at a time",
            )  # fmt: skip

    def _dtype(self, dtype: Any) -> Any:
        try:
            return as_dtype(dtype)
        except (KeyError, TypeError):
            raise broken(
                "err_dtype", f"dtype={dtype!r}", ", ".join(f"nl.{name}" for name in DTYPES)
            ) from None


def _programs(machine: Machine) -> dict[str, Any]:
    def program_id(axis: int = 0) -> int:
        if not 0 <= axis < max(1, len(machine.program)):
            raise broken(
                "err_program_axis", f"program_id({axis}) of a grid of {len(machine.program)} axes",
                f"axes below {len(machine.program)}", "launch as kernel[grid](...)",
            )  # fmt: skip
        return machine.program[axis] if machine.program else 0

    def num_programs(axes: Any = None) -> int:
        if axes is None:
            return math.prod(machine.grid)
        chosen = axes if isinstance(axes, tuple | list) else (axes,)
        return math.prod(machine.grid[axis] if machine.grid else 1 for axis in chosen)

    return {
        "program_id": program_id,
        "num_programs": num_programs,
        "program_ndim": lambda: len(machine.grid),
    }


def _loops(machine: Machine) -> dict[str, Any]:
    def make(kind: str) -> Any:
        return lambda *bounds, **_ignored: machine.loop(kind, *bounds)

    return {kind: make(kind) for kind in LOOPS}


def _limits_of(dtype: Any) -> Any:
    """The numbers that bound a floating type, as NumPy names them."""
    return ml_dtypes.finfo(as_dtype(dtype))  # type: ignore[no-untyped-call]


def language(machine: Machine) -> Namespace:
    """Return ``neuronxcc.nki.language``."""
    memory = Memory(machine)
    limits = machine.target
    names = {
        **bound_operations("nl", machine),
        **{n: getattr(memory, n) for n in dir(memory) if not n.startswith("_")},
        **_programs(machine),
        **_loops(machine),
        **DTYPES,
        **BUFFERS,
        "arange": arange,
        "mgrid": MGrid(),
        "ds": Slice,
        "par_dim": ParDim,
        "static_cast": lambda value, dtype: np.asarray(value).astype(as_dtype(dtype))[()],
        "fp32": SimpleNamespace(min=-3.4028235e38),
        "bfp16": SimpleNamespace(min=-math.inf),
        "device_print": lambda *_args, **_kwargs: None,
        "finfo": _limits_of,
        "nc": lambda cores: cores,
        "spmd_dim": lambda one, other: one * other,
        "gemm_grid": lambda: MGrid()[0 : limits.partitions, 0 : limits.moving_fmax],
        "gemm_stationary_grid": lambda: MGrid()[0 : limits.partitions, 0 : limits.stationary_fmax],
        "tile_size": SimpleNamespace(
            pmax=limits.partitions,
            psum_fmax=limits.psum_fmax,
            gemm_stationary_fmax=limits.stationary_fmax,
            gemm_moving_fmax=limits.moving_fmax,
            bn_stats_fmax=limits.bn_stats_fmax,
            total_available_sbuf_size=limits.sbuf_bytes,
        ),
    }
    return Namespace("nl", names)


def _enum(*names: str) -> SimpleNamespace:
    return SimpleNamespace(**{name: name for name in names})


def isa(machine: Machine) -> Namespace:
    """Return ``neuronxcc.nki.isa``."""
    engines = ("tensor", "vector", "scalar", "gpsimd", "unknown")
    generation = machine.target.generation
    return Namespace(
        "nisa",
        {
            **bound_operations("nisa", machine),
            **{f"{each}_engine": each for each in engines},
            "engine": _enum(*engines),
            "reduce_cmd": _enum("idle", "reset", "reduce", "reset_reduce"),
            "dge_mode": _enum("none", "swdge", "hwdge", "unknown"),
            "oob_mode": _enum("error", "skip"),
            "nc_version": SimpleNamespace(gen2=2, gen3=3),
            "get_nc_version": lambda: generation,
        },
    )


class _Annotation:
    """``nt.tensor`` and the like: subscripted in annotations, without a meaning here."""

    def __getitem__(self, _shape: Any) -> "_Annotation":
        return self


def _decorator(machine: Machine) -> Any:
    def jit(function: Any = None, **_options: Any) -> Any:
        if function is None:
            return jit
        return Kernel(machine, function)

    return jit


def _numpy() -> Namespace:
    """The names of NumPy that kernels pass on: element functions and types."""
    functions = {name: name for name in [*BINARY, *UNARY, *ALIASES]}
    types = {n: getattr(np, n) for n in DTYPES if hasattr(np, n)}
    return Namespace("np", {**functions, **types, "pi": math.pi, "inf": math.inf})


RUNNERS = ("baremetal", "benchmark", "profile", "simulate_kernel")
"""What runs a kernel on a device, or on the vendor's simulator: here they run it as it is."""


def modules(machine: Machine) -> dict[str, Any]:
    """Return what a kernel may import, by full name."""
    nl, nisa = language(machine), isa(machine)
    nt = Namespace("nt", {"tensor": _Annotation(), "mutable_tensor": _Annotation()})
    jit, ncc = _decorator(machine), compiler(machine.target.psum_bank_bytes)
    runners = dict.fromkeys(RUNNERS, jit) if machine.options.own else {}
    nki = Namespace(
        "nki",
        {
            "language": nl, "isa": nisa, "typing": nt, "compiler": ncc, "jit": jit, "trace": jit,
            "tensor": _Annotation(), **runners,
        },
    )  # fmt: skip
    top = Namespace("neuronxcc", {"nki": nki})
    return {
        "neuronxcc": top,
        "neuronxcc.nki": nki,
        "neuronxcc.nki.language": nl,
        "neuronxcc.nki.isa": nisa,
        "neuronxcc.nki.isa.constants": nisa,
        "neuronxcc.nki.typing": nt,
        "neuronxcc.nki.compiler": ncc,
        **_newer(machine, nl, nisa, nt, nki),
        "math": math,
        "numpy": _numpy(),
        "__future__": __import__("__future__"),
    }


GONE = frozenset(
    {
        "arange", "mgrid", "par_dim", "gemm_grid", "gemm_stationary_grid", "spmd_dim", "nc",
        "loop_reduce", "atomic_rmw", "finfo", "fp32", "bfp16", "static_cast",
    }
)  # fmt: skip
"""Names of the language that the newer dialect does not have any more."""


def _newer(
    machine: Machine, nl: Namespace, nisa: Namespace, nt: Namespace, nki: Namespace
) -> dict[str, Any]:
    """The modules of the newer dialect."""
    loops = {
        "fori_loop": partial(newer.fori_loop, machine=machine),
        "while_loop": partial(newer.while_loop, machine=machine),
        "dynamic_range": lambda *bounds: machine.loop("sequential_range", *map(int, bounds)),
    }
    kept = {n: each for n, each in vars(nl).items() if n not in GONE and not n.startswith("_")}
    names = {n: each for n, each in vars(nisa).items() if not n.startswith("_")}
    fixed = {n: each for n, each in names.items() if not isinstance(each, BoundOp)}
    language_ = Namespace("nl", {**kept, **loops})
    isa_ = Namespace("nisa", {**fixed, **newer.instructions(machine)})
    run = {n: each for n, each in vars(nki).items() if n in {"jit", "trace", *RUNNERS}}
    top = Namespace("nki", {**run, "language": language_, "isa": isa_, "typing": nt})
    if machine.options.own:
        top.__dict__["simulate"] = run["jit"]
    return {"nki": top, "nki.language": language_, "nki.isa": isa_, "nki.typing": nt}
