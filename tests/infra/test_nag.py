"""cdk-nag runs on every synth; what it finds is mended, or accepted with a reason."""

import ast

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3

from stacks import ROOT
from stacks.app import checked


def test_a_careless_bucket_fails_the_synth(tmp_path):
    app = App(outdir=str(tmp_path))
    s3.Bucket(Stack(app, "Careless"), "Bucket")
    checked(app)

    with pytest.raises(RuntimeError, match="AwsSolutions-S10"):
        app.synth()


def test_the_stacks_pass(in_aws, local):
    assert len(in_aws) + len(local) == 10  # their synth would have raised


def _accepted():
    for path in sorted((ROOT / "stacks").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(getattr(node, "func", None), "id", "")
            if isinstance(node, ast.Call) and name.startswith("accept"):
                yield path.name, node


@pytest.mark.parametrize(("file", "call"), list(_accepted()))
def test_every_finding_is_accepted_for_one_construct_with_a_reason(file, call):
    construct, reason = call.args[:2]

    if file != "accept.py":
        assert len(ast.literal_eval(reason).split()) >= 4
        assert ast.unparse(construct) not in {"app", "self.stack", "stack"}
