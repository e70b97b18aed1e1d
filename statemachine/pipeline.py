"""The story of a job, from a source tree to an offered patch."""

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from statemachine.groups.capturing import capturing
from statemachine.groups.delivery import delivered, done, emitted
from statemachine.groups.discovery import discovery
from statemachine.groups.endings import Endings
from statemachine.groups.gates import approval
from statemachine.groups.migration import migration
from statemachine.parts import in_order
from statemachine.tasks import Calls


def migration_job(scope: Construct, calls: Calls) -> sfn.DefinitionBody:
    """Build the states of ``MigrationJob``; its input is ``{"job_id": ...}``."""
    states = Construct(scope, "States")
    end = Endings(states, calls)
    story = in_order(
        discovery(states, calls, end),
        approval(states, calls, end, "scope"),
        capturing(states, calls, end),
        approval(states, calls, end, "requirements"),
        migration(states, calls),
        emitted(states, calls, end),
        delivered(states, calls, end),
        done(end),
    )
    return sfn.DefinitionBody.from_chainable(story.start)
