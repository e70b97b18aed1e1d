"""The synthesized stacks of each stage, made once: no AWS, no docker, no built layers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from statemachine.node import use_wheel_node

use_wheel_node()  # before a test module imports the CDK, which starts node


class Templates(dict):
    """Each stack's template by its name, and the ``folder`` of the assembly they lie in."""

    folder = None


@pytest.fixture(scope="session")
def layer_folders(tmp_path_factory):
    from stacks.layers import LAYERS

    folder = tmp_path_factory.mktemp("layers") / "host"
    for name in LAYERS:
        (folder / name / "python").mkdir(parents=True)
        (folder / name / "python" / "empty.py").write_text("")
    return folder


@pytest.fixture(scope="session")
def synthesize(tmp_path_factory, layer_folders):
    """Call it with context options; it gives the templates by stack."""
    from aws_cdk import App

    from stacks.app import build
    from stacks.context import context
    from stacks.deployment import Deployment

    def made(*options):
        app = App(
            context=context([word for option in options for word in ("-c", option)]),
            outdir=str(tmp_path_factory.mktemp("cdk.out")),
        )
        build(app, replace(Deployment.from_context(app.node), layers=layer_folders))
        assembly = app.synth()
        templates = Templates((stack.stack_name, stack.template) for stack in assembly.stacks)
        templates.folder = Path(assembly.directory)
        return templates

    return made


@pytest.fixture(scope="session")
def in_aws(synthesize):
    return synthesize("alarm_mail=ops@example.com")


@pytest.fixture(scope="session")
def local(synthesize):
    return synthesize("stage=local")


@pytest.fixture(scope="session")
def resources(in_aws):
    """Every resource of a type, as (stack, logical id, properties)."""

    def of(kind, templates=None):
        return [
            (stack, name, resource.get("Properties", {}))
            for stack, template in (templates or in_aws).items()
            for name, resource in template["Resources"].items()
            if resource["Type"] == kind
        ]

    return of


@pytest.fixture(scope="session")
def allowed(resources):
    """What each role's own policy allows: {role: [(actions, resources as text)]}."""

    def of(templates=None):
        found = {}
        for _stack, _name, policy in resources("AWS::IAM::Policy", templates):
            (role,) = policy["Roles"]
            for statement in policy["PolicyDocument"]["Statement"]:
                entry = (_listed(statement["Action"]), json.dumps(statement["Resource"]))
                found.setdefault(role["Ref"], []).append(entry)
        return found

    return of


def _listed(value):
    return value if isinstance(value, list) else [value]
