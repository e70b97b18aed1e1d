"""What the machine does with each kind of answer; the steps follow a script."""

from tests.machine.harness import World, aws, checked_in, hurried
from tests.machine.scripted import all_well, approves, passes

JOB = "job-00000001"


def test_a_job_goes_from_its_source_to_a_delivered_patch():
    script = all_well()

    with aws(script.steps()):
        ended = World(hurried(checked_in()), approves("softmax"), passes).run(JOB)

    assert ended.output["finish"] == {"job_id": JOB, "status": "delivered"}
    assert [gate.gate for gate in ended.gates] == ["scope", "requirements"]
    assert [task.step for task in ended.tasks] == ["capture", "compile", "verify", "profile"]
