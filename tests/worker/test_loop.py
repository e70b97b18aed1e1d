"""One message at a time: work, token, delete, in this order, whatever happens."""

from dataclasses import dataclass, field

import pytest

from nkiport.adapters.memory import Records
from nkiport.contracts.errors import Conflict, DeviceBusy
from nkiport.contracts.jobs import WorkEntry
from nkiport.contracts.steps import DeviceResult, DeviceTask
from nkiport.engines import FunctionalEngine
from tests.ports.test_records import job
from trn_worker.canary import canary
from trn_worker.loop import Worker, run_once

TASK = DeviceTask(
    job_id="job-00000001", kernel_id="k", step="verify", task_token="token", attempt=1
)


@dataclass
class Message:
    body: str


@dataclass
class World:
    """A queue and the tokens, which write down what is done to them in order."""

    messages: list = field(default_factory=list)
    done_: list = field(default_factory=list)
    spent: set = field(default_factory=set)

    def take(self):
        return self.messages[0] if self.messages else None

    def keep(self, message, seconds):
        self.done_.append(("kept", seconds))

    def done(self, message):
        self.messages.remove(message)
        self.done_.append(("deleted",))

    def succeed(self, token, output):
        self._spend(token)
        self.done_.append(("succeeded", output["outcome"]))

    def fail(self, token, error, cause):
        self._spend(token)
        self.done_.append(("failed", error, cause))

    def beat(self, token):
        if token in self.spent:
            raise Conflict("spent")

    def _spend(self, token):
        if token in self.spent:
            raise Conflict("spent")
        self.spent.add(token)


@pytest.fixture
def world():
    return World([Message(TASK.model_dump_json())])


@pytest.fixture
def records():
    return Records()


def passed(task):
    return DeviceResult(**task.model_dump(exclude={"task_token"}), outcome="passed", seconds=1.5)


def worker(world, records, step=passed, **more):
    return Worker(queue=world, tokens=world, records=records, steps={"verify": step}, **more)


def test_a_task_is_worked_its_token_returned_and_only_then_the_message_deleted(world, records):
    assert run_once(worker(world, records))

    assert world.done_ == [("succeeded", "passed"), ("deleted",)]
    assert [w.seconds for w in records.query(WorkEntry, "JOB#job-00000001", "WORK#")] == [1.5]
    assert not run_once(worker(world, records))


def test_a_message_that_comes_twice_is_worked_once(world, records):
    worked = []

    def step(task):
        worked.append(task)
        return passed(task)

    world.messages.append(Message(TASK.model_dump_json()))

    run_once(worker(world, records, step))
    run_once(worker(world, records, step))

    assert len(worked) == 1
    assert world.done_ == [("succeeded", "passed"), ("deleted",), ("deleted",)]
    assert len(records.query(WorkEntry, "JOB#job-00000001", "WORK#")) == 1


def test_an_answer_that_another_worker_gave_meanwhile_stands(world, records):
    def overtaken(task):
        world.spent.add(task.task_token)
        return passed(task)

    run_once(worker(world, records, overtaken))

    assert world.done_ == [("deleted",)]


def test_a_token_that_cannot_be_asked_about_leaves_the_message_to_come_again(world, records):
    def unreachable(_token):
        raise ConnectionError("no way there")

    world.beat = unreachable

    with pytest.raises(ConnectionError):
        run_once(worker(world, records))
    assert world.messages
    assert world.done_ == []


def test_our_own_trouble_goes_back_by_its_name(world, records):
    def busy(_task):
        raise DeviceBusy("no device was free")

    run_once(worker(world, records, busy))

    assert world.done_ == [("failed", "DeviceBusy", "no device was free"), ("deleted",)]


def test_a_defect_of_the_worker_is_a_lost_device_with_its_message(world, records):
    def defect(_task):
        raise ZeroDivisionError("oh")

    run_once(worker(world, records, defect))

    assert world.done_[0] == ("failed", "DeviceLost", "ZeroDivisionError: oh")


def test_nobody_works_for_a_cancelled_job(world, records):
    records.add(job().model_copy(update={"status": "cancelled"}))

    run_once(worker(world, records, lambda _task: 1 / 0))

    assert world.done_ == [("deleted",)]


def test_a_message_that_is_no_task_is_left_for_the_dead_letters(world, records):
    world.messages[:] = [Message("{}")]

    assert run_once(worker(world, records))

    assert world.messages
    assert world.done_ == []


def test_while_it_works_it_beats_and_keeps_its_message(world, records):
    import threading

    kept = threading.Event()

    def keep(message, seconds):
        world.done_.append(("kept", seconds))
        kept.set()

    def slow(task):
        assert kept.wait(10)
        return passed(task)

    world.beat = lambda _token: world.done_.append(("beat",))
    world.keep = keep
    run_once(worker(world, records, slow, beat_seconds=0.01, keep_seconds=7))

    assert world.done_[:3] == [("beat",), ("beat",), ("kept", 7)]
    assert world.done_[-1] == ("deleted",)


def test_the_canary_sings_for_an_engine_that_computes_and_not_for_one_that_does_not():
    class Zeros(FunctionalEngine):
        def run(self, source, trials, scratch):
            runs = super().run(source, trials, scratch)
            return type(runs)([[0 * runs.outputs[0][0]]], runs.check)

    assert canary(FunctionalEngine()) == ""
    assert canary(Zeros()) == "canary failed: the numbers are wrong"
