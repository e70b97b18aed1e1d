"""Each function's asset holds what its handler needs, little else, and agrees with its stack."""

import importlib
import subprocess
import sys
from pathlib import Path

import boto3
import botocore
import jmespath
import pytest
import s3transfer

from lambdas._settings import Settings
from stacks import ROOT, layers
from stacks.constructs.code import files, only
from stacks.constructs.steps import SPECS

STEPS = sorted(SPECS)
MOST_ASSET_BYTES = 2_000_000
MOST_LAYERS_BYTES = 200_000_000  # AWS: 250 MB with the asset, unzipped


@pytest.fixture(scope="session")
def functions(in_aws, local):
    """{step: (variables, asset folder)} of every function."""
    found = {}
    for templates in (in_aws, local):
        for template in templates.values():
            for resource in template["Resources"].values():
                handler = resource.get("Properties", {}).get("Handler", "")
                if resource["Type"] == "AWS::Lambda::Function" and handler.startswith("lambdas."):
                    key = Path(resource["Properties"]["Code"]["S3Key"]).stem
                    variables = resource["Properties"]["Environment"]["Variables"]
                    found[handler.split(".")[1]] = (variables, templates.folder / f"asset.{key}")
    return found


@pytest.fixture(scope="session")
def host_layers():
    """The layers for this interpreter: built by the installation, checked for being current."""
    folder = ROOT / ".build" / "layers"
    layers.build("host", folder)
    return folder / "host"


@pytest.fixture(scope="session")
def runtime(tmp_path_factory):
    """A folder with what the Lambda runtime brings, and nothing else."""
    folder = tmp_path_factory.mktemp("runtime")
    for module in (boto3, botocore, s3transfer, jmespath):
        (folder / module.__name__).symlink_to(Path(module.__file__).parent)
    return folder


def test_every_step_has_one_function_and_every_function_a_step(functions):
    assert sorted(functions) == STEPS


@pytest.mark.parametrize("step", STEPS)
def test_a_handler_imports_with_its_own_files_and_layers_alone(
    step, functions, host_layers, runtime, tmp_path
):
    _variables, asset = functions[step]
    paths = [asset, *(host_layers / name / "python" for name in SPECS[step].layers), runtime]
    code = (
        f"import sys; sys.dont_write_bytecode = True; sys.path += {[str(p) for p in paths]!r};"
        f"import lambdas.{step}.handler as h; assert callable(h.handler);"
        "assert 'torch' not in sys.modules and 'aws_cdk' not in sys.modules"
    )
    environment = {"AWS_DEFAULT_REGION": "us-east-1", "POWERTOOLS_TRACE_DISABLED": "true"}

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("step", STEPS)
def test_a_functions_variables_are_its_settings_in_both_directions(step, functions):
    variables, _asset = functions[step]
    module = importlib.import_module(f"lambdas.{step}.handler")

    (model,) = {
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Settings) and value is not Settings
    }
    ours = {name for name in variables if not name.startswith("POWERTOOLS_")}
    assert ours == {name.upper() for name in model.model_fields}


@pytest.mark.parametrize("step", STEPS)
def test_an_asset_is_small_and_holds_no_other_step(step, functions):
    _variables, asset = functions[step]

    held = [path for path in asset.rglob("*") if path.is_file()]
    folders = {path.name for path in (asset / "lambdas").iterdir() if path.is_dir()}
    assert folders == {step}
    assert sum(path.stat().st_size for path in held) < MOST_ASSET_BYTES


@pytest.mark.parametrize("step", STEPS)
def test_a_functions_layers_leave_room_below_the_limit(step, host_layers):
    sizes = [
        path.stat().st_size
        for name in SPECS[step].layers
        for path in (host_layers / name).rglob("*")
        if path.is_file()
    ]

    assert sum(sizes) < MOST_LAYERS_BYTES


def test_an_import_inside_a_function_brings_its_file_too():
    assert "lambdas/_step.py" in files("finish")
    assert "lambdas/finish" in files("finish")


def test_an_asset_leaves_out_whatever_is_not_listed():
    lines = only(["nkiport/jobs/finish.py", "lambdas/finish"])

    assert lines[0] == "/*"
    assert "!/nkiport" in lines
    assert "/nkiport/*" in lines
    assert "!/nkiport/jobs/finish.py" in lines


def test_built_layers_are_not_built_again(host_layers):
    assert layers.build("host", host_layers.parent) == []


def test_layers_for_another_machine_or_other_pins_have_another_digest():
    digests = {layers.digest(name, kind) for name in layers.LAYERS for kind in layers.TARGETS}

    assert len(digests) == len(layers.LAYERS) * len(layers.TARGETS)


def test_no_layer_brings_what_the_runtime_has(host_layers):
    for name in layers.LAYERS:
        held = {path.name for path in (host_layers / name / "python").iterdir()}
        assert not held & set(layers.PROVIDED)
