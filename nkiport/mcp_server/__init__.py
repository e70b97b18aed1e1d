"""The seven tools, served to coding agents over stdin and stdout with the official SDK."""

from nkiport.mcp_server.server import serve, server

__all__ = ["serve", "server"]
