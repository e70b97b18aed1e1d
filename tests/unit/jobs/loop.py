"""A job with one kernel past gate 2, as the steps of the loop find it."""

import hashlib
import io
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nkiport.adapters.memory import Artifacts, Records
from nkiport.contracts import keys
from nkiport.contracts.capture import Capture, Reference
from nkiport.contracts.graph import Graph, Node, Ref
from nkiport.contracts.jobs import Attempt, Delivery, Job, JobRequest, Kernel, KeySource
from nkiport.contracts.judgement import Oracle, Requirements, Seed
from nkiport.contracts.tensors import InputSpec, TensorSpec

JOB, KERNEL = "job-12345678", "relu-1"
START = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
DIGEST = "a" * 64
SOURCE = b"class Model: ...\n"
INPUTS = (InputSpec(name="x", shape=(4, 8)),)
OUTPUTS = (TensorSpec(name="out", shape=(4, 8)),)
REFERENCE = Reference(kind="module", file="model.py", symbol="Model")


@dataclass
class Clock:
    """A clock that a test sets."""

    time: datetime = START

    def now(self):
        return self.time

    def pass_minutes(self, minutes):
        self.time += timedelta(minutes=minutes)


@dataclass
class World:
    """The stores and the clock of one test."""

    records: Records = field(default_factory=Records)
    artifacts: Artifacts = field(default_factory=Artifacts)
    clock: Clock = field(default_factory=Clock)

    @property
    def ports(self):
        return {"records": self.records, "artifacts": self.artifacts, "clock": self.clock}

    @property
    def stores(self):
        return {"records": self.records, "artifacts": self.artifacts}

    def attempt(self, number=1, kernel_id=KERNEL):
        return self.records.get(Attempt, f"JOB#{JOB}", f"ATTEMPT#{kernel_id}#{number:04d}")

    def kernel(self, kernel_id=KERNEL):
        return self.records.get(Kernel, f"JOB#{JOB}", f"KERNEL#{kernel_id}")

    def judged(self, number, stage, digest="", **more):
        """Record how the judge ended an attempt."""
        update = {"status": "judged", "failed_stage": stage, "failure_digest": digest, **more}
        self.records.replace(self.attempt(number).model_copy(update=update))


def graph(op="aten.relu.default"):
    node = Node(name="y", op=op, args=(Ref(ref="x"),), shape=(4, 8))
    return Graph(inputs=INPUTS, nodes=(node,), outputs=(Ref(ref="y"),))


def packed(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def world(*, op="aten.relu.default", backend="auto", limits=None, repository=None):
    """A job whose one kernel waits to be planned."""
    made = World()
    delivery = Delivery(github_repository=repository)
    request = JobRequest(source=KeySource(key="uploads/x.zip"), backend=backend, delivery=delivery)
    made.records.add(
        Job(job_id=JOB, request=request, request_sha256=DIGEST, created=START, updated=START,
            deadline=START + timedelta(hours=72))
    )  # fmt: skip
    made.artifacts.put(keys.source(JOB), packed({"model.py": SOURCE}))
    add_kernel(made, KERNEL, op=op, limits=limits or Requirements())
    return made


def add_kernel(made, kernel_id, *, op="aten.relu.default", limits=None):
    """Another kernel of the same job."""
    made.records.add(
        Kernel(job_id=JOB, kernel_id=kernel_id, name="Relu", kind="module", file="model.py",
               line=1, status="captured", reference=REFERENCE)
    )  # fmt: skip
    capture = Capture(reference=REFERENCE, source_sha256=DIGEST, inputs=INPUTS, outputs=OUTPUTS,
                      graph=graph(op))  # fmt: skip
    made.artifacts.put(keys.capture(JOB, kernel_id), capture.model_dump_json().encode())
    seed = Seed(seed=7, nonce="n")
    commitment = hashlib.sha256(seed.model_dump_json().encode()).hexdigest()
    oracle = Oracle(job_id=JOB, kernel_id=kernel_id, source_sha256=DIGEST, reference=REFERENCE,
                    inputs=INPUTS, outputs=OUTPUTS, requirements=limits or Requirements(),
                    seed_commitment=commitment)  # fmt: skip
    made.artifacts.put(keys.oracle(JOB, kernel_id), oracle.model_dump_json().encode())
    made.artifacts.put(keys.seed(JOB, kernel_id), seed.model_dump_json().encode())
