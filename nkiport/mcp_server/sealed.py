"""A sealed kernel's result: by job and kernel, from the service, and by nothing else."""

import json
from typing import Any

from nkiport.client import Client
from nkiport.contracts.errors import NotFound


def sealed_kernel(job_id: str, kernel_id: str) -> dict[str, Any]:
    """How far a job's kernel is, with its verdict where there is one. Raises ``NotFound``."""
    client = Client.connected()
    job = client.job(job_id)
    kernel = next((k for k in job.kernels if k.kernel_id == kernel_id), None)
    if kernel is None:
        there = ", ".join(k.kernel_id for k in job.kernels) or "none yet"
        raise NotFound(f"job '{job_id}' has no kernel '{kernel_id}'; there are: {there}")
    return {
        "mode": "sealed", "job_id": job_id, "kernel_id": kernel_id, "status": kernel.status,
        "reason": kernel.reason, "turns_used": kernel.attempt, "job_status": job.status,
        "waits_for": [gate.gate for gate in job.gates if gate.status == "open"],
        "verdict": _verdict(client, job_id, kernel_id, kernel.attempt),
    }  # fmt: skip


def _verdict(client: Client, job_id: str, kernel_id: str, attempt: int) -> Any:
    try:
        name = f"kernels/{kernel_id}/attempts/{attempt}/verdict.json"
        return json.loads(client.artifact(job_id, name))
    except NotFound:
        return None
