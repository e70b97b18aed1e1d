"""What the emulator drops in silence, and what only AWS has: proved on the templates."""

import json

import pytest

from stacks.constructs.steps import SPECS
from stacks.layers import LAYERS


def test_every_function_is_arm64_python_traced_logged_and_within_time(resources):
    functions = resources("AWS::Lambda::Function")

    ours = [f for _stack, _name, f in functions if "POWERTOOLS" in json.dumps(f)]
    assert len(ours) == len(SPECS) - 1  # the authorizer is the local stage's
    for function in ours:
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert "LogGroup" in function["LoggingConfig"]
        assert function["Timeout"] <= 900


def test_every_log_is_kept_for_a_bounded_time(resources):
    kept = [group["RetentionInDays"] for _stack, _name, group in resources("AWS::Logs::LogGroup")]

    assert kept
    assert max(kept) <= 90


def test_every_queue_is_encrypted_and_dies_into_another(resources):
    queues = resources("AWS::SQS::Queue")

    dead = [name for _stack, name, _queue in queues if "DeadLetters" in name]
    assert len(dead) * 2 == len(queues)
    for _stack, name, queue in queues:
        assert queue["SqsManagedSseEnabled"] is True
        assert ("RedrivePolicy" in queue) is (name not in dead)


def test_a_gate_message_stays_hidden_six_times_as_long_as_its_step_may_run(resources):
    (gate,) = [q for _s, name, q in resources("AWS::SQS::Queue") if name.startswith("GatesQueue")]

    # https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
    assert gate["VisibilityTimeout"] >= 6 * SPECS["open_gate"].seconds


def test_one_bad_gate_message_does_not_hold_back_its_batch(resources):
    ((_stack, _name, source),) = resources("AWS::Lambda::EventSourceMapping")

    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_records_expire_by_ttl_and_can_be_restored(resources):
    ((_stack, _name, table),) = resources("AWS::DynamoDB::Table")

    assert table["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}
    assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
    assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]
    (index,) = table["GlobalSecondaryIndexes"]
    assert index["IndexName"] == "by_owner"
    assert [key["AttributeName"] for key in index["KeySchema"]] == ["owner", "created_job"]


def test_artifacts_are_private_versioned_and_outlive_the_stack(in_aws):
    (bucket,) = [
        resource
        for name, resource in in_aws["Data"]["Resources"].items()
        if resource["Type"] == "AWS::S3::Bucket" and name.startswith("ArtifactsBucket")
    ]

    assert bucket["DeletionPolicy"] == "Retain"
    assert bucket["Properties"]["VersioningConfiguration"] == {"Status": "Enabled"}
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
    assert "uploads/" in json.dumps(bucket["Properties"]["LifecycleConfiguration"])


def test_evidence_is_signed_with_a_key_that_never_leaves_kms(resources):
    (key,) = [k for stack, _name, k in resources("AWS::KMS::Key") if stack == "Data"]

    assert (key["KeySpec"], key["KeyUsage"]) == ("ECC_NIST_P256", "SIGN_VERIFY")


def test_machines_log_every_event_without_its_data_and_are_traced(resources):
    machines = resources("AWS::StepFunctions::StateMachine")

    assert [stack for stack, _name, _machine in machines] == ["Pipeline", "Bench"]
    for _stack, _name, machine in machines:
        assert machine["LoggingConfiguration"]["Level"] == "ALL"
        assert not machine["LoggingConfiguration"].get("IncludeExecutionData")
        assert machine["TracingConfiguration"] == {"Enabled": True}


def test_every_route_is_authorised_but_the_mail_links(resources):
    methods = resources("AWS::ApiGateway::Method")

    opened = {name for _stack, name, m in methods if m["AuthorizationType"] == "NONE"}
    assert opened
    assert all("gatelinks" in name for name in opened)


def test_locally_every_route_asks_for_the_token_but_the_mail_links(resources, local):
    methods = resources("AWS::ApiGateway::Method", local)

    kinds = {("gatelinks" in name, m["AuthorizationType"]) for _stack, name, m in methods}
    assert kinds == {(True, "NONE"), (False, "CUSTOM")}


def test_the_benchmark_runs_on_its_schedule(resources):
    ((_stack, _name, schedule),) = resources("AWS::Scheduler::Schedule")

    assert schedule["ScheduleExpression"] == "rate(7 days)"


@pytest.mark.parametrize("step", sorted(SPECS))
def test_a_step_has_the_base_layer_and_only_layers_there_are(step):
    layers = SPECS[step].layers

    assert layers[0] == "base"
    assert set(layers) <= set(LAYERS)
