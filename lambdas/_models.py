"""The backends that the settings name."""

from collections.abc import Mapping
from typing import Final

import boto3
from botocore.config import Config

from lambdas._settings import Models
from nkiport.adapters.bedrock_model import BedrockModel
from nkiport.contracts.base import BackendName
from nkiport.generation import Backend, set_up

PATIENT: Final = Config(read_timeout=600, retries={"total_max_attempts": 1})
"""A long answer is waited for; a call that may have been billed is repeated by the machine alone,
after the ledger was asked."""


def backends(settings: Models) -> Mapping[BackendName, Backend]:
    """The rules, and Claude where a model is configured."""
    if not settings.claude_model_id:
        return set_up()
    client = boto3.client("bedrock-runtime", config=PATIENT)
    return set_up(claude=BedrockModel(settings.claude_model_id, client))
