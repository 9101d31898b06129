"""A client made of the library acp-client: it prompts once, and asks the person who is at a socket of its own.

    prompt.py AGENT

Each line that comes at $XDG_RUNTIME_DIR/person answers what has waited for the longest time.
"""

import asyncio
import json
import os
import pathlib
import sys

import acp_client


async def main():
    answers, turn = asyncio.Queue(), asyncio.Lock()

    async def hear(reader, writer):
        while line := await reader.readline():
            await answers.put(json.loads(line))
        writer.close()

    async def permission(request):
        async with turn:
            return (await answers.get())["optionId"]

    await asyncio.start_unix_server(hear, os.path.join(os.environ["XDG_RUNTIME_DIR"], "person"))
    agent = acp_client.Agent(sys.argv[1:], pathlib.Path.cwd(), permission=permission)
    await agent.ask("hello")
    await agent.stop()


asyncio.run(main())
