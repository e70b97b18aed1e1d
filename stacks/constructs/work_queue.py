"""A queue whose poisoned messages end in a dead-letter queue of its own."""

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct


class WorkQueue(Construct):
    """``queue`` and ``dead_letters``, both encrypted and refusing plain HTTP."""

    def __init__(
        self, scope: Construct, name: str, *, visibility: Duration, retention: Duration
    ) -> None:
        super().__init__(scope, name)
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            retention_period=Duration.days(14),
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            visibility_timeout=visibility,
            retention_period=retention,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=4),
        )
