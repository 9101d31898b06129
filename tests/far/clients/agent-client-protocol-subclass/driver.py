"""A client that inherits from the protocol class of the SDK, as its documentation does."""

import asyncio
import os

import acp
import far


class Client(acp.Client):
    async def request_permission(self, session_id, tool_call, options, **more):
        chosen = await far.decide(options, tool_call.title)
        return acp.RequestPermissionResponse(outcome={"outcome": "selected", "optionId": chosen})

    async def session_update(self, session_id, update, **more):
        pass

    def on_connect(self, connection):
        pass


async def main():
    async with acp.spawn_agent_process(Client(), *far.AGENT, env=dict(os.environ)) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = await agent.new_session(cwd=os.getcwd(), mcp_servers=[])
        for text in far.PROMPTS:
            ended = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(text)])
            far.tell(ended=ended.stop_reason)


asyncio.run(main())
