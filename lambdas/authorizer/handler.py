"""Compare a bearer token with the secret: for deployments without IAM."""

import hmac
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from lambdas._secrets import secret
from lambdas._settings import Authorizing

OWNER = "local"


def decide(event: Mapping[str, Any], expected: str) -> dict[str, Any]:
    """A policy for the whole API: the answer is cached for every route of it."""
    given = str(event.get("authorizationToken", "")).removeprefix("Bearer ").strip()
    right = bool(expected) and hmac.compare_digest(given.encode(), expected.encode())
    every = "/".join(str(event["methodArn"]).split("/")[:2]) + "/*"
    statement = {
        "Action": "execute-api:Invoke",
        "Effect": "Allow" if right else "Deny",
        "Resource": every,
    }
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    return {"principalId": OWNER if right else "nobody", "policyDocument": policy}


def build(env: Mapping[str, str]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Read the token once."""
    expected = secret(Authorizing.from_env(env).api_token_secret_arn)
    return lambda event: decide(event, expected)


_wired = cache(lambda: build(os.environ))
logger = Logger()


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Answer API Gateway's token authorizer."""
    answer = _wired()(event)
    logger.info("authorised", extra={"principal": answer["principalId"]})
    return answer
