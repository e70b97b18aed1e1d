"""One message: keep it, beat, work, return the token, and only then delete it."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from nkiport.contracts.errors import Conflict, DeviceLost, NkiportError
from nkiport.contracts.jobs import ENDED, Job, WorkEntry
from nkiport.contracts.steps import DeviceResult, DeviceStep, DeviceTask
from nkiport.jobs.ports import Records, TaskTokens

logger = logging.getLogger(__name__)
Step = Callable[[DeviceTask], DeviceResult]


class Taken(Protocol):
    """A message of the device queue."""

    @property
    def body(self) -> str:
        """The task as JSON."""
        ...


class Queue(Protocol):
    """The device queue, as a worker sees it."""

    def take(self) -> Taken | None:
        """The next message, or None."""
        ...

    def keep(self, message: Taken, seconds: int) -> None:
        """Hide the message for that long."""
        ...

    def done(self, message: Taken) -> None:
        """Delete the message."""
        ...


@dataclass(frozen=True)
class Worker:
    """What a worker needs of the world."""

    queue: Queue
    tokens: TaskTokens
    records: Records
    steps: Mapping[DeviceStep, Step]
    beat_seconds: float = 10
    keep_seconds: int = 30
    """A worker that dies gives its message back after this."""


def run_once(worker: Worker) -> bool:
    """Take one message and see it through; False if there was none.

    A message that cannot be read is left for the dead-letter queue. A task that nobody waits for
    any more, or whose answer was given already, is dropped without being worked.
    """
    message = worker.queue.take()
    if message is None:
        return False
    try:
        task = DeviceTask.model_validate_json(message.body)
    except ValidationError:
        logger.exception("a message that is no task was left in the queue")
        return True
    if _wanted(worker, task):
        with _beating(worker, message, task):
            outcome = _worked(worker, task)
        _returned(worker, task, outcome)
    worker.queue.done(message)
    return True


def _wanted(worker: Worker, task: DeviceTask) -> bool:
    """Nobody waits for the work of a job that was cancelled, or for an answer that was given."""
    job = worker.records.get(Job, f"JOB#{task.job_id}", "JOB")
    if job is not None and job.status in ENDED:
        return False
    try:
        worker.tokens.beat(task.task_token)
    except Conflict:
        logger.info("the token of %s %s was spent already", task.kernel_id, task.step)
        return False
    return True


def _worked(worker: Worker, task: DeviceTask) -> DeviceResult | NkiportError:
    """Run the step. Our own errors go back by name; any other is a defect, and ``DeviceLost``."""
    named = {"job_id": task.job_id, "kernel_id": task.kernel_id, "step": task.step}
    try:
        result = worker.steps[task.step](task)
    except NkiportError as trouble:
        logger.warning("%s", trouble, extra=named)
        return trouble
    except Exception as defect:
        logger.exception("the worker has a defect", extra=named)
        return DeviceLost(f"{type(defect).__name__}: {defect}")
    logger.info("%s %s %s", task.kernel_id, task.step, result.outcome, extra=named)
    worker.records.add(
        WorkEntry(
            job_id=task.job_id, kernel_id=task.kernel_id, step=task.step, attempt=task.attempt,
            seconds=result.seconds,
        )
    )  # fmt: skip
    return result


def _returned(worker: Worker, task: DeviceTask, outcome: DeviceResult | NkiportError) -> None:
    try:
        if isinstance(outcome, DeviceResult):
            worker.tokens.succeed(task.task_token, outcome.model_dump(mode="json"))
        else:
            worker.tokens.fail(task.task_token, type(outcome).__name__, str(outcome))
    except Conflict:
        logger.info("the token of %s %s was spent already", task.kernel_id, task.step)


@contextmanager
def _beating(worker: Worker, message: Taken, task: DeviceTask) -> Iterator[None]:
    """Keep the message and beat while the body runs."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(worker.beat_seconds):
            try:
                worker.tokens.beat(task.task_token)
                worker.queue.keep(message, worker.keep_seconds)
            except Conflict:
                return
            except Exception:
                logger.exception("a heartbeat was not taken")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
