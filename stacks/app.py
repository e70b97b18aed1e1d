"""Which stacks there are, and what each is given."""

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from stacks.api import Api
from stacks.bench import Bench
from stacks.data import Data
from stacks.deployment import Deployment
from stacks.fleet import Fleet
from stacks.ops import Ops
from stacks.pipeline import Pipeline


def build(app: App, deployment: Deployment) -> None:
    """Build every stack. The first four know nothing of the others, so they deploy alone."""
    data = Data(app)
    pipeline = Pipeline(app, deployment=deployment, data=data)
    api = Api(app, deployment=deployment, data=data, pipeline=pipeline)
    bench = Bench(app, deployment=deployment, data=data, pipeline=pipeline)
    if not deployment.emulated:
        fleet = Fleet(app, deployment=deployment, data=data, pipeline=pipeline)
        Ops(app, deployment=deployment, pipeline=pipeline, api=api, bench=bench, fleet=fleet)
    checked(app)


def checked(app: App) -> None:
    """Let cdk-nag fail the synth on any finding that was not accepted with a reason."""
    Validations.of(app).add_plugins(AwsSolutionsChecks())
