#!/usr/bin/env bash
# jupyter-ai-acp-client 0.3.3 (PyPI): an agent asks for two permissions in one tool call, as langchain-acp does for two calls
# of one tool. Each request has its own title and input. One would guess that the person sees each as it is, and that each
# gets its answer. The second is shown with the title and the input of the first. Where both are open at once, there is
# one row of buttons, which answers the second; the first has no answer until its turn is cancelled.
#
# Output:
#   in turn: asked for 'touch a', shown 'touch a' {'command': 'touch a'}
#   in turn: asked for 'touch b', shown 'touch a' {'command': 'touch a'}
#   at once: asked for 'touch a' and 'touch b', one row of buttons
#   at once: pressed, True; pressed again, False
#   at once: 'touch a' has no answer, 'touch b' has one
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q jupyter-ai-acp-client==0.3.3
cat >client.py <<'PROGRAM'
import asyncio, logging, types
from unittest import mock
from acp.schema import PermissionOption, ToolCallUpdate
from jupyter_ai_acp_client.default_acp_client import JaiAcpClient

logging.disable(logging.CRITICAL)
OPTIONS = [PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
           PermissionOption(option_id="no", name="Reject", kind="reject_once")]

async def settle():
    for _ in range(20):
        await asyncio.sleep(0)

async def begun(session):
    """Returns a client with a session, and a stand-in for the persona and its chat."""
    process = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    client = JaiAcpClient(agent_subprocess=process, event_loop=asyncio.get_running_loop())
    persona = mock.MagicMock()
    persona.log, persona.parent = logging.getLogger("persona"), types.SimpleNamespace(root_dir=".")
    client._personas_by_session[session] = persona
    return client, process

async def main():
    client, process = await begun("s")
    shown = lambda: client._tool_call_manager.get_tool_call("s", "call-1")

    def asked(command):
        call = ToolCallUpdate(tool_call_id="call-1", title=command, kind="execute", raw_input={"command": command})
        return asyncio.create_task(client.request_permission(options=OPTIONS, session_id="s", tool_call=call))

    for command in ("touch a", "touch b"):
        answer = asked(command)
        await settle()
        assert shown().permission_status == "pending"
        print(f"in turn: asked for {command!r}, shown {shown().title!r} {shown().raw_input}")
        assert client.resolve_permission("s", "call-1", "yes")
        assert (await answer).outcome.option_id == "yes"

    first, second = asked("touch a"), asked("touch b")
    await settle()
    rows = [call for call in client._tool_call_manager._sessions["s"].tool_calls.values() if call.permission_status == "pending"]
    assert len(rows) == 1, rows
    print("at once: asked for 'touch a' and 'touch b', one row of buttons")
    pressed = client.resolve_permission("s", "call-1", "yes")
    await settle()
    print(f"at once: pressed, {pressed}; pressed again, {client.resolve_permission('s', 'call-1', 'yes')}")
    await settle()
    said = {True: "has one", False: "has no answer"}
    print(f"at once: 'touch a' {said[first.done()]}, 'touch b' {said[second.done()]}")
    first.cancel()
    process.stdin.close()
    await process.wait()

asyncio.run(main())
PROGRAM
python/bin/python client.py 2>/dev/null | tee said
diff said - <<'EXPECTED'
in turn: asked for 'touch a', shown 'touch a' {'command': 'touch a'}
in turn: asked for 'touch b', shown 'touch a' {'command': 'touch a'}
at once: asked for 'touch a' and 'touch b', one row of buttons
at once: pressed, True; pressed again, False
at once: 'touch a' has no answer, 'touch b' has one
EXPECTED
