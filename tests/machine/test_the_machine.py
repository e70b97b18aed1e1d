"""What the machine does with each kind of answer; the steps follow a script."""

import pytest

from nkiport.contracts import steps
from nkiport.contracts.errors import BadSource, CaptureFailed, DeviceLost, StoreBusy
from nkiport.contracts.errors import DeliveryFailed as NotTaken
from tests.machine.harness import World, aws, checked_in, hurried
from tests.machine.scripted import all_well, answering, approves, fails, passes, rejects, unasked

JOB = "job-00000001"


def run(script, person=None, worker=passes, **hurry):
    with aws(script.steps()):
        return World(hurried(checked_in(), **hurry), person or approves("softmax"), worker).run(JOB)


def device_work(ended):
    return [(task.step, task.kernel_id, task.attempt) for task in ended.tasks]


def test_a_job_goes_from_its_source_to_a_delivered_patch():
    ended = run(all_well())

    assert ended.output["finish"] == {"job_id": JOB, "status": "delivered"}
    assert [gate.gate for gate in ended.gates] == ["scope", "requirements"]
    assert [task.step for task in ended.tasks] == ["capture", "compile", "verify", "profile"]


def test_a_candidate_that_does_not_compile_is_judged_and_the_next_one_accepted():
    script = all_well(judge=answering("again", "accepted"))

    ended = run(script, worker=fails("compile", times=1))

    assert device_work(ended)[1:] == [
        ("compile", "softmax", 1),
        ("compile", "softmax", 2),
        ("verify", "softmax", 2),
        ("profile", "softmax", 2),
    ]
    assert ended.output["finish"]["status"] == "delivered"
    assert "end_kernel" not in script.said


def test_numbers_that_keep_differing_end_the_kernel_when_the_plan_stops():
    script = all_well(
        judge=answering("again", "again", "again"),
        plan=stops_after(3, "10 turns are used up"),
        emit_diff=lambda q: steps.EmitDiffResult(job_id=q.job_id, accepted=0, reason="none"),
    )

    ended = run(script, worker=fails("verify", times=99))

    assert [step for step, _kernel, _attempt in device_work(ended)].count("verify") == 3
    (end,) = script.said["end_kernel"]
    assert (end.outcome, end.reason) == ("abandoned", "10 turns are used up")
    (finish,) = script.said["finish"]
    assert finish.outcome == "nothing_accepted"


def test_the_machine_itself_stops_a_plan_that_never_does():
    short = checked_in()
    loop = short["States"]["MigrateKernels"]["ItemProcessor"]["States"]["Planned"]
    bound = loop["Choices"][0]["And"][1]
    assert bound == {"Variable": "$.turn", "NumericLessThanEquals": 51}
    bound["NumericLessThanEquals"] = 2
    script = all_well(judge=answering(*["again"] * 9))

    with aws(script.steps()):
        ended = World(hurried(short), approves("softmax"), passes).run(JOB)

    assert len(script.said["judge"]) == 2
    assert script.said["end_kernel"][0].outcome == "abandoned"
    assert ended.status == "SUCCEEDED"


def stops_after(turns, reason):
    made = {}

    def plan(request):
        made[request.kernel_id] = made.get(request.kernel_id, 0) + 1
        attempt = made[request.kernel_id]
        action = "generate" if attempt <= turns else "stop"
        return steps.PlanResult(**dict(request), attempt=attempt, action=action, reason=reason)

    return plan


def test_a_spend_cap_that_is_reached_abandons_the_kernel_with_what_it_has():
    reason = "spend cap of 5.00 USD reached"
    script = all_well(
        generate=lambda q: steps.GenerateResult(
            job_id=q.job_id, kernel_id=q.kernel_id, attempt=q.attempt, outcome="failed",
            reason=reason,
        ),
        judge=answering("again"),
        plan=stops_after(1, reason),
    )  # fmt: skip

    ended = run(script)

    assert [task.step for task in ended.tasks] == ["capture"]
    assert script.said["judge"][0].attempt == 1
    assert (script.said["end_kernel"][0].outcome, script.said["end_kernel"][0].reason) == (
        "abandoned",
        reason,
    )


@pytest.mark.parametrize("gate", ["scope", "requirements"])
def test_a_rejected_gate_ends_the_job(gate):
    script = all_well()

    ended = run(script, person=rejects(gate, otherwise=approves("softmax")))

    assert ended.gates[-1].gate == gate
    (finish,) = script.said["finish"]
    assert finish.outcome == "gate_rejected"
    assert gate in finish.reason
    assert "emit_diff" not in script.said


@pytest.mark.parametrize("gate", ["scope", "requirements"])
def test_a_gate_that_nobody_answers_expires(gate):
    script = all_well()

    ended = run(script, person=unasked(gate, otherwise=approves("softmax")), gate_seconds=1)

    (finish,) = script.said["finish"]
    assert finish.outcome == "gate_expired"
    assert gate in finish.reason
    assert [asked.gate for asked in ended.gates].count(gate) == 1


