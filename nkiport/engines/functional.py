"""The functional engine: the simulator, in a sandboxed child, behind the engine port."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from nkiport import __version__
from nkiport.contracts.base import EvidenceLevel, Stage, TargetName
from nkiport.contracts.engine import Profile, Runs
from nkiport.contracts.errors import DeviceLost
from nkiport.contracts.judgement import Check, Finding
from nkiport.contracts.tensors import InputSpec
from nkiport.engines import functional_child
from nkiport.judge.draws import Trial, draw_trial
from nkiport.sandbox import ChildResult, Limits, run_child
from nkiport.sandbox.buffers import Array, Unreadable, on_device, read_arrays, write_trials
from nkiport.simulator import Estimate
from nkiport.simulator import check as static_check

FINDINGS = TypeAdapter(tuple[Finding, ...])
ESTIMATE = TypeAdapter(Estimate | None)
EXAMPLE_SEED = 0
"""Compiling and profiling look at shapes; the secret seed is for the numbers only."""


@dataclass(frozen=True)
class Simulated:
    """What came back from a child, checked: hostile until it got here."""

    findings: tuple[Finding, ...]
    outputs: tuple[tuple[Array, ...], ...] = ()
    inputs_read: frozenset[str] = frozenset()
    estimate: Estimate | None = None
    child: ChildResult | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing worse than a warning was found."""
        return all(each.severity != "error" for each in self.findings)


class FunctionalEngine:
    """Simulates candidates. Latencies are estimates of the cost model, not measurements."""

    level: EvidenceLevel = "functional"

    def __init__(self, target: TargetName = "trn1", limits: Limits | None = None) -> None:
        self.target: TargetName = target
        self.name = f"nkiport functional simulator {__version__}"
        self._limits = limits or Limits()

    def compile(self, source: str, inputs: Sequence[InputSpec]) -> tuple[Check, ...]:
        """Check the text here, then run it once in a child on arrays of the declared shapes."""
        found = static_check(source, target=self.target)
        text = _check("checker", "compile", found, "the text obeys the language")
        if text.result == "failed":
            return (text,)
        with TemporaryDirectory() as folder:
            dry = self._simulate(source, _examples(inputs), Path(folder))
        new = tuple(each for each in dry.findings if each not in found)
        return (text, _check("dry run", "compile", new, "it runs on the declared shapes"))

    def run(self, source: str, trials: Sequence[Mapping[str, Any]], scratch: Path) -> Runs:
        """Run every trial in one child, and the first again with other fresh memory."""
        done = self._simulate(source, trials, scratch, twice=True)
        outputs = done.outputs
        check = _check("run", "numbers", done.findings, f"{len(trials)} trials ran")
        if check.result == "passed":
            again = outputs[len(trials) :]
            check = _repeats(check, outputs[0], again[0] if len(again) == 1 else ())
        seconds = done.child.seconds if done.child else 0.0
        return Runs(outputs[: len(trials)], check, seconds)

    def profile(self, source: str, inputs: Sequence[InputSpec], scratch: Path) -> Profile:
        """Estimate the latency of one run on the declared shapes."""
        done = self._simulate(source, _examples(inputs), scratch, estimate=True)
        check = _check("estimate", "plausibility", done.findings, "one run was estimated")
        if done.estimate is None:
            return Profile(check)
        return Profile(check, inputs_read=sorted(done.inputs_read), **asdict(done.estimate))

    def _simulate(
        self, source: str, trials: Sequence[Mapping[str, Array]], scratch: Path, **options: bool
    ) -> Simulated:
        with (
            (scratch / "inputs.bin").open("w+b") as given,
            (scratch / "outputs.bin").open("w+b") as outputs,
        ):
            request = {
                "source": source, "target": self.target, "seconds": self._limits.wall_seconds,
                "names": list(trials[0]),
                "trials": write_trials(given, [list(t.values()) for t in trials], on_device),
                **options,
            }  # fmt: skip
            child = self._child(request, scratch)
            return _read(child, outputs)

    def _child(self, request: Mapping[str, Any], scratch: Path) -> ChildResult:
        name = functional_child.__name__
        try:
            return run_child(name, request, scratch=scratch, limits=self._limits)
        except OSError as error:
            raise DeviceLost(f"no child could be started: {error}") from error


def _examples(inputs: Sequence[InputSpec]) -> list[Mapping[str, Array]]:
    return [draw_trial(inputs, EXAMPLE_SEED, Trial("normal", 0))]


def _read(child: ChildResult, outputs: IO[bytes]) -> Simulated:
    """Believe nothing that was not read and checked here."""
    if child.result is None:
        return Simulated((_ended(child),), child=child)
    outputs.seek(0)
    try:
        trials = child.result["trials"]
        findings = [FINDINGS.validate_python(each["findings"]) for each in trials]
        arrays = tuple(tuple(read_arrays(outputs, each["outputs"])) for each in trials)
        read = [frozenset(map(str, each["inputs_read"])) for each in trials]
        estimate = ESTIMATE.validate_python(child.result.get("estimate"))
    except (Unreadable, ValidationError, KeyError, TypeError) as error:
        broken = replace(child, outcome="no_result", detail=f"its result is unreadable: {error}")
        return Simulated((_ended(broken),), child=child)
    every = tuple(dict.fromkeys(each for one in findings for each in one))
    return Simulated(every, arrays, frozenset.intersection(*read), estimate, child)


def _ended(child: ChildResult) -> Finding:
    """A child that did not end well is the candidate's doing until shown otherwise."""
    return Finding(
        code=f"err_{child.outcome}", asked=f"the candidate's process: {child.detail}",
        allowed="a run that ends by itself, within the limits, and returns its outputs",
        fix="make the kernel smaller or simpler; it may not end, replace or outgrow its process",
    )  # fmt: skip


def _check(name: str, stage: Stage, findings: tuple[Finding, ...], passed: str) -> Check:
    errors = [each for each in findings if each.severity == "error"]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    detail = errors[0].sentence() + more if errors else passed
    result = "failed" if errors else "passed"
    return Check(name=name, stage=stage, result=result, detail=detail, findings=findings)


def _repeats(check: Check, first: Sequence[Array], again: Sequence[Array]) -> Check:
    same = len(first) == len(again) and all(map(_identical, first, again))
    if same:
        return check
    finding = Finding(
        code="err_not_repeatable", asked="two runs on the same inputs gave different bits",
        allowed="outputs that depend on the inputs alone",
        fix="write every element of each output; read nothing that was not written",
    )  # fmt: skip
    return check.model_copy(
        update={"result": "failed", "detail": finding.sentence(), "findings": (finding,)}
    )


def _identical(one: Array, other: Array) -> bool:
    same_kind = one.shape == other.shape and one.dtype == other.dtype
    return same_kind and bool(np.array_equal(_bits(one), _bits(other)))


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
