"""A coding agent follows a sealed kernel through its job, and can name nothing that was sealed."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.local.test_a_job_end_to_end import DOUBLE

pytestmark = pytest.mark.local
ROOT = Path(__file__).parents[2]


def test_a_sealed_kernel_is_verified_by_its_job_and_by_nothing_else(local, tmp_path):
    job = local.submit({"double.py": DOUBLE})
    local.approve(job.job_id, "scope")
    local.approve(job.job_id, "requirements")
    local.ended(job.job_id)
    program = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from nkiport.mcp_server import serve; serve()"],
        env={
            "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "TMPDIR": str(tmp_path),
            "PATH": os.environ["PATH"], "NKIPORT_URL": local.state.url,
            "NKIPORT_TOKEN": local.state.token,
        },
    )  # fmt: skip
    sealed = {"job_id": job.job_id, "kernel_id": "double"}

    async def talk():
        async with Client(program) as client:
            kept = await client.call_tool("nki_verify", sealed)
            refused = await client.call_tool("nki_verify", {**sealed, "reference_source": DOUBLE})
            unknown = await client.call_tool("nki_compile", {**sealed, "kernel_id": "other"})
            return kept, refused, unknown

    kept, refused, unknown = asyncio.run(talk())

    assert not kept.is_error, kept.content
    assert (kept.structured_content["mode"], kept.structured_content["status"]) == (
        "sealed", "accepted",
    )  # fmt: skip
    assert kept.structured_content["verdict"]["outcome"] == "accepted"
    assert refused.is_error
    assert "Sealed" in refused.content[0].text
    assert unknown.is_error
    assert "has no kernel 'other'; there are: double" in unknown.content[0].text
