"""A provider without a handler, as it is by default."""

import asyncio
import os

import far
from langgraph_acp import ACPAgentRegistry, ACPNode, StdioACPProvider


async def main():
    registry = ACPAgentRegistry()
    provider = StdioACPProvider(name="agent", command=far.AGENT, cwd=os.getcwd(), env=dict(os.environ), permissions=None)
    registry.register(provider)
    for text in far.PROMPTS:
        result = await ACPNode(agent="agent", registry=registry)(text)
        far.tell(ended=str(getattr(result, "stop_reason", result)))


asyncio.run(main())
