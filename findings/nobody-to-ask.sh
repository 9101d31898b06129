#!/usr/bin/env bash
# Seven clients of ACP, as they are when nobody told them how to decide, asked for permission with the options "No",
# "Always" and "Once", in this order: acpx 0.19.1, acp-factory 0.1.14, @mcpc-tech/acp-ai-provider 0.2.9,
# @agentclientprotocol/sdk 2.4.0 (npm), acp-client 0.1.0, simple-acp-client 0.1.6, agent-client-protocol 0.12.1 (PyPI).
# One would guess that all say "cancelled", or that they have no such method. There are four answers; two clients allow,
# and not once but always, as that option comes first. An agent cannot tell a person's answer from one that a library
# made up, and the order of its options decides.
#
# Output:
#   acpx                        No, exit code 5
#   acp-factory                 Always
#   acp-ai-provider             No
#   acp (TypeScript)            error -32601
#   acp-client                  cancelled
#   simple-acp-client           Always
#   acp (Python)                error -32601
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME="$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    acpx@0.19.1 acp-factory@0.1.14 @mcpc-tech/acp-ai-provider@0.2.9 @agentclientprotocol/sdk@2.4.0
for name in old new; do
    python3 -m venv "$name"
done
old/bin/pip install -q acp-client==0.1.0 simple-acp-client==0.1.6
new/bin/pip install -q agent-client-protocol==0.12.1
cat >agent.py <<'PROGRAM'
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

names = {"n": ("No", "reject_once"), "a": ("Always", "allow_always"), "o": ("Once", "allow_once")}
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=id, result={"protocolVersion": 1, "agentCapabilities": {}})
    elif method == "session/new":
        send(id=id, result={"sessionId": "s"})
    elif method == "session/prompt":
        prompt = id
        options = [{"optionId": key, "name": name, "kind": kind} for key, (name, kind) in names.items()]
        call = {"toolCallId": "t", "title": "Print page 1", "kind": "execute"}
        send(id=99, method="session/request_permission", params={"sessionId": "s", "toolCall": call, "options": options})
    elif id == 99 and not method:
        if "error" in message:
            said = f"error {message['error']['code']}"
        else:
            outcome = message["result"]["outcome"]
            said = names[outcome["optionId"]][0] if outcome["outcome"] == "selected" else outcome["outcome"]
        open(sys.argv[1], "w").write(said)
        send(id=prompt, result={"stopReason": "end_turn"})
    elif method and id is not None:
        send(id=id, error={"code": -32601, "message": "Method not found"})
PROGRAM
cat >clients.mjs <<'PROGRAM'
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import { createACPProvider } from "@mcpc-tech/acp-ai-provider";
import { AgentFactory } from "acp-factory";
const cwd = process.cwd();
const text = [{ type: "text", text: "Print page 1." }];
{
  AgentFactory.register("agent", { command: "python3", args: ["agent.py", "acp-factory"] });
  const agent = await AgentFactory.spawn("agent", {});
  for await (const _ of (await agent.createSession(cwd)).prompt("Print page 1."));
}
{
  const session = { cwd, mcpServers: [] };
  const provider = createACPProvider({ command: "python3", args: ["agent.py", "acp-ai-provider"], session });
  await provider.languageModel().doGenerate({ prompt: [{ role: "user", content: text }] });
}
{
  const { stdin, stdout } = spawn("python3", ["agent.py", "acp (TypeScript)"], { stdio: ["pipe", "pipe", "inherit"] });
  await client().connectWith(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)), async (agent) => {
    await agent.request("initialize", { protocolVersion: 1 });
    const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
    await agent.request("session/prompt", { sessionId, prompt: text });
  });
}
process.exit();
PROGRAM
cat >old.py <<'PROGRAM'
import asyncio, os, pathlib
from acp_client import Agent
from simple_acp_client.sdk.client import PyACPAgentOptions, PyACPSDKClient

async def main():
    agent = Agent(["python3", "agent.py", "acp-client"], pathlib.Path.cwd())
    try:
        await agent.ask("Print page 1.")
    finally:
        await agent.stop()
    client = PyACPSDKClient(PyACPAgentOptions(cwd=str(pathlib.Path.cwd())))
    await client.connect(["python3", "agent.py", "simple-acp-client"])
    await client.query("Print page 1.")
    while not os.path.exists("simple-acp-client"):
        await asyncio.sleep(0.05)
    os._exit(0)

asyncio.run(asyncio.wait_for(main(), 60))
PROGRAM
cat >new.py <<'PROGRAM'
import asyncio, os
import acp

class Person:
    async def session_update(self, session_id, update, **kwargs):
        pass

async def main():
    async with acp.spawn_agent_process(Person(), "python3", "agent.py", "acp (Python)") as (agent, _):
        await agent.initialize(protocol_version=1)
        session = await agent.new_session(cwd=os.getcwd(), mcp_servers=[])
        await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("Print page 1.")])

asyncio.run(asyncio.wait_for(main(), 60))
PROGRAM
code=0
npx acpx --agent "python3 $folder/agent.py $folder/acpx" exec "Print page 1." </dev/null >log 2>&1 || code=$?
printf ', exit code %s' "$code" >>acpx
{
    node clients.mjs
    old/bin/python old.py
    new/bin/python new.py
} >>log 2>&1
for name in acpx acp-factory acp-ai-provider "acp (TypeScript)" acp-client simple-acp-client "acp (Python)"; do
    printf '%-27s %s\n' "$name" "$(cat "$name")"
done | tee said
diff said - <<'EXPECTED'
acpx                        No, exit code 5
acp-factory                 Always
acp-ai-provider             No
acp (TypeScript)            error -32601
acp-client                  cancelled
simple-acp-client           Always
acp (Python)                error -32601
EXPECTED
