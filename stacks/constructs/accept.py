"""Accepting a cdk-nag finding: for one construct, with the reason."""

import json
from typing import Any

from aws_cdk import Acknowledgment, CfnResource, Stack, Validations
from aws_cdk import aws_stepfunctions as sfn
from constructs import IConstruct

PREFIX = "AwsSolutions-"


def accept(construct: IConstruct, reason: str, *findings: str) -> None:
    """Accept findings (``"IAM5[Action::s3:*]"``, without the pack's prefix) of one construct."""
    Validations.of(construct).acknowledge(
        *(Acknowledgment(id=PREFIX + finding, reason=reason) for finding in findings)
    )


def accept_under(construct: IConstruct, reason: str, resource: IConstruct, *endings: str) -> None:
    """Accept a policy on everything under a resource: ``<its ARN>/jobs/*``."""
    element = _element(resource)
    if element.stack == Stack.of(construct):
        arn = f"<{element.stack.get_logical_id(element)}.Arn>"
    else:
        arn = _export(element.stack, element.get_att("Arn"))
    accept(construct, reason, *(f"IAM5[Resource::{arn}{ending}]" for ending in endings))


def accept_executions(
    construct: IConstruct, reason: str, machine: sfn.StateMachine, *endings: str
) -> None:
    """Accept a policy on executions of a machine, whose names are made as it runs."""
    element = _element(machine)
    if element.stack == Stack.of(construct):
        arn = {"Ref": element.stack.get_logical_id(element)}
    else:
        arn = {"Fn::ImportValue": _export(element.stack, machine.state_machine_arn)}
    name = json.dumps({"Fn::Select": [6, {"Fn::Split": [":", arn]}]}, separators=(",", ":"))
    all_of = f"arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:{name}"
    accept(construct, reason, *(f"IAM5[Resource::{all_of}{ending}]" for ending in endings))


def _element(resource: IConstruct) -> CfnResource:
    element = resource.node.default_child
    if not isinstance(element, CfnResource):
        raise TypeError(f"{resource.node.path} has no CloudFormation resource of its own")
    return element


def _export(owner: Stack, value: Any) -> str:
    """Name the export by which another stack sees the value."""
    exported: str = owner.resolve(owner.export_value(value))["Fn::ImportValue"]
    return exported
