"""A sealed kernel's result: by job and kernel, from the service, and by nothing else."""

import json
from typing import Any

from nkiport.client import Client
from nkiport.contracts import keys
from nkiport.contracts.errors import NotFound


def sealed_kernel(job_id: str, kernel_id: str) -> dict[str, Any]:
    """How far a job's kernel is: its last candidate and verdict. Raises ``NotFound``."""
    client = Client.connected()
    job = client.job(job_id)
    kernel = next((k for k in job.kernels if k.kernel_id == kernel_id), None)
    if kernel is None:
        there = ", ".join(k.kernel_id for k in job.kernels) or "none yet"
        raise NotFound(f"job '{job_id}' has no kernel '{kernel_id}'; there are: {there}")
    verdict = _held(client, keys.verdict(job_id, kernel_id, kernel.attempt), job_id)
    return {
        "mode": "sealed", "job_id": job_id, "kernel_id": kernel_id, "status": kernel.status,
        "reason": kernel.reason, "turns_used": kernel.attempt, "job_status": job.status,
        "waits_for": [gate.gate for gate in job.gates if gate.status == "open"],
        "kernel_source": _held(client, keys.candidate(job_id, kernel_id, kernel.attempt), job_id),
        "verdict": json.loads(verdict) if verdict else None,
    }  # fmt: skip


def delivered_patch(job_id: str) -> str:
    """The patch of a delivered job. Raises ``NotFound`` where none was made."""
    return Client.connected().artifact(job_id, _named(keys.patch(job_id), job_id)).decode()


def _held(client: Client, key: str, job_id: str) -> str | None:
    try:
        return client.artifact(job_id, _named(key, job_id)).decode()
    except NotFound:
        return None


def _named(key: str, job_id: str) -> str:
    return key.removeprefix(f"jobs/{job_id}/")
