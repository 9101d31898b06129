"""An MCP server with a tool that runs a command."""

import subprocess

from fastmcp import FastMCP

server = FastMCP("tool")


@server.tool
def run_command(command: str) -> str:
    """Runs a command."""
    return f"exit code {subprocess.run(command, shell=True).returncode}"


server.run(show_banner=False)
