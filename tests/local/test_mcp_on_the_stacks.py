"""A coding agent follows a sealed kernel through its job, and can name nothing that was sealed."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.local.test_a_job_end_to_end import DOUBLE

pytestmark = pytest.mark.local
ROOT = Path(__file__).parents[2]


SEALED = (
    "nki_generate_kernel", "nki_compile", "nki_verify", "nki_profile",
)  # fmt: skip


def client_of(local, home):
    """A server in a process of its own, which knows the service by its environment."""
    return Client(
        StdioServerParameters(
            command=sys.executable,
            args=["-c", "from nkiport.mcp_server import serve; serve()"],
            env={
                "PYTHONPATH": str(ROOT), "HOME": str(home), "TMPDIR": str(home),
                "PATH": os.environ["PATH"], "NKIPORT_URL": local.state.url,
                "NKIPORT_TOKEN": local.state.token,
            },
        )
    )  # fmt: skip


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def test_one_client_carries_a_migration_through_the_seven_tools(local, tmp_path):
    """A person submits and answers the gates; the agent does all that lies between."""
    (tmp_path / "double.py").write_text(DOUBLE)

    async def migration():
        async with client_of(local, tmp_path) as client:
            found = await call(client, "nki_discover_kernels", repo_root=str(tmp_path))
            skills = await call(client, "nki_skill_lookup", query="element-wise multiply")
            job_id = local.submit({"double.py": DOUBLE}).job_id
            local.approve(job_id, "scope")
            local.waits(job_id, "requirements")
            named = {"job_id": job_id, "kernel_id": found["candidates"][0]["kernel_id"]}
            waiting = await call(client, "nki_generate_kernel", **named)
            local.approve(job_id, "requirements")
            local.ended(job_id)
            kept = {tool: await call(client, tool, **named) for tool in SEALED}
            diff = await call(client, "nki_emit_diff", job_id=job_id)
            return skills, waiting, kept, diff["diff"]

    skills, waiting, kept, diff = asyncio.run(migration())

    assert skills["total_matches"] > 0
    assert (waiting["waits_for"], waiting["kernel_source"]) == (["requirements"], None)
    assert {(k["mode"], k["status"]) for k in kept.values()} == {("sealed", "accepted")}
    source = kept["nki_generate_kernel"]["kernel_source"]
    (tmp_path / "migration.patch").write_text(diff)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "migration.patch"], cwd=tmp_path, check=True)
    assert source in {path.read_text() for path in tmp_path.rglob("*.py")}


def test_a_sealed_kernel_is_verified_by_its_job_and_by_nothing_else(local, tmp_path):
    job = local.submit({"double.py": DOUBLE})
    local.approve(job.job_id, "scope")
    local.approve(job.job_id, "requirements")
    local.ended(job.job_id)
    sealed = {"job_id": job.job_id, "kernel_id": "double"}

    async def talk():
        async with client_of(local, tmp_path) as client:
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
