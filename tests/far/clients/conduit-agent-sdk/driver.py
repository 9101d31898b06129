"""The client of the package, with a callback for permissions, which it calls and does not await."""

import asyncio
import os

import far
from conduit_sdk import AgentOptions, Client, PermissionResultAllow


async def permission(name, *more):
    await far.decide([{"name": "allow", "option_id": "allow"}], name)
    return PermissionResultAllow()


async def main():
    options = AgentOptions(cwd=os.getcwd(), can_use_tool=permission)
    async with Client(far.AGENT, options=options, env=dict(os.environ)) as client:
        for text in far.PROMPTS:
            async for _ in client.prompt(text):
                pass
            far.tell(ended="end_turn")


asyncio.run(main())
# The end of the interpreter sometimes crashes in the package, without askbridge as well.
os._exit(0)
