"""openai-agents as a host, with a model that calls one tool and says what it was told.

    of_openai_agents.py TOOL COMMAND..."""

import asyncio
import json
import os
import sys
from pathlib import Path

from agents import Agent, Runner
from agents.mcp import MCPServerStdio

sys.path.insert(0, str(Path(__file__).parents[4] / "sdk/python/frameworks/tests"))
from stub_openai import Stub, call  # noqa: E402

tool, *command = sys.argv[1:]


async def main():
    params = {"command": command[0], "args": command[1:], "env": dict(os.environ)}
    async with MCPServerStdio(params=params, client_session_timeout_seconds=None) as server:
        arguments = {"name": "calendar"} if tool == "links" else {}
        agent = Agent(name="host", model=Stub(call(tool, "1", **arguments)), mcp_servers=[server])
        result = await Runner.run(agent, "Call it")
        print(json.dumps({"said": result.final_output}))


asyncio.run(main())
