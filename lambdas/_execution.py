"""The state machine as ports: starting jobs, and returning task tokens."""

import boto3

from lambdas._settings import Serving
from nkiport.adapters.step_functions import StepFunctionsExecutions, StepFunctionsTokens


def executions(settings: Serving) -> StepFunctionsExecutions:
    """Wire the machine that runs jobs."""
    return StepFunctionsExecutions(settings.state_machine_arn, boto3.client("stepfunctions"))


def tokens() -> StepFunctionsTokens:
    """Wire the callbacks into waiting executions."""
    return StepFunctionsTokens(boto3.client("stepfunctions"))
