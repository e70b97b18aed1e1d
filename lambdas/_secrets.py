"""Secrets, read once for each container."""

import json
from typing import Any

import boto3


def secret(arn: str, *, client: Any = None) -> str:
    """A secret that is plain text."""
    reader = client or boto3.client("secretsmanager")
    return str(reader.get_secret_value(SecretId=arn)["SecretString"])


def secret_field(arn: str, field: str, *, client: Any = None) -> str:
    """One field of a secret that is a JSON object; empty if the field is not there."""
    return str(json.loads(secret(arn, client=client)).get(field, ""))
