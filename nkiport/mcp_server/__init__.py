"""MCP."""


def serve() -> None:
    """Serve."""
