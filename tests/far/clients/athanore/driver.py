"""An agent of the package alone, which allows by itself."""

import asyncio

import far
from athanore import ACPAgent


class Far(ACPAgent):
    command = far.AGENT
    permission_policy = "auto_allow"
    tooling = "none"


async def main():
    for text in far.PROMPTS:
        far.tell(ended=str(await Far().run(text))[:200])


asyncio.run(main())
