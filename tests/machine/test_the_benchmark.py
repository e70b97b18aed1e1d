"""The benchmark's machine: it submits once, asks until the report is there, and ends."""

from nkiport.contracts import steps
from nkiport.contracts.errors import StoreBusy
from statemachine.render import BENCHMARK_FILE
from tests.machine.harness import World, aws, checked_in, hurried
from tests.machine.scripted import all_well, approves, passes

JOB = "bench-00000001"


def run(script):
    with aws(script.steps()):
        world = World(hurried(checked_in(BENCHMARK_FILE)), approves(), passes)
        return world.run("a-run", message={})


def reported(*outcomes):
    left = list(outcomes)
    return lambda q: steps.BenchReportResult(job_id=q.job_id, outcome=left.pop(0))


def test_a_run_submits_one_job_and_waits_for_its_report():
    script = all_well(
        bench_start=lambda _q: steps.BenchStartResult(job_id=JOB),
        bench_report=reported("running", "reported"),
    )

    ended = run(script)

    assert ended.status == "SUCCEEDED"
    assert len(script.said["bench_start"]) == 1
    assert [q.job_id for q in script.said["bench_report"]] == [JOB, JOB]


def test_a_start_that_is_tried_again_names_the_same_run():
    tries = []

    def start(request):
        tries.append(request.started)
        if len(tries) == 1:
            raise StoreBusy("throttled")
        return steps.BenchStartResult(job_id=JOB)

    run(all_well(bench_start=start, bench_report=reported("reported")))

    assert len(tries) == 2
    assert len(set(tries)) == 1
