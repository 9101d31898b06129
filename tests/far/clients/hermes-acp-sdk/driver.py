"""The client for Hermes, whose program is the agent; it refuses by itself, as it does by default."""

import asyncio
import os

import far
from hermes_acp_sdk import Finished, HermesClient


async def main():
    async with HermesClient(command=far.AGENT[0], acp_args=far.AGENT[1:], env=dict(os.environ), cwd=os.getcwd()) as hermes:
        async with hermes.session() as session:
            for text in far.PROMPTS:
                async for event in session.prompt(text):
                    if isinstance(event, Finished):
                        far.tell(ended=event.stop_reason)


asyncio.run(main())
