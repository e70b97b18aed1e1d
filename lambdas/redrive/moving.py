"""Moving messages by receive, send and delete: the emulator has no task of its own for that."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field

from nkiport.contracts.base import Contract

BATCH: Final = 10
"""As many as SQS hands out at once."""


class RedriveRequest(Contract):
    """Which queue's dead letters, and how many at most."""

    queue: Literal["gate", "device"]
    most: int = Field(default=100, ge=1, le=1000)


class RedriveResult(Contract):
    """How many went back."""

    moved: int


def redrive(
    request: RedriveRequest, *, ways: Mapping[str, tuple[str, str]], sqs: Any
) -> RedriveResult:
    """Move messages until there are no more, or as many as were asked for.

    A message is deleted only after it was sent, so a crash may send one twice and loses none.
    """
    dead, alive = ways[request.queue]
    moved = 0
    while moved < request.most:
        wanted = min(BATCH, request.most - moved)
        taken = sqs.receive_message(QueueUrl=dead, MaxNumberOfMessages=wanted).get("Messages", [])
        if not taken:
            break
        for message in taken:
            sqs.send_message(QueueUrl=alive, MessageBody=message["Body"])
            sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
        moved += len(taken)
    return RedriveResult(moved=moved)
