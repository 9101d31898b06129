"""The client of the package, with a handler for permissions."""

import asyncio
import pathlib

import acp_client
import far


async def permission(request):
    return await far.decide(request["options"], request["toolCall"].get("title"))


async def main():
    agent = acp_client.Agent(far.AGENT, pathlib.Path.cwd(), permission=permission)
    for text in far.PROMPTS:
        await agent.ask(text)
        far.tell(ended="end_turn")
    await agent.stop()


asyncio.run(main())
