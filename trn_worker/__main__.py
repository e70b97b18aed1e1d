"""Poll until told to stop: ``python -m trn_worker``, configured by the environment."""

import logging
import os
import signal
import sys
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import boto3

from nkiport.adapters.dynamodb_records import DynamoRecords
from nkiport.adapters.s3_artifacts import S3Artifacts
from nkiport.adapters.sqs_device_queue import SqsDeviceQueue
from nkiport.adapters.step_functions import StepFunctionsTokens
from nkiport.capture import ChildReferences
from nkiport.engines import FunctionalEngine
from nkiport.jobs.capture import capture
from nkiport.jobs.device import compile_candidate, profile_candidate, verify_candidate
from nkiport.judge.draws import Trials
from trn_worker.canary import canary
from trn_worker.loop import Worker, run_once

logger = logging.getLogger("trn_worker")
CANARY_SECONDS = 3600
PAUSE_SECONDS = 5
"""After a poll that raised: the queue or the network is away."""


def worker(env: Mapping[str, str]) -> tuple[Worker, FunctionalEngine]:
    """Wire a worker from ``ARTIFACT_BUCKET``, ``TABLE_NAME`` and ``DEVICE_QUEUE_URL``."""
    stores: dict[str, Any] = {
        "artifacts": S3Artifacts(env["ARTIFACT_BUCKET"], boto3.client("s3")),
        "records": DynamoRecords(env["TABLE_NAME"], boto3.client("dynamodb")),
    }
    engine, references = FunctionalEngine(), ChildReferences()
    device = {**stores, "engine": engine, "references": references, "inputs": Trials()}
    steps: dict[Any, Any] = {
        "capture": partial(capture, **stores, references=references),
        "compile": partial(compile_candidate, **device),
        "verify": partial(verify_candidate, **device),
        "profile": partial(profile_candidate, **device),
    }
    local = env.get("STAGE") == "local"
    queue = SqsDeviceQueue(
        env["DEVICE_QUEUE_URL"], boto3.client("sqs"), wait_seconds=1 if local else 20
    )
    ready = Worker(
        queue=queue,  # type: ignore[arg-type]  # a message is a Taken
        tokens=StepFunctionsTokens(boto3.client("stepfunctions")),
        records=stores["records"],
        steps=steps,
        keep_seconds=30 if local else 120,
    )
    return ready, engine


def main() -> int:
    """Work until SIGTERM; the message in hand is seen through."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    stopping: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, _frame: stopping.append(number))
    ready, engine = worker(os.environ)
    sung = 0.0
    while not stopping:
        if time.monotonic() - sung > CANARY_SECONDS or not sung:
            wrong = canary(engine)
            if wrong:
                logger.error("%s", wrong)
                return 1
            sung = time.monotonic()
        try:
            run_once(ready)
        except Exception:
            logger.exception("the queue could not be polled")
            time.sleep(PAUSE_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
