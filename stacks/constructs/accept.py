"""Accepting a cdk-nag finding: for one construct, with the reason."""

from aws_cdk import Acknowledgment, CfnElement, Stack, Validations
from constructs import IConstruct

PREFIX = "AwsSolutions-"


def accept(construct: IConstruct, reason: str, *findings: str) -> None:
    """Accept findings (``"IAM5[Action::s3:*]"``, without the pack's prefix) of one construct."""
    Validations.of(construct).acknowledge(
        *(Acknowledgment(id=PREFIX + finding, reason=reason) for finding in findings)
    )


def accept_under(
    construct: IConstruct, reason: str, resource: IConstruct, *endings: str, attribute: str = "Arn"
) -> None:
    """Accept a policy on everything under a resource: ``<its ARN>/jobs/*``."""
    arn = _as_nag_writes(construct, resource, attribute)
    accept(construct, reason, *(f"IAM5[Resource::{arn}{ending}]" for ending in endings))


def _as_nag_writes(construct: IConstruct, resource: IConstruct, attribute: str) -> str:
    """A reference inside the stack as ``<Id.Arn>``, one to another stack by its export."""
    element = resource.node.default_child or resource
    if not isinstance(element, CfnElement):
        raise TypeError(f"{resource.node.path} has no CloudFormation resource of its own")
    owner = element.stack
    if owner == Stack.of(construct):
        return f"<{owner.get_logical_id(element)}.{attribute}>"
    value = owner.export_value(element.get_att(attribute))  # type: ignore[attr-defined]
    exported: str = owner.resolve(value)["Fn::ImportValue"]
    return exported
