"""Answer the job routes."""

import os
import secrets
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger, Tracer
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas._execution import executions, tokens
from lambdas._settings import Serving
from lambdas._wiring import stores
from lambdas.api.routes import Ports, application
from nkiport.adapters.memory import SystemClock

logger = Logger()
tracer = Tracer()


@cache
def ports() -> Ports:
    """Wire the stores and the machine, once for each container."""
    settings = Serving.from_env(os.environ)
    return Ports(
        **stores(settings),
        executions=executions(settings),
        tokens=tokens(),
        clock=SystemClock(),
        entropy=secrets.SystemRandom(),
    )


app = application(ports)


@tracer.capture_lambda_handler(capture_response=False)
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Resolve a request of API Gateway."""
    answer = app.resolve(event, context)
    logger.info("answered", extra={"path": event.get("path"), "status": answer["statusCode"]})
    return answer
