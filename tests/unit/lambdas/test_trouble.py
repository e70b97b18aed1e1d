"""What the machine caught, in words a person can act on."""

import json

import pytest

from lambdas._trouble import LONGEST, reason, worded


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        ({"Error": "DeviceLost", "Cause": "the child died"}, "DeviceLost: the child died"),
        (
            {"Error": "StoreBusy", "Cause": json.dumps({"errorMessage": "throttled"})},
            "StoreBusy: throttled",
        ),
        (
            {"Error": "States.HeartbeatTimeout", "Cause": ""},
            "States.HeartbeatTimeout: the worker fell silent; it may be run again as it is",
        ),
        ({"Error": "Odd", "Cause": "[1, 2]"}, "Odd: [1, 2]"),
        ({}, "unknown trouble: no cause was given"),
    ],
)
def test_an_error_becomes_one_sentence(error, sentence):
    assert reason(error) == sentence


def test_a_stack_never_fills_the_record():
    assert len(reason({"Error": "E", "Cause": "x" * 100_000})) == LONGEST


def test_an_event_without_trouble_stays_as_it_is():
    assert worded({"job_id": "j"}) == {"job_id": "j"}
