"""What the child does with a reference. Runs inside the sandbox; torch is imported only here."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nkiport.contracts.capture import Reference
from nkiport.contracts.errors import CaptureFailed
from nkiport.sandbox.buffers import read_trials, write_arrays


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """Capture, or run on given inputs; a reference that cannot is told in one sentence."""
    tree = Path("tree").resolve()
    reference = Reference.model_validate(request["reference"])
    sys.path[:0] = [str((tree / reference.file).parent), str(tree)]
    try:
        if request["mode"] == "capture":
            from nkiport.capture.export import captured

            return captured(reference, tree)
        return _goldens(reference, tree, request)
    except CaptureFailed as reason:
        return {"failed": str(reason)}


def _goldens(reference: Reference, tree: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """Outputs of every trial in every precision, written one after the other."""
    from nkiport.capture.callables import Runnable, from_torch, to_torch

    answer: dict[str, Any] = {}
    with Path("inputs.bin").open("rb") as given:
        trials = read_trials(given, request["trials"])
    with Path("outputs.bin").open("r+b") as outputs:
        for precision in request["precisions"]:
            answer[precision] = []
            run = Runnable(reference, tree)
            for arrays in trials:
                tensors = [to_torch(each, wide=precision == "float64") for each in arrays]
                named = list(zip(request["names"], tensors, strict=True))
                weights = {name: tensor for (name, role), tensor in named if role == "weight"}
                inputs = [tensor for (_, role), tensor in named if role == "input"]
                said = run(inputs, weights, wide=precision == "float64")
                answer[precision].append(write_arrays(outputs, map(from_torch, said)))
    return answer
