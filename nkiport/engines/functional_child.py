"""What the functional engine's child does: simulate a candidate. Runs inside the sandbox."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nkiport.sandbox.buffers import read_trials, write_arrays
from nkiport.simulator import Candidate, Options, Simulation, estimate


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """Simulate every trial in ``inputs.bin`` until one fails; outputs go to ``outputs.bin``.

    With ``twice``, the first trial runs again with other values in fresh memory, and its outputs
    come last; with ``estimate``, the first trial's cost is added.
    """
    candidate = Candidate(request["source"], target=request["target"])
    answer: dict[str, Any] = {"trials": []}
    with Path("inputs.bin").open("rb") as given, Path("outputs.bin").open("r+b") as outputs:
        trials = read_trials(given, request["trials"])
        arrays = [dict(zip(request["names"], each, strict=True)) for each in trials]
        plan = [(each, "nan") for each in arrays]
        if request.get("twice"):
            plan.append((arrays[0], "zeros"))
        for inputs, fresh in plan:
            done = candidate.run(inputs, options=_options(request, fresh))
            answer["trials"].append(_told(done, write_arrays(outputs, done.outputs)))
            if not done.ok:
                break
            if request.get("estimate"):
                answer["estimate"] = asdict(estimate(done.trace, target=request["target"]))
    return answer


def _options(request: Mapping[str, Any], fresh: Any) -> Options:
    return Options(fresh=fresh, max_seconds=request["seconds"])


def _told(done: Simulation, outputs: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "findings": [each.model_dump(mode="json") for each in done.findings],
        "outputs": outputs,
        "inputs_read": list(done.inputs_read),
    }
