"""The two questions: asked once, answered once, by whoever has the right link."""

import random
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from nkiport.adapters.memory import Artifacts, Records
from nkiport.contracts import keys
from nkiport.contracts.capture import Capture, Reference
from nkiport.contracts.errors import BadRequest, Conflict, NotFound, StaleLink
from nkiport.contracts.graph import Graph, Node, Ref
from nkiport.contracts.jobs import Gate, Job, Kernel
from nkiport.contracts.judgement import Oracle, Requirements, Seed, Tolerance
from nkiport.contracts.steps import GateAnswer, OpenGateRequest
from nkiport.contracts.tensors import InputSpec, TensorSpec
from nkiport.jobs.gates import answer_gate, open_gate
from nkiport.jobs.links import GateLinks
from nkiport.judge.evidence import commitment
from tests.ports.test_records import job, kernel
from tests.unit.jobs.loop import START, Clock

JOB = "job-00000001"
DAY = 24 * 3600


@dataclass
class World:
    """A job with two found kernels, and what was told and returned."""

    records: Records = field(default_factory=Records)
    artifacts: Artifacts = field(default_factory=Artifacts)
    clock: Clock = field(default_factory=Clock)
    links: GateLinks = field(default_factory=lambda: GateLinks("secret", "https://x/"))
    mails: list = field(default_factory=list)
    returned: list = field(default_factory=list)
    refuses: bool = False

    def __post_init__(self):
        self.records.add(job())
        for name in ("a", "b"):
            self.records.add(kernel(name))

    def tell(self, _job, gate, link):
        self.mails.append((gate.gate, link))

    def succeed(self, token, output):
        if self.refuses or token in [t for t, _ in self.returned]:
            raise Conflict("spent")
        self.returned.append((token, output))

    def open(self, gate="scope", token="token", seconds=DAY):
        request = OpenGateRequest(job_id=JOB, gate=gate, task_token=token, timeout_seconds=seconds)
        open_gate(request, records=self.records, notices=self, links=self.links, clock=self.clock)

    def answer(self, gate="scope", decision="approved", **more):
        return answer_gate(
            GateAnswer(job_id=JOB, gate=gate, decision=decision, **more), records=self.records,
            artifacts=self.artifacts, tokens=self, clock=self.clock, entropy=random.Random(1),
        )  # fmt: skip

    @property
    def job(self):
        return self.records.get(Job, f"JOB#{JOB}", "JOB")


X = InputSpec(name="x", shape=(128, 256))
CAPTURE = Capture(
    reference=Reference(kind="module", file="model.py", symbol="Model"),
    source_sha256="0" * 64,
    inputs=(X,),
    outputs=(TensorSpec(name="y", shape=X.shape),),
    graph=Graph(
        inputs=(X,),
        nodes=(Node(name="y", op="aten.relu.default", args=(Ref(ref="x"),), shape=X.shape),),
        outputs=(Ref(ref="y"),),
    ),
    flops=128 * 256,
    bytes_moved=2 * 4 * 128 * 256,
)


@pytest.fixture
def world():
    return World()


def captured(world, *names):
    for name in names:
        found = world.records.get(Kernel, f"JOB#{JOB}", f"KERNEL#{name}")
        world.records.replace(found.model_copy(update={"status": "captured"}))
        data = CAPTURE.model_dump_json().encode()
        world.artifacts.put(keys.capture(JOB, name), data)


def test_an_open_gate_waits_and_tells_a_person_once_where_to_answer(world):
    world.open()

    assert (world.job.status, world.job.found) == ("waiting_scope", 2)
    ((gate, link),) = world.mails
    assert gate == "scope"
    linked = world.links.read(link.rsplit("/", 1)[1], world.clock.now())
    assert (linked.job_id, linked.gate) == (JOB, "scope")


def test_an_approval_goes_on_with_the_kernels_chosen(world):
    world.open()

    world.answer(kernels=("b",), answered_by="me")

    ((token, output),) = world.returned
    assert (token, output["decision"], output["kernels"]) == ("token", "approved", ["b"])
    assert world.job.status == "capturing"


def test_the_first_answer_holds(world):
    world.open()
    world.answer(answered_by="first")

    with pytest.raises(Conflict, match="already approved by first"):
        world.answer(decision="rejected", answered_by="second")
    assert len(world.returned) == 1


def test_an_answer_whose_token_was_not_returned_is_completed_by_the_next_try(world):
    world.open()
    world.refuses = True
    with pytest.raises(Conflict):
        world.answer()
    world.refuses = False

    assert world.answer().status == "approved"
    assert len(world.returned) == 1


def test_kernels_that_are_not_there_are_all_named(world):
    world.open()

    with pytest.raises(BadRequest, match="kernels x, y cannot be chosen; there are: a, b"):
        world.answer(kernels=("x", "a", "y"))
    assert world.returned == []


def test_what_was_never_asked_or_is_over_takes_no_answer(world):
    with pytest.raises(NotFound, match="no scope gate yet"):
        world.answer()
    world.open(seconds=60)
    world.clock.time = START + timedelta(seconds=61)
    with pytest.raises(Conflict, match="expired at"):
        world.answer()
    ended = world.job.model_copy(update={"status": "cancelled"})
    world.records.replace(ended)
    with pytest.raises(Conflict, match="ended as 'cancelled'"):
        world.answer()


def test_the_second_gate_seals_each_oracle_with_its_requirements_and_a_committed_seed(world):
    captured(world, "a", "b")
    world.open("requirements")
    strict = Requirements(tolerance=Tolerance(atol=1e-6, rtol=1e-6))

    world.answer("requirements", kernels=("a",), requirements=strict)

    oracle = Oracle.model_validate_json(world.artifacts.get(keys.oracle(JOB, "a")))
    seed = Seed.model_validate_json(world.artifacts.get(keys.seed(JOB, "a")))
    assert oracle.requirements == strict
    assert oracle.seed_commitment == commitment(seed)
    assert str(seed.seed) not in world.artifacts.get(keys.oracle(JOB, "a")).decode()
    assert world.artifacts.keys(f"sealed/{JOB}/b") == []


def test_an_oracle_once_sealed_never_changes(world):
    captured(world, "a")
    world.open("requirements")
    world.answer("requirements", kernels=("a",))
    sealed = world.artifacts.get(keys.oracle(JOB, "a"))
    gate = world.records.get(Gate, f"JOB#{JOB}", "GATE#requirements")
    world.records.replace(gate.model_copy(update={"status": "open", "task_token": "other"}))

    loose = Requirements(tolerance=Tolerance(atol=1.0, rtol=1.0))
    world.answer("requirements", kernels=("a",), requirements=loose)

    assert world.artifacts.get(keys.oracle(JOB, "a")) == sealed


@pytest.mark.parametrize(
    "spoil",
    [
        lambda token: token[:-2],
        lambda token: "x" + token,
        lambda token: token.split(".")[0],
        lambda token: "",
        lambda token: GateLinks("other").token(JOB, "scope", START + timedelta(days=1)),
    ],
)
def test_a_link_that_is_forged_or_cut_is_stale(spoil):
    links = GateLinks("secret")
    token = links.token(JOB, "scope", START + timedelta(days=1))

    assert links.read(token, START).gate == "scope"
    with pytest.raises(StaleLink):
        links.read(spoil(token), START)
    with pytest.raises(StaleLink, match="expired"):
        links.read(token, START + timedelta(days=2))
