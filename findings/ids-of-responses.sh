#!/usr/bin/env bash
# A response whose id is the request's, but written as text ("1" for 1) or as a decimal (1.0 for 1), to clients of mcp
# 2.3.0 and agent-client-protocol 0.12.1 (PyPI), @modelcontextprotocol/client 2.4.0, @agentclientprotocol/sdk 2.4.0 and
# vscode-jsonrpc 10.0.0 (npm). One would guess that "1" is another id, and 1.0 the same. The MCP SDKs take the text, the
# others wait on; mcp alone waits on at 1.0. Whoever sits between two programs has to give each id back as it was
# written.
#
# Output:
#   mcp (Python)         "1": heard  1.0: waits
#   acp (Python)         "1": waits  1.0: heard
#   mcp (TypeScript)     "1": heard  1.0: heard
#   acp (TypeScript)     "1": waits  1.0: heard
#   vscode-jsonrpc       "1": waits  1.0: heard
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 agent-client-protocol==0.12.1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/client@2.4.0 @agentclientprotocol/sdk@2.4.0 vscode-jsonrpc@10.0.0

# The peer answers `ping` and `session/prompt` under the id as its argument says. A client that hears nothing in two
# seconds waits.
cat >peer.py <<'PROGRAM'
import json, sys, threading
write = {"text": str, "decimal": float}[sys.argv[1]]
framed = len(sys.argv) > 2

def send(**message):
    text = json.dumps({"jsonrpc": "2.0", **message})
    sys.stdout.write(f"Content-Length: {len(text)}\r\n\r\n{text}" if framed else text + "\n")
    sys.stdout.flush()

def messages():
    while framed:
        header = sys.stdin.readline()
        if not header:
            return
        length = int(header.split(":")[1])
        sys.stdin.readline()
        yield json.loads(sys.stdin.read(length))
    for line in sys.stdin:
        yield json.loads(line)

results = {"session/new": {"sessionId": "s"}, "session/prompt": {"stopReason": "end_turn"}, "ping": {}}
for message in messages():
    method, id = message.get("method"), message.get("id")
    if id is None:
        continue
    if method == "initialize":
        send(id=id, result={"protocolVersion": message["params"]["protocolVersion"], "capabilities": {},
                            "serverInfo": {"name": "peer", "version": "1"}, "agentCapabilities": {}})
    elif method in results:
        send(id=write(id) if method != "session/new" else id, result=results[method])
    else:
        send(id=id, error={"code": -32601, "message": "Method not found"})
PROGRAM
cat >clients.py <<'PROGRAM'
import asyncio, logging, sys
import acp
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

logging.disable(logging.CRITICAL)

class Person(acp.Client):
    pass

async def heard(request):
    try:
        await asyncio.wait_for(request, 2)
        return "heard"
    except asyncio.TimeoutError:
        return "waits"

async def of_mcp(how):
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["peer.py", how])) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            return await heard(session.send_ping())

async def of_acp(how):
    async with acp.spawn_agent_process(Person(), sys.executable, "peer.py", how) as (agent, _):
        await agent.initialize(protocol_version=1)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        return await heard(agent.prompt(session_id=session.session_id, prompt=[acp.text_block("Hello")]))

async def main():
    for name, of in (("mcp (Python)", of_mcp), ("acp (Python)", of_acp)):
        print(f'{name:<20} "1": {await of("text")}  1.0: {await of("decimal")}')

asyncio.run(main())
PROGRAM
cat >clients.mjs <<'PROGRAM'
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
const rpc = createRequire(import.meta.url)("vscode-jsonrpc/node");
const heard = (request) =>
  Promise.race([request.then(() => "heard"), new Promise((resolve) => setTimeout(resolve, 2000, "waits"))]);
const peer = (...args) => spawn("python3", ["peer.py", ...args], { stdio: ["pipe", "pipe", "inherit"] });
async function ofMcp(how) {
  const host = new Client({ name: "host", version: "1" });
  await host.connect(new StdioClientTransport({ command: "python3", args: ["peer.py", how] }));
  return heard(host.ping());
}
async function ofAcp(how) {
  const { stdin, stdout } = peer(how);
  return client().connectWith(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)), async (agent) => {
    await agent.request("initialize", { protocolVersion: 1 });
    const { sessionId } = await agent.request("session/new", { cwd: "/", mcpServers: [] });
    return heard(agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Hello" }] }));
  });
}
async function ofVscode(how) {
  const { stdin, stdout } = peer(how, "framed");
  const connection = rpc.createMessageConnection(stdout, stdin);
  connection.listen();
  return heard(connection.sendRequest("ping"));
}
for (const [name, of] of [["mcp (TypeScript)", ofMcp], ["acp (TypeScript)", ofAcp], ["vscode-jsonrpc", ofVscode]]) {
  console.log(`${name.padEnd(20)} "1": ${await of("text")}  1.0: ${await of("decimal")}`);
}
process.exit();
PROGRAM
{ python/bin/python clients.py; node clients.mjs; } | tee said
diff said - <<'EXPECTED'
mcp (Python)         "1": heard  1.0: waits
acp (Python)         "1": waits  1.0: heard
mcp (TypeScript)     "1": heard  1.0: heard
acp (TypeScript)     "1": waits  1.0: heard
vscode-jsonrpc       "1": waits  1.0: heard
EXPECTED
