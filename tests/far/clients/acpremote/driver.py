"""A client of the Python SDK, whose agent is served and mirrored by the package over a WebSocket."""

import asyncio
import os

import acp
import far
import gateway


class Client:
    async def request_permission(self, session_id, tool_call, options, **more):
        chosen = await far.decide(options, tool_call.title)
        return acp.RequestPermissionResponse(outcome={"outcome": "selected", "optionId": chosen})

    async def session_update(self, session_id, update, **more):
        pass

    def on_connect(self, connection):
        pass


async def main():
    port = gateway.free_port()
    served = gateway.serve("acpremote", "expose", "--host", "127.0.0.1", "--port", str(port), "--", *far.AGENT)
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.1)
    words = ["acpremote", "mirror", f"ws://127.0.0.1:{port}/acp/ws"]
    async with acp.spawn_agent_process(Client(), *words, env=dict(os.environ)) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        session = await agent.new_session(cwd=os.getcwd(), mcp_servers=[])
        for text in far.PROMPTS:
            ended = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(text)])
            far.tell(ended=ended.stop_reason)
    served.terminate()
    served.wait()


asyncio.run(main())
