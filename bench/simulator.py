"""What the simulator costs beside the same arithmetic in NumPy: ``python -m bench.simulator``.

For each kind of instruction one kernel repeats it on tiles of 128 x 1 (all overhead), of 128 x 512
and of 128 x 2048 (mostly arithmetic). Beside it stands what a person would write in NumPy for the
same results: an expression that allocates its result where the instruction makes a new tile, and a
copy into given memory where it stores. Both keep the last result in a name and let go of the one
before, so both use the same two pieces of memory in turn; results of an instruction are in
float32, and NumPy's too.

Both are timed in short windows, the simulator's inside the kernel, by the processor time of this
process, and the best window counts: what others do on the machine is then in neither, as far as
they leave the caches alone. A benchmark, not a test: its numbers are of the machine it runs on.
"""

import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from nkiport.simulator import Launch, Options, simulate

KERNEL = """from time import process_time

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, y, times):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t, w, b = nl.load(x), nl.load(y), nl.load(y[:, 0:1])
    for window in range({windows}):
        started = process_time()
        for k in nl.sequential_range({count}):
            u = {call}
        times.append(process_time() - started)
    nl.store(out, t)
    return out
"""


class Given(NamedTuple):
    """What the kernel has, as arrays: the tile, a square one, a column, and the output."""

    t: Any
    w: Any
    b: Any
    out: Any


Plain = Callable[[Given], Any]


class Case(NamedTuple):
    """An instruction, and what it is in NumPy."""

    call: str
    plain: Plain
    widest: int = 2048


def _stored(given: Given) -> None:
    given.out[...] = given.t


CASES: Mapping[str, Case] = {
    "nl.add": Case("nl.add(t, 1.5)", lambda given: given.t + np.float32(1.5)),
    "nl.exp": Case("nl.exp(t)", lambda given: np.exp(given.t)),
    "nl.sum": Case(
        "nl.sum(t, axis=1, keepdims=True)", lambda given: given.t.sum(axis=1, keepdims=True)
    ),
    "nl.load": Case("nl.load(x)", lambda given: given.t.copy()),
    "nl.store": Case("nl.store(out, t)", _stored),
    "tensor_tensor": Case(
        "nisa.tensor_tensor(t, t, op=nl.multiply)", lambda given: given.t * given.t
    ),
    "activation": Case(
        "nisa.activation(op=nl.exp, data=t, bias=b)", lambda given: np.exp(given.t + given.b)
    ),
    "nc_matmul": Case("nisa.nc_matmul(w, t)", lambda given: given.w.T @ given.t, widest=512),
}
COLUMNS = (1, 512, 2048)
ROUNDS = 5
"""How often the two sides take turns."""


class Cost(NamedTuple):
    """Microseconds of one instruction, simulated and in NumPy."""

    simulated: float
    plain: float

    @property
    def overhead(self) -> float:
        """What the simulator adds."""
        return self.simulated - self.plain

    @property
    def ratio(self) -> float:
        """How many times as long it takes."""
        return self.simulated / self.plain


def cost_of(case: Case, columns: int, windows: int, count: int) -> Cost:
    """The best window of each side, over the instructions of a window."""
    x, y = (np.random.default_rng(0).random((128, n), np.float32) for n in (columns, 128))
    simulated, plain = [], []
    for _ in range(ROUNDS):
        simulated += _simulated(case.call, {"x": x, "y": y}, windows, count)
        plain += _in_numpy(case.plain, Given(x, y, y[:, 0:1], x.copy()), windows, count)
    return Cost(1e6 * min(simulated) / count, 1e6 * min(plain) / count)


def _simulated(call: str, inputs: Mapping[str, Any], windows: int, count: int) -> list[float]:
    times: list[float] = []
    source = KERNEL.format(windows=windows, count=count, call=call)
    own, launch = Options(own=True), Launch(arguments={"times": times})
    done = simulate(source, inputs, options=own, launch=launch)
    if not done.ok:
        raise ValueError(f"{call}: {done.findings}")
    return times


def _in_numpy(plain: Plain, given: Given, windows: int, count: int) -> list[float]:
    times = []
    for _ in range(windows):
        started = time.process_time()
        for _ in range(count):
            u = plain(given)
        times.append(time.process_time() - started)
    del u
    return times


def main(
    windows: Annotated[int, typer.Option(min=1, help="timed stretches of a kernel")] = 100,
    count: Annotated[int, typer.Option(min=10, help="instructions of a stretch")] = 20,
) -> None:
    """Print overhead and ratio of each instruction and width."""
    table = Table("instruction", "tile", "simulated, us", "NumPy, us", "overhead, us", "ratio")
    for name, case in CASES.items():
        for columns in (each for each in COLUMNS if each <= case.widest):
            found = cost_of(case, columns, windows, count)
            numbers = (found.simulated, found.plain, found.overhead, found.ratio)
            table.add_row(name, f"128 x {columns}", *(f"{number:.1f}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
