"""Build the stacks: ``python app.py [-c stage=local]``. No AWS call, docker, network or node."""

import sys

from statemachine.node import use_wheel_node


def main() -> None:
    """Read context, build a ``Deployment``, build the stacks, synthesize."""
    use_wheel_node()  # before anything of the CDK is imported, which starts node
    from aws_cdk import App

    from stacks.app import build
    from stacks.context import context
    from stacks.deployment import Deployment

    app = App(context=context(sys.argv[1:]))
    build(app, Deployment.from_context(app.node))
    app.synth()


if __name__ == "__main__":
    main()
