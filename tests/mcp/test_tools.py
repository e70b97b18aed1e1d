"""A real client, over stdin and stdout, carries a migration through the seven tools."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "bench" / "tasks" / "softmax.py").read_text()
SEVEN = {
    "nki_discover_kernels", "nki_generate_kernel", "nki_compile", "nki_verify", "nki_profile",
    "nki_skill_lookup", "nki_emit_diff",
}  # fmt: skip
SPECS = [{"shape": [256, 512], "dtype": "float32"}]


def session(talk, tmp_path):
    """Run a coroutine with a client of a server in a process of its own."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from nkiport.mcp_server import serve; serve()"],
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "TMPDIR": str(tmp_path)},
        cwd=str(ROOT),
    )

    async def main():
        async with Client(program) as client:
            return await talk(client)

    return asyncio.run(main())


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


def test_a_migration_goes_through_all_seven_tools(tmp_path):
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "softmax.py").write_text(REFERENCE)

    async def migration(client):
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == SEVEN
        found = await call(client, "nki_discover_kernels", repo_root=str(repository))
        assert [c["kind"] for c in found["candidates"]] == ["module_forward"]
        skills = await call(client, "nki_skill_lookup", query="row-wise softmax")
        assert skills["results"][0]["relevance_score"] >= 0.75
        made = await call(
            client, "nki_generate_kernel", description="softmax", reference_source=REFERENCE
        )
        assert (made["status"], made["mode"]) == ("success", "unsealed")
        source = made["kernel_source"]
        compiled = await call(client, "nki_compile", kernel_source=source, input_specs=SPECS)
        assert compiled["success"], compiled["errors"]
        verified = await call(
            client, "nki_verify", kernel_source=source, reference_source=REFERENCE
        )
        assert verified["correct"], verified["error"]
        profile = await call(client, "nki_profile", kernel_source=source, input_specs=SPECS)
        assert profile["estimate_us"] > 0
        assert profile["latency_median_us"] is None
        diff = await call(
            client, "nki_emit_diff", repo_root=str(repository), target_file="kernels/softmax.py",
            new_source=source,
        )  # fmt: skip
        return source, diff["diff"]

    source, diff = session(migration, tmp_path)

    (repository / "migration.patch").write_text(diff)
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    subprocess.run(["git", "apply", "migration.patch"], cwd=repository, check=True)
    assert (repository / "kernels" / "softmax.py").read_text() == source


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("nki_discover_kernels", {"repo_root": "/nowhere"}, "there is no folder '/nowhere'"),
        ("nki_emit_diff", {"repo_root": ".", "target_file": "../x.py", "new_source": ""}, "x.py"),
        (
            "nki_verify",
            {"job_id": "job-1", "kernel_id": "k", "reference_source": "class Model: ..."},
            "Sealed",
        ),
        ("nki_generate_kernel", {"description": "x", "reference_source": "y = 1"}, "class Model"),
    ],
)
def test_what_is_wrong_is_one_sentence(tool, arguments, said, tmp_path):
    async def ask(client):
        return await client.call_tool(tool, arguments)

    result = session(ask, tmp_path)

    assert result.is_error
    assert said in result.content[0].text
