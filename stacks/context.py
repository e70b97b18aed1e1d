"""Context without the CDK command line: what ``cdk.json`` says, then ``-c name=value``."""

import argparse
import json
from collections.abc import Sequence

from stacks import ROOT


def context(arguments: Sequence[str]) -> dict[str, object]:
    """Read the feature flags and the options, so that a plain ``python app.py`` gives the same.

    >>> context(["-c", "stage=local"])["stage"]
    'local'
    """
    parser = argparse.ArgumentParser(prog="app.py")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE")
    given = (option.partition("=") for option in parser.parse_args(arguments).context)
    configured: dict[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return configured | {name: value for name, _, value in given}
