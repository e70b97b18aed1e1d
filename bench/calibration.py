"""How far the cost model is from fourteen published kernels, each estimated without itself.

``python -m bench.calibration`` prints the table of `docs/cost-model.md` from
``bench/calibration.json``: what was measured on trn1, and what our schedule says. The kernels are
not ours to ship; ``--kernels DIR`` schedules them anew for who has them.
"""

import ast
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer
from pydantic import BaseModel, ConfigDict

from nkiport.nki import target
from nkiport.simulator import Launch, Options, Trace, simulate
from nkiport.simulator.estimate import spent

FACTS = Path(__file__).with_name("calibration.json")
PATIENT = Options(
    own=True, max_bytes=64 << 30, max_seconds=1e5, max_instructions=10**8, max_iterations=10**9
)
"""Of published kernels we believe that they are right and that they end."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Measured(_Frozen):
    """A profile on the device: milliseconds, megabytes, shares of the time."""

    ms: float
    hbm_mb: float
    spill_mb: float
    scalar: float
    vector: float


class Features(_Frozen):
    """What our schedule says: milliseconds from start to end and on each engine, and megabytes."""

    span_ms: float
    busy_ms: Mapping[str, float]
    hbm_mb: float
    """What the kernel itself moves."""
    spill_mb: float
    instructions: int


class Kernel(_Frozen):
    """A published kernel: its file, the shapes of its tensors, its numbers, and both times."""

    file: str
    inputs: Mapping[str, tuple[int, ...]]
    given: Mapping[str, float] = {}
    measured: Measured
    features: Features

    @property
    def share(self) -> float:
        """Schedule divided by measurement."""
        return self.features.span_ms / self.measured.ms


class Calibration(_Frozen):
    """The kernels by name, and where their measurements are published."""

    source: str
    kernels: Mapping[str, Kernel]


def share_of(kernels: Mapping[str, Kernel]) -> float:
    """The share of the measured time that a schedule has, in the middle of the kernels."""
    return median(each.share for each in kernels.values())


def left_out(kernels: Mapping[str, Kernel]) -> dict[str, float]:
    """Each kernel's milliseconds, estimated by the others."""
    return {
        name: each.features.span_ms / share_of({n: k for n, k in kernels.items() if n != name})
        for name, each in kernels.items()
    }


def errors_of(kernels: Mapping[str, Kernel]) -> dict[str, float]:
    """How much longer (or shorter) than measured each is estimated, as a share of the measured."""
    return {n: ms / kernels[n].measured.ms - 1 for n, ms in left_out(kernels).items()}


def interval_of(kernels: Mapping[str, Kernel]) -> tuple[float, float]:
    """Measured divided by estimated: the least and the most of them."""
    ratios = [1 / (1 + each) for each in errors_of(kernels).values()]
    return min(ratios), max(ratios)


def features_of(trace: Trace) -> Features:
    """Schedule a trace on trn1."""
    done = spent(trace, target("trn1"))
    return Features(
        span_ms=round(done.span_us / 1000, 4),
        busy_ms={engine: round(us / 1000, 4) for engine, us in sorted(done.busy_us.items())},
        hbm_mb=round((trace.bytes_read + trace.bytes_written) / 1e6, 1),
        spill_mb=round(done.bytes_spilled / 1e6, 1),
        instructions=len(trace.instructions),
    )


def scheduled_anew(kernel: Kernel, folder: Path) -> Kernel:
    """Run a kernel on numbers that do not matter. Raises ``ValueError`` where it does not run."""
    source = (folder / kernel.file).read_text()
    rng = np.random.default_rng(0)
    values = {n: rng.random(s, np.float32) / 8 for n, s in kernel.inputs.items()}
    launch = Launch(_name(source), (), dict(kernel.given))
    done = simulate(source, values, options=PATIENT, launch=launch)
    if not done.ok:
        raise ValueError(f"{kernel.file}: {[each.sentence() for each in done.findings]}")
    return kernel.model_copy(update={"features": features_of(done.trace)})


def _name(source: str) -> str:
    """The function that the file defines."""
    return next(each.name for each in ast.parse(source).body if isinstance(each, ast.FunctionDef))


def table(kernels: Mapping[str, Kernel]) -> str:
    """The estimates as a table in Markdown, and the errors in one line."""
    errors, estimates = errors_of(kernels), left_out(kernels)
    sizes = sorted(abs(each) for each in errors.values())
    rows = ["| kernel | measured ms | estimated ms | error |", "| --- | ---: | ---: | ---: |"]
    rows += [
        f"| {name} | {each.measured.ms:.2f} | {estimates[name]:.2f} | {errors[name]:+.0%} |"
        for name, each in kernels.items()
    ]
    return "\n".join([*rows, "", f"Median {median(sizes):.0%}, worst {sizes[-1]:.0%}."])


def facts(path: Path = FACTS) -> Calibration:
    """Return what is known of the kernels."""
    return Calibration.model_validate_json(path.read_text())


def main(
    kernels: Annotated[
        Path | None, typer.Option(help="the folder of the published kernels: schedule them anew")
    ] = None,
    path: Annotated[Path, typer.Option("--facts", help="the file to read, and to renew")] = FACTS,
) -> None:
    """Print the errors of the cost model, each kernel estimated by the others."""
    known = facts(path)
    if kernels:
        renewed: dict[str, Any] = {}
        for name, each in known.kernels.items():
            renewed[name] = scheduled_anew(each, kernels)
            sys.stderr.write(f"{name}: {renewed[name].features.span_ms} ms\n")
        known = known.model_copy(update={"kernels": renewed})
        path.write_text(known.model_dump_json(indent=1) + "\n")
    low, high = interval_of(known.kernels)
    share = share_of(known.kernels)
    print(table(known.kernels), "", sep="\n")  # noqa: T201
    print(f"A schedule is {share:.3f} of the measured time;")  # noqa: T201
    print(f"measured is {low:.2f} to {high:.2f} of the estimated.")  # noqa: T201


if __name__ == "__main__":
    typer.run(main)
