"""Put dead letters back on the queue they came from, after what killed them was mended."""

from collections.abc import Callable, Mapping
from functools import partial

import boto3

from lambdas._settings import Redriving
from lambdas._step import step
from lambdas.redrive.moving import RedriveRequest, RedriveResult, redrive


def build(env: Mapping[str, str]) -> Callable[[RedriveRequest], RedriveResult]:
    """Wire both queues and their dead letters."""
    settings = Redriving.from_env(env)
    ways = {
        "gate": (settings.gate_dead_letters_url, settings.gate_queue_url),
        "device": (settings.device_dead_letters_url, settings.device_queue_url),
    }
    return partial(redrive, ways=ways, sqs=boto3.client("sqs"))


handler = step(RedriveRequest, build)
