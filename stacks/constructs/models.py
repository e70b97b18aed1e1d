"""Which models a function may call."""

from aws_cdk import ArnFormat, Stack
from constructs import Construct

from stacks.constructs.accept import accept
from stacks.constructs.step_lambda import StepLambda
from stacks.deployment import Deployment

# https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
GEOGRAPHIES = ("us.", "eu.", "apac.", "global.")


def may_call_models(step: StepLambda, deployment: Deployment) -> None:
    """Let a step call the configured models."""
    arns = model_arns(step, deployment)
    step.may(["bedrock:InvokeModel"], *arns)
    shown = arns[0].replace(Stack.of(step).partition, "<AWS::Partition>")
    accept(step.role, "a profile routes to its regions as it likes", f"IAM5[Resource::{shown}]")


def model_arns(scope: Construct, deployment: Deployment) -> list[str]:
    """The configured Claude model, through its inference profile or directly, and the specialist.

    A profile may route to any region of its geography, so the model is named in all of them.
    """
    model = deployment.claude_model_id
    routed = next((prefix for prefix in GEOGRAPHIES if model.startswith(prefix)), "")
    stack = Stack.of(scope)
    arns = [f"arn:{stack.partition}:bedrock:*::foundation-model/{model.removeprefix(routed)}"]
    if routed:
        arns.append(
            stack.format_arn(
                service="bedrock",
                resource="inference-profile",
                resource_name=model,
                arn_format=ArnFormat.SLASH_RESOURCE_NAME,
            )
        )
    return [*arns, deployment.qwen_cmi_arn] if deployment.qwen_cmi_arn else arns
