"""What whoever runs it looks at: alarms, a dashboard, a budget, traces, and the way to redrive."""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_xray as xray
from constructs import Construct

from stacks.api import Api
from stacks.bench import Bench
from stacks.constructs.alarms import FIVE_MINUTES, Alarms
from stacks.constructs.budget import monthly_budget
from stacks.constructs.dashboard import Board
from stacks.constructs.grants import may_redrive
from stacks.constructs.step_lambda import StepLambda, step_lambdas
from stacks.deployment import Deployment
from stacks.fleet import Fleet
from stacks.pipeline import Pipeline


class Ops(Stack):
    """Not deployed locally; nothing depends on it."""

    def __init__(
        self,
        scope: Construct,
        *,
        deployment: Deployment,
        pipeline: Pipeline,
        api: Api,
        bench: Bench,
        fleet: Fleet,
    ) -> None:
        super().__init__(scope, "Ops")
        steps = [*step_lambdas(pipeline), *step_lambdas(api), *step_lambdas(bench)]
        alarms = Alarms(self, "Alarms", mail=deployment.alarm_mail)
        self._watch_jobs(alarms, pipeline)
        self._watch_edges(alarms, api, fleet, steps)
        monthly_budget(self, deployment.monthly_budget_usd, alarms.topic)
        self._show(pipeline, fleet, steps)
        self._redrive(deployment, pipeline)
        xray.CfnGroup(
            self,
            "Traces",
            group_name="nkiport",
            filter_expression=f'service("{pipeline.migration_job.state_machine_name}")',
        )

    def _watch_jobs(self, alarms: Alarms, pipeline: Pipeline) -> None:
        """Tell of jobs that failed, and of messages that wait long or died."""
        machine = pipeline.migration_job
        for name, metric in (
            ("JobsFailed", machine.metric_failed(period=FIVE_MINUTES)),
            ("JobsTimedOut", machine.metric_timed_out(period=FIVE_MINUTES)),
        ):
            alarms.when(name, metric, "a job ended outside its flow: read its execution history")
        for name, queue in (("Gate", pipeline.gates), ("Device", pipeline.devices)):
            alarms.when(
                f"{name}DeadLetters",
                queue.dead_letters.metric_approximate_number_of_messages_visible(),
                "messages failed four times: read the log, mend it, then invoke the redrive step",
            )
        alarms.when(
            "DeviceWorkWaits",
            pipeline.devices.queue.metric_approximate_age_of_oldest_message(),
            "no worker took the work in 20 minutes; at 30 the step fails and is tried again",
            reaches=20 * 60,
        )

    def _watch_edges(self, alarms: Alarms, api: Api, fleet: Fleet, steps: list[StepLambda]) -> None:
        """Tell of errors that callers saw, of steps that err and of workers that are unwell."""
        alarms.when(
            "CallersSawErrors",
            api.http.api.metric_server_error(period=FIVE_MINUTES),
            "callers got 5xx answers: read the api step's log",
            reaches=5,
        )
        for step in steps:
            alarms.when(
                f"{step.node.id}Errors",
                step.function.metric_errors(period=FIVE_MINUTES),
                f"the {step.node.id} step raised: read its log",
                reaches=3,
            )
        alarms.when(
            "CanaryFailed",
            fleet.worker.canary_failed,
            "a worker's canary kernel gave a wrong answer; it takes no work until it is right",
        )

    def _show(self, pipeline: Pipeline, fleet: Fleet, steps: list[StepLambda]) -> None:
        board = Board(self, "Board")
        board.jobs(pipeline.migration_job)
        board.queues(gates=pipeline.gates, devices=pipeline.devices)
        board.steps(steps)
        board.fleet(fleet.worker.running, fleet.waiting)

    def _redrive(self, deployment: Deployment, pipeline: Pipeline) -> None:
        """Offer a function that puts dead letters back where they came from."""
        redrive = StepLambda(
            self,
            "redrive",
            deployment=deployment,
            known={
                "GATE_QUEUE_URL": pipeline.gates.queue.queue_url,
                "GATE_DEAD_LETTERS_URL": pipeline.gates.dead_letters.queue_url,
                "DEVICE_QUEUE_URL": pipeline.devices.queue.queue_url,
                "DEVICE_DEAD_LETTERS_URL": pipeline.devices.dead_letters.queue_url,
            },
        )
        may_redrive(redrive, pipeline.gates, pipeline.devices)
        CfnOutput(self, "RedriveFunction", value=redrive.function.function_name)
