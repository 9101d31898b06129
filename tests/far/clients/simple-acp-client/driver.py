"""The client of the package, which approves by itself."""

import asyncio
import os

import far
from simple_acp_client.sdk.client import PyACPAgentOptions, PyACPSDKClient


async def main():
    options = PyACPAgentOptions(cwd=os.getcwd(), env=dict(os.environ), agent_program=far.AGENT[0], agent_args=far.AGENT[1:])
    async with PyACPSDKClient(options) as client:
        for text in far.PROMPTS:
            await client.query(text)
            async for message in client.receive_messages():
                if type(message).__name__ in ("EndOfTurnMessage", "ResultMessage"):
                    break
            far.tell(ended="end_turn")


asyncio.run(main())
