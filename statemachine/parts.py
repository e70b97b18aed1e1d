"""Joining states: a part knows where it starts and how it goes on when all is well."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct


@dataclass(frozen=True)
class Part:
    """A stretch of the machine with one way in and one good way on."""

    start: sfn.State
    then: Callable[[sfn.State], object]


def state(one: sfn.TaskStateBase | sfn.Pass | sfn.Map | sfn.DistributedMap) -> Part:
    """Take a single state as a part."""
    return Part(one, one.next)


def last(one: sfn.State) -> Part:
    """Take a state that nothing follows as a part."""
    return Part(one, lambda _following: None)


def fork(
    scope: Construct,
    name: str,
    part: Part,
    *,
    good: sfn.Condition,
    otherwise: sfn.State,
) -> Part:
    """Go on after ``part`` if the condition holds, else somewhere else."""
    choice = sfn.Choice(scope, name).otherwise(otherwise)
    part.then(choice)
    return Part(part.start, lambda following: choice.when(good, following))


def in_order(*parts: Part) -> Part:
    """Join parts, each going on to the next."""
    for part, following in pairwise(parts):
        part.then(following.start)
    return Part(parts[0].start, parts[-1].then)