@pytest.mark.parametrize("step", ["capture", "verify"])
def test_a_worker_that_falls_silent_gets_a_successor(step):
    script = all_well()

    ended = run(script, worker=fails(step, times=1, how=None), heartbeat_seconds=2)

    assert [task.step for task in ended.tasks].count(step) == 2
    assert ended.output["finish"]["status"] == "delivered"


def test_a_kernel_whose_workers_all_die_is_not_judged_and_the_job_goes_on():
    script = all_well()

    ended = run(
        script,
        person=approves("softmax", "rmsnorm"),
        worker=fails("verify", times=99, how=DeviceLost("the child died"), kernel="rmsnorm"),
    )

    (end,) = script.said["end_kernel"]
    assert (end.kernel_id, end.outcome) == ("rmsnorm", "not_judged")
    assert end.reason == "DeviceLost: the child died"
    assert [task.kernel_id for task in ended.tasks if task.step == "verify"].count("rmsnorm") == 3
    assert ended.output["finish"]["status"] == "delivered"


def test_work_that_was_refused_is_not_tried_again():
    script = all_well()

    ended = run(script, worker=fails("capture", times=99, how=CaptureFailed("forward raises")))

    assert [task.step for task in ended.tasks].count("capture") == 1
    assert script.said["assess"][0].captured == "lost"
    assert script.said["assess"][0].reason == "CaptureFailed: forward raises"


def test_a_job_of_which_nothing_could_be_captured_asks_no_second_question():
    script = all_well(
        assess=lambda q: steps.AssessResult(
            job_id=q.job_id, kernel_id=q.kernel_id, outcome="not_captured"
        )
    )

    ended = run(script, person=approves("softmax", "rmsnorm"), worker=fails("capture", times=2))

    assert [gate.gate for gate in ended.gates] == ["scope"]
    (finish,) = script.said["finish"]
    assert finish.outcome == "nothing_accepted"
    assert "captured" in finish.reason


def test_one_of_three_kernels_is_abandoned_and_the_others_are_delivered():
    judged = answering("again", kernels=("rmsnorm",), otherwise="accepted")
    script = all_well(judge=judged, plan=stops_after(1, "two attempts failed alike"))

    ended = run(
        script,
        person=approves("softmax", "rmsnorm", "gelu"),
        worker=fails("verify", times=99, kernel="rmsnorm"),
    )

    assert {q.kernel_id for q in script.said["judge"]} == {"softmax", "rmsnorm", "gelu"}
    assert [q.kernel_id for q in script.said["end_kernel"]] == ["rmsnorm"]
    assert len(script.said["emit_diff"]) == 1
    assert ended.output["finish"]["status"] == "delivered"


@pytest.mark.parametrize("outcome", ["nothing_found", "bad_source", "cancelled"])
def test_a_job_without_kernels_ends_at_once_with_the_reason(outcome):
    script = all_well(
        discover=lambda q: steps.DiscoverResult(job_id=q.job_id, outcome=outcome, reason="why")
    )

    ended = run(script)

    assert ended.gates == []
    assert script.said["finish"] == [steps.FinishRequest(job_id=JOB, outcome=outcome, reason="why")]


def test_a_busy_store_is_tried_again():
    script = all_well(discover=raising(StoreBusy("throttled"), times=2))

    ended = run(script)

    assert len(script.said["discover"]) == 3
    assert ended.output["finish"]["status"] == "delivered"


@pytest.mark.parametrize("name", ["Lambda.ServiceException", "Lambda.Unknown"])
def test_a_lambda_that_is_killed_is_run_again(name):
    killed = type(name, (Exception,), {})
    script = all_well(discover=raising(killed("killed"), times=1))

    ended = run(script)

    assert len(script.said["discover"]) == 2
    assert ended.output["finish"]["status"] == "delivered"


def raising(error, *, times):
    left = [error] * times

    def discover(request):
        if left:
            raise left.pop()
        return steps.DiscoverResult(job_id=request.job_id, outcome="found", found=1)

    return discover


def test_what_a_step_refuses_ends_the_job_with_its_words():
    script = all_well(discover=raising(BadSource("the zip leaves its folder"), times=9))

    run(script)

    assert len(script.said["discover"]) == 1
    (finish,) = script.said["finish"]
    assert finish.outcome == "failed"
    assert finish.reason == "BadSource: the zip leaves its folder"


def test_a_patch_that_the_forge_does_not_take_fails_the_job_and_says_why():
    def refuse(_request):
        raise NotTaken("the token may not push")

    script = all_well(deliver=refuse)

    run(script)

    (finish,) = script.said["finish"]
    assert (finish.outcome, finish.reason) == ("failed", "DeliveryFailed: the token may not push")


def test_no_payload_is_larger_than_32_kilobytes_with_many_kernels_of_the_longest_name():
    script = all_well()
    names = [f"{number:02}".ljust(64, "x") for number in range(12)]

    ended = run(script, person=approves(*names))

    assert len(script.said["judge"]) == 12
    assert max(len(payload) for payload in ended.payloads) < 32 * 1024
