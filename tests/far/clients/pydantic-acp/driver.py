"""A model of pydantic-ai that is an agent, and a client of the SDK that it asks."""

import asyncio
import os

import acp
import far
from pydantic_acp import create_acp_model
from pydantic_ai import Agent


class Person(acp.Client):
    async def request_permission(self, session_id, tool_call, options, **more):
        chosen = await far.decide(options, tool_call.title)
        return acp.RequestPermissionResponse(outcome={"outcome": "selected", "optionId": chosen})


async def main():
    agent = Agent(create_acp_model(acp_command=far.AGENT, cwd=os.getcwd(), delegate_client=Person()))
    for text in far.PROMPTS:
        far.tell(ended=(await agent.run(text)).output)


asyncio.run(main())
