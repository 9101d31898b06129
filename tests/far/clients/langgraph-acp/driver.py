"""A provider with a handler for permissions."""

import asyncio
import os

import far
from langgraph_acp import ACPAgentRegistry, ACPNode, StdioACPProvider
from langgraph_acp.permissions import ACPPermissionOutcome


async def permission(request):
    return ACPPermissionOutcome.selected(await far.decide(request.options, request.tool_call.get("title")))


async def main():
    registry = ACPAgentRegistry()
    provider = StdioACPProvider(name="agent", command=far.AGENT, cwd=os.getcwd(), env=dict(os.environ), permissions=permission)
    registry.register(provider)
    for text in far.PROMPTS:
        result = await ACPNode(agent="agent", registry=registry)(text)
        far.tell(ended=str(getattr(result, "stop_reason", result)))


asyncio.run(main())
