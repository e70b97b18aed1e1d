"""Seven thin tools; each calls a function that the commands call too."""

from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from nkiport import __version__
from nkiport.contracts.errors import NkiportError
from nkiport.mcp_server import tools

TOOLS: tuple[Callable[..., Any], ...] = (
    tools.nki_discover_kernels,
    tools.nki_generate_kernel,
    tools.nki_compile,
    tools.nki_verify,
    tools.nki_profile,
    tools.nki_skill_lookup,
    tools.nki_emit_diff,
)
INSTRUCTIONS = (
    "Migrates PyTorch, Triton and CUDA kernels to AWS Trainium. Results are functional evidence "
    "from a simulator unless they say 'silicon'. Without job_id they are 'unsealed': the caller "
    "chose reference and tolerance. A job's gates are answered by a person."
)


def server() -> MCPServer:
    """The server with its tools; trouble is a tool error of one sentence."""
    made: MCPServer = MCPServer("nkiport", version=__version__, instructions=INSTRUCTIONS)
    for tool in TOOLS:
        made.tool(structured_output=True)(_worded(tool))
    return made


def serve() -> None:
    """Serve until stdin ends."""
    server().run("stdio")


def _worded(tool: Callable[..., Any]) -> Callable[..., Any]:
    from functools import wraps

    @wraps(tool)
    def called(*arguments: Any, **keywords: Any) -> Any:
        try:
            return tool(*arguments, **keywords)
        except NkiportError as error:
            raise ToolError(f"{type(error).__name__}: {error}") from error

    return called
