"""Which stacks there are, and that stages differ only by the values of their Deployment."""

import subprocess
import sys

import pytest

from stacks import ROOT
from stacks.deployment import LOCAL, Deployment

LOCAL_STACKS = {"Data", "Pipeline", "Api", "Bench"}


def _resources(templates):
    return {
        (stack, name, resource["Type"])
        for stack in LOCAL_STACKS
        for name, resource in templates[stack]["Resources"].items()
    }


def test_an_account_gets_six_stacks_and_the_emulator_the_four_it_can_hold(in_aws, local):
    assert set(in_aws) == {*LOCAL_STACKS, "Fleet", "Ops"}
    assert set(local) == LOCAL_STACKS


def test_the_emulator_lacks_nothing_and_has_only_the_authorizer_more(in_aws, local):
    added = {kind for _stack, _name, kind in _resources(local) - _resources(in_aws)}
    missing = {kind for _stack, _name, kind in _resources(in_aws) - _resources(local)}

    renamed_with_its_methods = "AWS::ApiGateway::Deployment"
    assert missing == {renamed_with_its_methods}
    assert added == {
        renamed_with_its_methods, "AWS::ApiGateway::Authorizer", "AWS::Lambda::Function",
        "AWS::Lambda::Permission", "AWS::Logs::LogGroup", "AWS::IAM::Role", "AWS::IAM::Policy",
    }  # fmt: skip


def test_the_four_stacks_depend_on_none_of_the_others(in_aws):
    text = str({stack: in_aws[stack] for stack in LOCAL_STACKS})

    assert "Fleet:Exports" not in text
    assert "Ops:Exports" not in text


@pytest.mark.parametrize("name", sorted(LOCAL))
def test_a_local_value_is_a_field_that_is_really_different(name):
    assert LOCAL[name] != getattr(Deployment(), name)


def test_context_options_override_the_stage(synthesize):
    made = synthesize("stage=local", "mail_sender=gates@example.org", "tracing=true")

    environment = next(
        resource["Properties"]["Environment"]["Variables"]
        for resource in made["Api"]["Resources"].values()
        if resource["Type"] == "AWS::Lambda::Function"
        and "MAIL_SENDER" in str(resource["Properties"])
    )
    assert environment["MAIL_SENDER"] == "gates@example.org"
    assert environment["POWERTOOLS_TRACE_DISABLED"] == "false"


def test_the_app_needs_no_account_no_region_and_no_node_on_path(tmp_path, layer_folders):
    environment = {
        "PATH": "/nowhere", "HOME": str(tmp_path), "TMPDIR": str(tmp_path),
        "CDK_OUTDIR": str(tmp_path / "cdk.out"),
    }  # fmt: skip
    command = [sys.executable, "app.py", "-c", "stage=local", "-c", f"layers={layer_folders}"]

    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "cdk.out" / "Pipeline.template.json").exists()
