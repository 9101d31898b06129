"""The server of the package, called over MCP; it allows by itself in its mode "yolo"."""

import asyncio
import json
import os
import pathlib

import far
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    folder = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "rutherford")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f"[agents.far]\ncommand = {json.dumps(far.AGENT)}\n")
    async with stdio_client(StdioServerParameters(command="rutherford-mcp-server", env=dict(os.environ))) as pipes:
        async with ClientSession(*pipes) as session:
            await session.initialize()
            for text in far.PROMPTS:
                arguments = {"cli": "far", "prompt": text, "working_dir": os.getcwd()}
                arguments |= {"safety_mode": "yolo", "trust_workspace": True}
                far.tell(ended=str(await session.call_tool("delegate", arguments))[:200])


asyncio.run(main())
