"""The client of the package."""

import os

import anyio
import far
from chuk_acp import ACPClient


async def main():
    async with ACPClient(far.AGENT[0], far.AGENT[1:], env=dict(os.environ)) as client:
        for text in far.PROMPTS:
            await client.send_prompt(text)
            far.tell(ended="end_turn")


anyio.run(main)
