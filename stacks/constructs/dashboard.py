"""One page for whoever runs it: jobs, kernels, queues, steps, workers, benchmark."""

from collections.abc import Iterable, Sequence
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from stacks.constructs.step_lambda import METRICS, StepLambda
from stacks.constructs.work_queue import WorkQueue

OUTCOMES: Final = {
    "judge": ("accepted", "accepted_slow", "again"),
    "end_kernel": ("abandoned", "not_judged"),
    "bench_report": ("reported",),
}
"""The outcomes that steps count, as ``lambdas._step`` names the metrics."""
HALF: Final = 12


class Board(Construct):
    """The dashboard; each method adds a row."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        self.dashboard = cloudwatch.Dashboard(self, "Dashboard", default_interval=Duration.days(7))

    def jobs(self, machine: sfn.IStateMachine) -> None:
        """Show how jobs and their kernels ended."""
        ended = [machine.metric_started(), machine.metric_succeeded(), machine.metric_failed(),
                 machine.metric_timed_out(), machine.metric_aborted()]  # fmt: skip
        kernels = [
            outcome(step, name) for step in ("judge", "end_kernel") for name in OUTCOMES[step]
        ]
        self._row(("Jobs", ended), ("Kernels", kernels))

    def queues(self, **queues: WorkQueue) -> None:
        """Show what waits, for how long, and what died."""
        waiting = [
            queue.queue.metric_approximate_number_of_messages_visible(label=f"{name} waiting")
            for name, queue in queues.items()
        ]
        died = [
            queue.dead_letters.metric_approximate_number_of_messages_visible(label=f"{name} died")
            for name, queue in queues.items()
        ]
        oldest = [
            queue.queue.metric_approximate_age_of_oldest_message(label=f"{name} oldest")
            for name, queue in queues.items()
        ]
        self._row(("Queues", [*waiting, *died]), ("Oldest message", oldest))

    def steps(self, steps: Iterable[StepLambda]) -> None:
        """Show the errors and durations of every Lambda."""
        functions = {step.node.id: step.function for step in steps}
        errors = [function.metric_errors(label=name) for name, function in functions.items()]
        durations = [
            function.metric_duration(label=name, statistic="p95")
            for name, function in functions.items()
        ]
        self._row(("Step errors", errors), ("Step p95", durations))

    def fleet(self, workers: cloudwatch.IMetric, waiting: cloudwatch.IMetric) -> None:
        """Show workers against work, and benchmark runs."""
        runs = [outcome("bench_report", name) for name in OUTCOMES["bench_report"]]
        self._row(("Workers", [workers, waiting]), ("Benchmark runs", runs))

    def _row(self, *graphs: tuple[str, Sequence[cloudwatch.IMetric]]) -> None:
        self.dashboard.add_widgets(
            *(
                cloudwatch.GraphWidget(title=title, left=list(metrics), width=HALF)
                for title, metrics in graphs
            )
        )


def outcome(step: str, name: str) -> cloudwatch.Metric:
    """How often a step ended so."""
    return cloudwatch.Metric(
        namespace=METRICS,
        metric_name=name,
        dimensions_map={"service": step},
        statistic="Sum",
        label=name,
    )
