#!/usr/bin/env bash
# @agentclientprotocol/sdk 2.4.0 (npm), and agent-client-protocol 0.12.1 (PyPI) beside it: an agent asks for permission
# with one option. The TypeScript SDK checks the parameters of every request against the schema, and hands on the result
# of its own request as it came: {}, or an outcome that it does not know. The Python SDK raises at both. One would guess
# that an SDK checks in both directions, or in none. Neither of them compares the option with those that were offered,
# so an agent that looks for "not rejected" takes what is no answer for a yes.
#
# Output:
#   the result {}                          TypeScript: {}  Python: raises
#   the outcome "postponed"                TypeScript: {"outcome":{"outcome":"postponed"}}  Python: raises
#   an option that was not offered         TypeScript: {"outcome":{"outcome":"selected","optionId":"other"}}  Python: other
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q agent-client-protocol==0.12.1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @agentclientprotocol/sdk@2.4.0
cat >agent.mjs <<'PROGRAM'
import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk";
agent()
  .onRequest("initialize", () => ({ protocolVersion: 1 }))
  .onRequest("session/new", () => ({ sessionId: "s" }))
  .onRequest("session/prompt", async ({ client }) => {
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const ask = { sessionId: "s", toolCall: { toolCallId: "t" }, options };
    const said = await client.request("session/request_permission", ask).then(JSON.stringify, () => "raises");
    return { stopReason: "end_turn", _meta: { said } };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
PROGRAM
cat >agent.py <<'PROGRAM'
import asyncio, logging
import acp
from acp.schema import PermissionOption, ToolCallUpdate
logging.disable(logging.CRITICAL)

class Agent(acp.Agent):
    def on_connect(self, client):
        self.client = client

    async def initialize(self, protocol_version, **kwargs):
        return acp.InitializeResponse(protocol_version=1)

    async def new_session(self, cwd, mcp_servers=None, **kwargs):
        return acp.NewSessionResponse(session_id="s")

    async def prompt(self, prompt, session_id, **kwargs):
        options = [PermissionOption(option_id="yes", name="Yes", kind="allow_once")]
        try:
            answer = await self.client.request_permission(
                session_id="s", tool_call=ToolCallUpdate(tool_call_id="t"), options=options)
            said = answer.outcome.option_id
        except Exception:
            said = "raises"
        return acp.PromptResponse(stop_reason="end_turn", field_meta={"said": said})

asyncio.run(acp.run_agent(Agent()))
PROGRAM
cat >client.py <<'PROGRAM'
import json, subprocess, sys
answers = {
    "the result {}": {},
    'the outcome "postponed"': {"outcome": {"outcome": "postponed"}},
    "an option that was not offered": {"outcome": {"outcome": "selected", "optionId": "other"}},
}

def said(command, answer):
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def send(**message):
        agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        agent.stdin.flush()
    send(id=0, method="initialize", params={"protocolVersion": 1})
    for line in agent.stdout:
        message = json.loads(line)
        if message.get("method"):
            send(id=message["id"], result=answer)
        elif message["id"] == 0:
            send(id=1, method="session/new", params={"cwd": "/", "mcpServers": []})
        elif message["id"] == 1:
            send(id=2, method="session/prompt", params={"sessionId": "s", "prompt": [{"type": "text", "text": "Hello"}]})
        else:
            agent.stdin.close()
            agent.wait(30)
            return message["result"]["_meta"]["said"]

for name, answer in answers.items():
    node, python = said(["node", "agent.mjs"], answer), said(["python/bin/python", "agent.py"], answer)
    print(f"{name:<38} TypeScript: {node}  Python: {python}", flush=True)
PROGRAM
python3 client.py | tee said
diff said - <<'EXPECTED'
the result {}                          TypeScript: {}  Python: raises
the outcome "postponed"                TypeScript: {"outcome":{"outcome":"postponed"}}  Python: raises
an option that was not offered         TypeScript: {"outcome":{"outcome":"selected","optionId":"other"}}  Python: other
EXPECTED
