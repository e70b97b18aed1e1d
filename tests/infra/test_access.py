"""Who may touch what: least privilege, stated as properties of the synthesized policies."""

import pytest

REVEALS = {"EmitDiffRole"}  # writes the seed into the evidence, after every verdict
RUNS_REFERENCES = {"WorkerRole"}
ANSWERS_GATES = {"ApiRole", "GateLinkRole", "BenchReportRole"}


def _roles(allowed, *, action, resource=""):
    """Roles that may do an action on a resource, by their names without CDK's hash."""
    return {
        role[:-8]
        for role, statements in allowed().items()
        for actions, where in statements
        if action in actions and resource in where
    }


def test_only_the_worker_and_the_evidence_read_the_sealed_seed(allowed):
    assert _roles(allowed, action="s3:GetObject", resource="/sealed/") == (
        RUNS_REFERENCES | REVEALS
    )


def test_only_who_answers_a_gate_writes_the_sealed_seed(allowed):
    assert _roles(allowed, action="s3:PutObject", resource="/sealed/") == ANSWERS_GATES


@pytest.mark.parametrize("role", ["JudgeRole", "GenerateRole", "PlanRole", "AssessRole"])
def test_what_writes_or_judges_candidates_sees_nothing_sealed(allowed, role):
    (statements,) = [of for name, of in allowed().items() if name[:-8] == role]

    assert all("sealed" not in where for _actions, where in statements)
    assert all(not action.endswith("*") for actions, _where in statements for action in actions)


def test_no_object_right_covers_more_than_one_prefix(allowed):
    rights = [
        where
        for statements in allowed().values()
        for actions, where in statements
        if any(action.startswith("s3:") and "Object" in action for action in actions)
    ]

    assert rights
    assert all('"/*"' not in where for where in rights)


def test_only_the_worker_takes_device_work_and_only_the_gate_step_takes_questions(allowed):
    takers = _roles(allowed, action="sqs:ReceiveMessage")

    assert takers == {"WorkerRole", "OpenGateRole", "RedriveRole"}
    assert _roles(allowed, action="sqs:ReceiveMessage", resource="DevicesQueue") == {"WorkerRole"}
    assert _roles(allowed, action="sqs:ReceiveMessage", resource="GatesQueue") == {"OpenGateRole"}


def test_only_a_gate_or_the_worker_returns_a_task_token(allowed):
    assert _roles(allowed, action="states:SendTaskSuccess") == {
        "ApiRole", "BenchReportRole", "GateLinkRole", "WorkerRole",
    }  # fmt: skip


def test_only_emit_diff_signs_evidence(allowed):
    assert _roles(allowed, action="kms:Sign") == {"EmitDiffRole"}


def test_only_generate_calls_models_and_only_the_configured_ones(allowed):
    assert _roles(allowed, action="bedrock:InvokeModel") == {"GenerateRole"}
    (where,) = [
        where
        for statements in allowed().values()
        for actions, where in statements
        if "bedrock:InvokeModel" in actions
    ]
    assert "foundation-model/anthropic.claude-opus" in where


@pytest.mark.parametrize(
    ("secret", "readers"),
    [
        ("SecretsLinkSecret", {"GateLinkRole", "OpenGateRole"}),
        ("SecretsGitHubToken", {"DeliverRole"}),
    ],
)
def test_a_secret_is_read_only_by_whom_it_is_for(allowed, secret, readers):
    assert _roles(allowed, action="secretsmanager:GetSecretValue", resource=secret) == readers


def test_nobody_may_do_everything_of_a_service(allowed):
    broad = {
        action
        for statements in allowed().values()
        for actions, _where in statements
        for action in actions
        if action == "*" or action.endswith(":*")
    }

    assert broad == set()
