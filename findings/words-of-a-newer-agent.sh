#!/usr/bin/env bash
# agent-client-protocol 0.12.1 (PyPI) and @agentclientprotocol/sdk 2.4.0 (npm): an agent uses a word that the client's
# SDK does not know, as a newer version may, in three places. A tool's kind becomes no kind, a step of a plan with an
# unknown status vanishes from the plan without a word, and an unknown kind of one option ends the whole permission with
# -32602, so that nobody is asked. One would guess one way for all: show what is known. Both SDKs do the same in each
# place.
#
# Output:
#   a tool's kind        Python: shown without kind  TypeScript: shown without kind
#   a step's status      Python: 1 of 2 steps        TypeScript: 1 of 2 steps
#   an option's kind     Python: -32602              TypeScript: -32602
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q agent-client-protocol==0.12.1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @agentclientprotocol/sdk@2.4.0
cat >agent.py <<'PROGRAM'
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def update(**update):
    send(method="session/update", params={"sessionId": "s", "update": update})

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=id, result={"protocolVersion": 1})
    elif method == "session/new":
        send(id=id, result={"sessionId": "s"})
    elif method == "session/prompt":
        prompt = id
        update(sessionUpdate="tool_call", toolCallId="t", title="Draw", kind="draw")
        update(sessionUpdate="plan", entries=[{"content": "One", "priority": "high", "status": "pending"},
                                              {"content": "Two", "priority": "high", "status": "blocked"}])
        options = [{"optionId": "a", "name": "Allow", "kind": "allow_once"},
                   {"optionId": "b", "name": "Allow here", "kind": "allow_folder"}]
        send(id="ask", method="session/request_permission",
             params={"sessionId": "s", "toolCall": {"toolCallId": "t"}, "options": options})
    elif id == "ask":
        send(id=prompt, result={"stopReason": "end_turn", "_meta": {"code": message.get("error", {}).get("code")}})
PROGRAM
cat >client.py <<'PROGRAM'
import asyncio, json, logging, sys
import acp
logging.disable(logging.CRITICAL)
said = {"tool": "not shown", "plan": "no plan"}

class Person(acp.Client):
    async def session_update(self, session_id, update, **kwargs):
        if update.session_update == "tool_call":
            said["tool"] = f"shown {'with' if update.kind else 'without'} kind"
        else:
            said["plan"] = f"{len(update.entries)} of 2 steps"

    async def request_permission(self, options, session_id, tool_call, **kwargs):
        return {"outcome": {"outcome": "cancelled"}}

async def main():
    async with acp.spawn_agent_process(Person(), sys.executable, "agent.py") as (agent, _):
        await agent.initialize(protocol_version=1)
        await agent.new_session(cwd="/", mcp_servers=[])
        answer = await agent.prompt(session_id="s", prompt=[acp.text_block("Hello")])
        said["option"] = str(answer.field_meta["code"])
    print(json.dumps(said))

asyncio.run(main())
PROGRAM
cat >client.mjs <<'PROGRAM'
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
const said = { tool: "not shown", plan: "no plan" };
const { stdin, stdout } = spawn("python3", ["agent.py"], { stdio: ["pipe", "pipe", "inherit"] });
await client()
  .onNotification("session/update", ({ params: { update } }) => {
    if (update.sessionUpdate === "tool_call") said.tool = `shown ${update.kind ? "with" : "without"} kind`;
    else said.plan = `${update.entries.length} of 2 steps`;
  })
  .onRequest("session/request_permission", () => ({ outcome: { outcome: "cancelled" } }))
  .connectWith(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)), async (agent) => {
    await agent.request("initialize", { protocolVersion: 1 });
    await agent.request("session/new", { cwd: "/", mcpServers: [] });
    const prompt = [{ type: "text", text: "Hello" }];
    said.option = String((await agent.request("session/prompt", { sessionId: "s", prompt }))._meta.code);
  });
console.log(JSON.stringify(said));
process.exit();
PROGRAM
python/bin/python client.py >python.json 2>/dev/null
node client.mjs >typescript.json 2>/dev/null
cat >table.py <<'PROGRAM'
import json
python, typescript = json.load(open("python.json")), json.load(open("typescript.json"))
for name, word in (("a tool's kind", "tool"), ("a step's status", "plan"), ("an option's kind", "option")):
    print(f"{name:<20} Python: {python[word]:<19} TypeScript: {typescript[word]}")
PROGRAM
python3 table.py | tee said
diff said - <<'EXPECTED'
a tool's kind        Python: shown without kind  TypeScript: shown without kind
a step's status      Python: 1 of 2 steps        TypeScript: 1 of 2 steps
an option's kind     Python: -32602              TypeScript: -32602
EXPECTED
