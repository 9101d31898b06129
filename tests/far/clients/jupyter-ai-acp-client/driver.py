"""The client of the package, with a stand-in for the persona and its chat; its buttons are pressed by their options."""

import asyncio
import logging
import os
import types
from unittest import mock

import far
from jupyter_ai_acp_client.default_acp_client import JaiAcpClient


def persona():
    """Returns what the client needs of a persona."""
    stand_in = mock.MagicMock()
    stand_in.log = logging.getLogger("persona")
    stand_in.get_chat_dir.return_value = os.getcwd()
    stand_in.get_mcp_settings.return_value = None
    stand_in.parent = types.SimpleNamespace(root_dir=os.getcwd())
    return stand_in


async def press(client, session):
    """Presses the button that allows, or none, and tells what is shown of the request."""
    seen, pressed = {}, set()
    while True:
        state = client._tool_call_manager._sessions.get(session)
        for call in list(state.tool_calls.values() if state else []):
            if call.permission_status == "pending" and call.tool_call_id not in seen:
                seen[call.tool_call_id] = call.permission_options
                far.asked(call.permission_options, call.title)
        for number, (id, options) in enumerate(seen.items()):
            if id not in pressed and far.is_due(number):
                pressed.add(id)
                client.resolve_permission(session, id, far.allowing(options))
        await asyncio.sleep(0.05)


async def main():
    loop = asyncio.get_running_loop()
    agent = asyncio.create_subprocess_exec(*far.AGENT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    process = await agent
    client = JaiAcpClient(agent_subprocess=process, event_loop=loop)
    session = (await client.create_session(persona())).session_id
    presses = asyncio.create_task(press(client, session))
    for text in far.PROMPTS:
        far.tell(ended=(await client.prompt_and_reply(session, text)).stop_reason)
    presses.cancel()
    process.stdin.close()
    await process.wait()


asyncio.run(main())
