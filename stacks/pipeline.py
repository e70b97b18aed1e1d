"""The migration machine: its steps, its queues, and who may touch what."""

from aws_cdk import CfnOutput, Duration, Stack
from constructs import Construct

from stacks.constructs.machine import Machine
from stacks.constructs.models import may_call_models
from stacks.constructs.step_lambda import StepLambda
from stacks.constructs.work_queue import WorkQueue
from stacks.data import Data
from stacks.deployment import Deployment
from statemachine import retries
from statemachine.groups.migration import CHILDREN
from statemachine.pipeline import migration_job
from statemachine.tasks import STEPS, Calls


class Pipeline(Stack):
    """Everything between a submitted job and its last status."""

    def __init__(self, scope: Construct, *, deployment: Deployment, data: Data) -> None:
        super().__init__(scope, "Pipeline")
        self.gates = WorkQueue(
            self, "Gates", visibility=Duration.minutes(6), retention=Duration.days(4)
        )
        self.devices = WorkQueue(
            self,
            "Devices",
            visibility=Duration.seconds(deployment.device_visibility_seconds),
            retention=Duration.days(1),
        )
        self.steps = {step: self._step(step, deployment, data) for step in STEPS}
        self._grant(deployment, data)
        calls = Calls(
            steps={name: step.function for name, step in self.steps.items()},
            device_queue=self.devices.queue,
            gate_queue=self.gates.queue,
        )
        self.migration_job = Machine(
            self,
            "MigrationJob",
            definition=migration_job(self, calls),
            timeout=retries.JOB_TIMEOUT,
            invokes=calls.steps.values(),
            children=CHILDREN,
        ).machine
        CfnOutput(self, "StateMachineArn", value=self.migration_job.state_machine_arn)
        CfnOutput(self, "DeviceQueueUrl", value=self.devices.queue.queue_url)
        CfnOutput(self, "GateQueueUrl", value=self.gates.queue.queue_url)

    def _step(self, step: str, deployment: Deployment, data: Data) -> StepLambda:
        known = {
            "ARTIFACT_BUCKET": data.bucket.bucket_name,
            "TABLE_NAME": data.table.table_name,
            "EVIDENCE_KEY_ARN": data.evidence_key.key_arn,
            "GITHUB_TOKEN_SECRET_ARN": data.secrets.github.secret_arn,
            "CLAUDE_MODEL_ID": deployment.claude_model_id,
            "QWEN_CMI_ARN": deployment.qwen_cmi_arn,
            "VLLM_ENDPOINT": deployment.vllm_endpoint,
        }
        return StepLambda(self, step, deployment=deployment, known=known)

    def _grant(self, deployment: Deployment, data: Data) -> None:
        for step in self.steps.values():
            step.records(data.table)
        for name in ("discover", "assess", "plan", "generate", "judge", "end_kernel", "emit_diff",
                     "deliver"):  # fmt: skip
            self.steps[name].reads(data.bucket, "jobs")
        for name in ("discover", "generate", "judge", "end_kernel", "emit_diff"):
            self.steps[name].writes(data.bucket, "jobs")
        self.steps["discover"].reads(data.bucket, "uploads")
        may_call_models(self.steps["generate"], deployment)
        self.steps["emit_diff"].reads(data.bucket, "sealed")
        self.steps["emit_diff"].may(["kms:Sign", "kms:GetPublicKey"], data.evidence_key.key_arn)
        self.steps["deliver"].secret(data.secrets.github)
