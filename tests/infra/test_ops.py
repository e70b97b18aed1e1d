"""What reaches a person when something goes wrong."""

import json

import pytest


@pytest.fixture(scope="session")
def alarms(resources):
    return {
        name: alarm for stack, name, alarm in resources("AWS::CloudWatch::Alarm") if stack == "Ops"
    }


def test_every_alarm_tells_the_topic_and_says_what_to_do(alarms):
    assert alarms
    for alarm in alarms.values():
        assert alarm["AlarmActions"]
        assert len(alarm["AlarmDescription"].split()) > 4


def test_the_topic_mails_the_operator(resources):
    ((_stack, _name, subscription),) = resources("AWS::SNS::Subscription")

    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "ops@example.com")


def test_every_dead_letter_queue_has_an_alarm(alarms, resources):
    dead = [name for _s, name, _q in resources("AWS::SQS::Queue") if "DeadLetters" in name]

    watched = json.dumps(
        [alarm["Dimensions"] for alarm in alarms.values() if "Dimensions" in alarm]
    )
    assert len(dead) == 2
    for name in dead:
        assert name in watched


def test_every_function_of_the_flow_has_an_alarm_on_its_errors(alarms, resources):
    functions = [
        name
        for stack, name, f in resources("AWS::Lambda::Function")
        if stack != "Ops" and "POWERTOOLS" in json.dumps(f)
    ]

    watched = json.dumps([a for a in alarms.values() if a.get("MetricName") == "Errors"])
    assert all(name in watched for name in functions)


@pytest.mark.parametrize("metric", ["ExecutionsFailed", "ExecutionsTimedOut", "5XXError",
                                    "ApproximateAgeOfOldestMessage", "CanaryFailed"])  # fmt: skip
def test_an_alarm_watches(alarms, metric):
    assert metric in {alarm.get("MetricName") for alarm in alarms.values()}


def test_the_operator_hears_of_the_bill_before_it_is_due(resources):
    ((_stack, _name, budget),) = resources("AWS::Budgets::Budget")

    kinds = {n["Notification"]["NotificationType"] for n in budget["NotificationsWithSubscribers"]}
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 500, "Unit": "USD"}
    assert kinds == {"ACTUAL", "FORECASTED"}


def test_the_dashboard_shows_jobs_queues_steps_and_workers(resources):
    ((_stack, _name, board),) = resources("AWS::CloudWatch::Dashboard")

    body = json.dumps(board["DashboardBody"])
    for title in ("Jobs", "Kernels", "Queues", "Step errors", "Workers", "Benchmark runs"):
        assert title in body
