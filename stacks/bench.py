"""The benchmark machine and its schedule."""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from stacks.constructs.grants import may_answer_gates, may_run
from stacks.constructs.machine import Machine
from stacks.constructs.step_lambda import StepLambda
from stacks.data import Data
from stacks.deployment import Deployment
from stacks.pipeline import Pipeline
from statemachine import retries
from statemachine.benchmark import benchmark
from statemachine.tasks import BENCH_STEPS, Calls


class Bench(Stack):
    """The ten tasks, migrated on a schedule through the same machine as any job."""

    def __init__(
        self, scope: Construct, *, deployment: Deployment, data: Data, pipeline: Pipeline
    ) -> None:
        super().__init__(scope, "Bench")
        known = {
            "ARTIFACT_BUCKET": data.bucket.bucket_name,
            "TABLE_NAME": data.table.table_name,
            "STATE_MACHINE_ARN": pipeline.migration_job.state_machine_arn,
        }
        start, report = (
            StepLambda(self, step, deployment=deployment, known=known) for step in BENCH_STEPS
        )
        start.records(data.table)
        start.reads(data.bucket, "uploads")
        start.writes(data.bucket, "uploads", "jobs")
        may_run(start, pipeline.migration_job)
        may_answer_gates(report, data, pipeline.migration_job)
        report.reads(data.bucket, "bench")
        report.writes(data.bucket, "bench")
        steps = dict(zip(BENCH_STEPS, (start.function, report.function), strict=True))
        calls = Calls(steps, pipeline.devices.queue, pipeline.gates.queue)
        machine = Machine(
            self,
            "Benchmark",
            definition=benchmark(self, calls),
            timeout=retries.BENCH_TIMEOUT,
            invokes=steps.values(),
        ).machine
        role = iam.Role(
            self, "SchedulerRole", assumed_by=iam.ServicePrincipal("scheduler.amazonaws.com")
        )
        machine.grant_start_execution(role)
        scheduler.CfnSchedule(
            self,
            "Schedule",
            description="Runs the nkiport benchmark",
            schedule_expression=deployment.bench_schedule,
            flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(
                mode="FLEXIBLE", maximum_window_in_minutes=60
            ),
            target=scheduler.CfnSchedule.TargetProperty(
                arn=machine.state_machine_arn, role_arn=role.role_arn, input="{}"
            ),
        )
        CfnOutput(self, "BenchmarkArn", value=machine.state_machine_arn)
