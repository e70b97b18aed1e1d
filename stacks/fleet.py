"""The Trainium workers: a closed network, instances that come and go, and the worker on them."""

from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stacks.constructs.capacity import DeviceCapacity
from stacks.constructs.grants import may_work
from stacks.constructs.network import ClosedNetwork
from stacks.constructs.worker import DeviceWorker
from stacks.data import Data
from stacks.deployment import Deployment
from stacks.pipeline import Pipeline


class Fleet(Stack):
    """Not deployed locally: there the worker is a process with the functional engine."""

    def __init__(
        self, scope: Construct, *, deployment: Deployment, data: Data, pipeline: Pipeline
    ) -> None:
        super().__init__(scope, "Fleet")
        network = ClosedNetwork(self, "Network")
        self.worker = DeviceWorker(
            self,
            "Worker",
            deployment=deployment,
            network=network,
            capacity=DeviceCapacity(self, "Capacity", deployment=deployment, network=network),
            environment={
                "ARTIFACT_BUCKET": data.bucket.bucket_name,
                "TABLE_NAME": data.table.table_name,
                "DEVICE_QUEUE_URL": pipeline.devices.queue.queue_url,
                "STAGE": deployment.stage,
                "AWS_REGION": self.region,
            },
        )
        queue = pipeline.devices.queue
        may_work(self.worker, data, queue, pipeline.migration_job)
        self.waiting = _unfinished(queue)
        self.worker.follow(self.waiting)


def _unfinished(queue: sqs.IQueue) -> cloudwatch.MathExpression:
    """Messages that wait, and those that a worker has."""
    return cloudwatch.MathExpression(
        expression="waiting + working",
        using_metrics={
            "waiting": queue.metric_approximate_number_of_messages_visible(statistic="Maximum"),
            "working": queue.metric_approximate_number_of_messages_not_visible(statistic="Maximum"),
        },
        period=Duration.minutes(1),
        label="device work, waiting or under way",
    )
