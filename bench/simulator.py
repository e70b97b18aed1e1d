"""What the simulator costs beside the same arithmetic in NumPy: ``python -m bench.simulator``.

For each kind of instruction one kernel repeats it on tiles of 128 x 1 (all overhead) and of
128 x 512 and 128 x 2048 (mostly arithmetic). A benchmark, not a test: its numbers are of the
machine it runs on, and the ratios are of one run.
"""

import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from nkiport.simulator import simulate

HEAD = """import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    t = nl.load(x)
    for k in nl.sequential_range({count}):
        u = {call}
    nl.store(out, t)
    return out
"""


class Case(NamedTuple):
    """An instruction, and what it is in NumPy."""

    call: str
    plain: Callable[[Any], Any]


CASES: Mapping[str, Case] = {
    "nl.add": Case("nl.add(t, 1.5)", lambda t: t + np.float32(1.5)),
    "nl.exp": Case("nl.exp(t)", np.exp),
    "nisa.tensor_tensor": Case("nisa.tensor_tensor(t, t, op=nl.multiply)", lambda t: t * t),
    "nl.sum": Case("nl.sum(t, axis=1, keepdims=True)", lambda t: t.sum(axis=1, keepdims=True)),
    "nl.load": Case("nl.load(x)", lambda t: t.copy()),
}
COLUMNS = (1, 512, 2048)


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


def cost_of(case: Case, columns: int, count: int) -> Cost:
    """The best of three runs, less a run without the instruction's repetitions."""
    x = np.random.default_rng(0).random((128, columns)).astype(np.float32)
    long, short = (HEAD.format(count=n, call=case.call) for n in (count, 1))
    simulated = _best(lambda: simulate(long, {"x": x})) - _best(lambda: simulate(short, {"x": x}))
    plain = _best(lambda: _repeated(case.plain, x, count))
    return Cost(1e6 * simulated / count, 1e6 * plain / count)


def _repeated(plain: Callable[[Any], Any], x: Any, count: int) -> None:
    """Results are let go, as the simulator lets them go: fresh memory is no part of either."""
    for _ in range(count):
        plain(x)


def _best(run: Callable[[], object]) -> float:
    found = []
    for _ in range(3):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return min(found)


def main(
    count: Annotated[int, typer.Option(min=10, help="instructions of a kernel")] = 500,
) -> None:
    """Print overhead and ratio of each instruction and width."""
    table = Table("instruction", "tile", "simulated, us", "NumPy, us", "overhead, us", "ratio")
    for name, case in CASES.items():
        for columns in COLUMNS:
            found = cost_of(case, columns, count)
            numbers = (found.simulated, found.plain, found.overhead, found.ratio)
            table.add_row(name, f"128 x {columns}", *(f"{number:.1f}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
