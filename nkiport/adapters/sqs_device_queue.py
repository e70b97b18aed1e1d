"""The device queue, as a worker sees it."""

from dataclasses import dataclass
from typing import Any

WAIT_SECONDS = 20
"""The longest a poll may wait: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""


@dataclass(frozen=True)
class Message:
    """One message: its body, and the receipt that deletes it."""

    body: str
    receipt: str


class SqsDeviceQueue:
    """Takes one message at a time; a message that is not deleted comes again."""

    def __init__(self, url: str, client: Any, *, wait_seconds: int = WAIT_SECONDS) -> None:
        self._url = url
        self._client = client
        self._wait = wait_seconds

    def take(self) -> Message | None:
        """The next message, or None if there was none for as long as a poll waits."""
        found = self._client.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=1, WaitTimeSeconds=self._wait
        )
        taken = found.get("Messages", [])
        return Message(taken[0]["Body"], taken[0]["ReceiptHandle"]) if taken else None

    def keep(self, message: Message, seconds: int) -> None:
        """Hide the message from other workers for that long from now."""
        self._client.change_message_visibility(
            QueueUrl=self._url, ReceiptHandle=message.receipt, VisibilityTimeout=seconds
        )

    def done(self, message: Message) -> None:
        """Delete the message."""
        self._client.delete_message(QueueUrl=self._url, ReceiptHandle=message.receipt)
