"""Step Functions: starting and stopping a job's execution, and returning task tokens."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError

from nkiport.contracts.base import JobId
from nkiport.contracts.errors import Conflict

SPENT = frozenset({"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"})
NOT_RUNNING = frozenset({"ExecutionDoesNotExist"})
MOST_CAUSE = 32_000
"""Characters of a cause: https://docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskFailure.html"""


class StepFunctionsExecutions:
    """The migration machine; an execution is named as its job."""

    def __init__(self, arn: str, client: Any) -> None:
        self._arn = arn
        self._client = client

    def start(self, job_id: JobId) -> None:
        """Start the job's execution; the name makes the second start nothing."""
        try:
            self._client.start_execution(
                stateMachineArn=self._arn, name=job_id, input=json.dumps({"job_id": job_id})
            )
        except self._client.exceptions.ExecutionAlreadyExists:
            return

    def stop(self, job_id: JobId, reason: str) -> None:
        """Stop it; what has ended or never ran stays as it is."""
        arn = f"{self._arn.replace(':stateMachine:', ':execution:')}:{job_id}"
        try:
            self._client.stop_execution(executionArn=arn, error="Cancelled", cause=reason[:500])
        except ClientError as error:
            if _code(error) not in NOT_RUNNING:
                raise


class StepFunctionsTokens:
    """Task tokens; one that is spent, late or unknown is a ``Conflict``."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def succeed(self, token: str, output: Mapping[str, Any]) -> None:
        """Return a result."""
        with _spent():
            self._client.send_task_success(taskToken=token, output=json.dumps(output))

    def fail(self, token: str, error: str, cause: str) -> None:
        """Return trouble, by its wire name."""
        with _spent():
            self._client.send_task_failure(taskToken=token, error=error, cause=cause[:MOST_CAUSE])

    def beat(self, token: str) -> None:
        """Say that the work goes on."""
        with _spent():
            self._client.send_task_heartbeat(taskToken=token)


@contextmanager
def _spent() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        if _code(error) in SPENT:
            raise Conflict("the task token was used already, or its task is over") from error
        raise


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
