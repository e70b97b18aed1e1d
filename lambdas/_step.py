"""What every Lambda has around it, once: the only module that knows Powertools.

A handler names its request and wires its ports; here the event is validated, every log line gets
the job's id, the segment and the outcome are recorded, and only our own error names leave.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar, cast

from aws_lambda_powertools import Logger, Metrics, Tracer
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.parser import ValidationError, parse
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas._trouble import worded
from nkiport.contracts.base import Contract
from nkiport.contracts.errors import BadRequest

Q = TypeVar("Q", bound=Contract)
R = TypeVar("R", bound=Contract)
Build = Callable[[Mapping[str, str]], Callable[[Q], R]]
Handler = Callable[[dict[str, Any], LambdaContext], Any]
LOGGED = ("job_id", "kernel_id", "attempt")


def step(request: type[Q], build: Build[Q, R]) -> Handler:
    """Make a Lambda handler of a step; ``build`` wires its ports once for each container."""
    logger = Logger()
    metrics = Metrics()
    wired = cache(lambda: build(os.environ))

    def handle(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
        with _counted(metrics) as outcomes:
            message = parsed(request, worded(event))
            logger.append_keys(**_logged(message))
            result = wired()(message)
            outcomes.append(str(getattr(result, "outcome", "done")))
            logger.info("ended", extra={"outcome": outcomes[-1]})
        return result.model_dump(mode="json")

    return _observed(handle, logger, metrics)


def consumer(
    request: type[Q], build: Callable[[Mapping[str, str]], Callable[[Q], None]]
) -> Handler:
    """Make a handler of a queue's messages: each done once, a bad one returned alone.

    A message that comes twice is not done twice, for what it does outside our records (a mail)
    could not be undone.
    """
    logger = Logger()
    metrics = Metrics()
    config = IdempotencyConfig(expires_after_seconds=24 * 3600)
    wired = cache(lambda: _once(build(os.environ), request, config))
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)

    def one(record: SQSRecord) -> None:
        with _counted(metrics) as outcomes:
            message = parsed(request, record.json_body)
            logger.append_keys(**_logged(message))
            wired()(message=message.model_dump(mode="json"))
            outcomes.append("done")
            logger.info("ended")

    def handle(event: dict[str, Any], context: LambdaContext) -> Any:
        config.register_lambda_context(context)
        return process_partial_response(event, one, processor, context)

    return _observed(handle, logger, metrics)


def parsed(request: type[Q], event: Any) -> Q:
    """Validate an event, or raise ``BadRequest`` with every finding."""
    try:
        return parse(event, request)
    except ValidationError as invalid:
        found = [
            f"{'.'.join(map(str, error['loc'])) or 'event'}: {error['msg']}"
            for error in invalid.errors()
        ]
        raise BadRequest(f"{request.__name__}: {'; '.join(found)}") from invalid


@contextmanager
def _counted(metrics: Metrics) -> Iterator[list[str]]:
    """Count the outcome that the body appends last, or ``raised``."""
    outcomes = ["raised"]
    try:
        yield outcomes
    finally:
        metrics.add_metric(name=outcomes[-1], unit=MetricUnit.Count, value=1)


def _observed(handle: Handler, logger: Logger, metrics: Metrics) -> Handler:
    observed: Any = Tracer().capture_lambda_handler(handle, capture_response=False)
    observed = logger.inject_lambda_context(observed, clear_state=True)
    return cast("Handler", metrics.log_metrics(observed, capture_cold_start_metric=True))


def _once(
    work: Callable[[Q], None], request: type[Q], config: IdempotencyConfig
) -> Callable[..., None]:
    store = DynamoDBPersistenceLayer(
        table_name=os.environ["TABLE_NAME"],
        key_attr="pk",
        sort_key_attr="sk",
        static_pk_value=f"ONCE#{request.__name__}",
        expiry_attr="ttl",
    )

    def once(message: dict[str, Any]) -> None:
        work(request.model_validate(message))

    decorated: Any = idempotent_function(
        once, data_keyword_argument="message", persistence_store=store, config=config
    )
    return cast("Callable[..., None]", decorated)


def _logged(message: Contract) -> dict[str, Any]:
    return {name: getattr(message, name) for name in LOGGED if hasattr(message, name)}
