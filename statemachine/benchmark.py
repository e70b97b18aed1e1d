"""The benchmark: one job whose kernels are the tasks; its gates are answered, its end reported."""

from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from statemachine import retries
from statemachine.parts import fork, in_order, last, state
from statemachine.tasks import JOB, Calls, step

STARTED = {"started.$": "$$.Execution.StartTime"}


def benchmark(scope: Construct, calls: Calls) -> sfn.DefinitionBody:
    """Build the states of ``Benchmark``; it takes no input. Trouble fails the execution."""
    states = Construct(scope, "States")
    start = step(states, calls, "bench_start", STARTED)
    kept = sfn.Pass(states, "Submitted", parameters={"job_id.$": "$.bench_start.job_id"})
    wait = sfn.Wait(states, "Wait", time=sfn.WaitTime.duration(retries.BENCH_POLL))
    looked = fork(
        states,
        "Ended",
        state(step(states, calls, "bench_report", JOB)),
        good=sfn.Condition.string_equals("$.bench_report.outcome", "reported"),
        otherwise=wait,
    )
    wait.next(looked.start)
    in_order(state(start), state(kept), looked, last(sfn.Succeed(states, "Reported")))
    return sfn.DefinitionBody.from_chainable(start)
