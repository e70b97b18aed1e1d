"""The checked-in machine: what the stacks deploy, and what a linter says of it."""

import json

import pytest
from cfnlint.api import ManualArgs, lint

from statemachine import rendering, retries
from statemachine.render import BENCHMARK_FILE, FILE

STRUCTURE = "E3601"


def _findings(definition):
    template = {
        "Resources": {
            "Machine": {
                "Type": "AWS::StepFunctions::StateMachine",
                "Properties": {
                    "RoleArn": "arn:aws:iam::123456789012:role/machine",
                    "Definition": definition,
                },
            }
        }
    }
    found = lint(json.dumps(template), config=ManualArgs(regions=["us-east-1"]))
    return [match.message for match in found if match.rule.id == STRUCTURE]


def _states(machine):
    """Every (name, state), those inside maps too."""
    for name, state in machine["States"].items():
        yield name, state
        if "ItemProcessor" in state:
            yield from _states(state["ItemProcessor"])


@pytest.fixture
def golden():
    return json.loads(FILE.read_text())


@pytest.mark.parametrize(
    ("file", "render"),
    [
        (FILE, rendering.migration_job_definition),
        (BENCHMARK_FILE, rendering.benchmark_definition),
    ],
)
def test_a_checked_in_machine_is_the_one_that_the_code_renders(file, render):
    assert file.read_text() == rendering.text(render()), "run: make asl"


def test_the_deployed_machine_has_the_states_of_the_checked_in_one(golden, resources):
    (machine,) = [
        m for stack, _n, m in resources("AWS::StepFunctions::StateMachine") if stack == "Pipeline"
    ]

    deployed = json.dumps(machine["DefinitionString"])
    assert all(f'\\"{name}\\":' in deployed for name, _state in _states(golden))


@pytest.mark.parametrize("file", [FILE, BENCHMARK_FILE])
def test_the_linter_finds_nothing(file):
    assert _findings(json.loads(file.read_text())) == []


def test_the_linter_would_find_a_state_of_no_known_type(golden):
    golden["States"]["Discover"]["Type"] = "Tusk"

    assert _findings(golden) != []


def _targets(state):
    """Where a state may go on."""
    nexts = [state, *state.get("Choices", ()), *state.get("Catch", ())]
    return {each["Next"] for each in nexts if "Next" in each} | (
        {state["Default"]} if "Default" in state else set()
    )


def test_every_transition_leads_to_a_state_and_every_state_is_reached(golden):
    inner = [s["ItemProcessor"] for _name, s in _states(golden) if "ItemProcessor" in s]

    for machine in (golden, *inner):
        reached, waiting = set(), {machine["StartAt"]}
        while waiting:
            reached |= waiting
            waiting = {to for name in waiting for to in _targets(machine["States"][name])} - reached
        assert reached == set(machine["States"])


def test_every_task_has_a_time_limit_and_every_device_task_a_heartbeat_below_it(golden):
    tasks = {name: state for name, state in _states(golden) if state["Type"] == "Task"}

    device = {"Capture", "Compile", "Verify", "Profile"}
    assert device <= set(tasks)
    assert all("TimeoutSeconds" in state for state in tasks.values())
    for name in device:
        assert tasks[name]["HeartbeatSeconds"] < tasks[name]["TimeoutSeconds"]


def test_both_time_outs_are_always_handled_together(golden):
    handlers = [
        handler["ErrorEquals"]
        for _name, state in _states(golden)
        for handler in (*state.get("Retry", ()), *state.get("Catch", ()))
    ]

    timed = [errors for errors in handlers if set(errors) & set(retries.TIME_OUTS)]
    assert timed
    assert all(set(retries.TIME_OUTS) <= set(errors) for errors in timed)


def test_every_retry_is_bounded(golden):
    attempts = [
        retry["MaxAttempts"] for _name, state in _states(golden) for retry in state.get("Retry", ())
    ]

    assert attempts
    assert max(attempts) <= 5


def test_a_kernel_in_a_map_never_fails_it(golden):
    inside = [
        (name, state)
        for _map, outer in _states(golden)
        for name, state in _states(outer.get("ItemProcessor", {"States": {}}))
        if state["Type"] == "Task"
    ]

    assert len(inside) == 9
    for name, state in inside:
        assert state["Catch"][-1]["ErrorEquals"] == ["States.ALL"], name
    kinds = {state["Type"] for _name, state in _states(golden)}
    assert "Fail" not in kinds


def test_the_machine_stays_in_what_all_three_engines_run_alike(golden):
    text = json.dumps(golden)

    for unsupported in ('"Assign"', '"QueryLanguage"', "[?(", "..", '"Condition":', '"Parallel"'):
        assert unsupported not in text
