"""One sealed oracle for all cheats: relu(x * weight + bias), with everything redrawn."""

import hashlib
from dataclasses import dataclass, field
from itertools import count

import pytest

from nkiport.contracts import keys
from nkiport.contracts.jobs import Attempt
from nkiport.contracts.judgement import Requirements
from nkiport.engines import FunctionalEngine
from nkiport.local.loop import JOB, KERNEL, Bench
from nkiport.sandbox import Limits

REFERENCE = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(96))
        self.bias = torch.nn.Parameter(torch.zeros(96))

    def forward(self, x):
        return torch.relu(x * self.weight + self.bias)


def get_inputs():
    return [torch.randn(200, 96)]
"""


@dataclass
class Court:
    """Judges candidates one after the other, each as a new attempt."""

    bench: Bench
    numbers: count = field(default_factory=lambda: count(1))

    def judge(self, source):
        number, data = next(self.numbers), source.encode()
        key = keys.candidate(JOB, KERNEL, number)
        self.bench.artifacts.put(key, data)
        self.bench.records.add(
            Attempt(
                job_id=JOB, kernel_id=KERNEL, attempt=number, backend="claude", why="a cheat",
                status="generated", candidate_key=key,
                candidate_sha256=hashlib.sha256(data).hexdigest(),
            )
        )  # fmt: skip
        return self.bench.attempt(number)


@pytest.fixture(scope="session")
def court(tmp_path_factory):
    file = tmp_path_factory.mktemp("reference") / "relu.py"
    file.write_text(REFERENCE)
    limits = Limits(wall_seconds=8, cpu_seconds=8)
    bench = Bench(told=lambda _line: None, engine=FunctionalEngine(limits=limits))
    bench.begin(file, "recipes", "trn1", Requirements())
    return Court(bench)
