#!/usr/bin/env bash
# A peer ends while a request to it is open: clients of vscode-jsonrpc 10.0.0, @agentclientprotocol/sdk 2.4.0,
# @modelcontextprotocol/client 2.4.0 (npm), agent-client-protocol 0.12.1 and mcp 2.3.0 (PyPI). All but vscode-jsonrpc
# fail the request; there it is open for ever, although `onClose` says that the connection is closed, and only `dispose`
# of one's own fails it. One would guess that an end of the connection ends its requests. A client that asks through it,
# and awaits the answer, never goes on after a crash of its agent.
#
# Output:
#   vscode-jsonrpc     closed, and the request is open; after dispose it failed
#   acp (TypeScript)   failed
#   mcp (TypeScript)   failed
#   acp (Python)       failed
#   mcp (Python)       failed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 agent-client-protocol==0.12.1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    vscode-jsonrpc@10.0.0 @agentclientprotocol/sdk@2.4.0 @modelcontextprotocol/client@2.4.0

# The peer answers `initialize`, and ends at the next request.
cat >peer.py <<'PROGRAM'
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in ("ping", "session/new"):
        break
    if message.get("id") is None:
        continue
    answer = {"error": {"code": -32601, "message": "Method not found"}}
    if message["method"] == "initialize":
        answer = {"result": {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {},
                             "serverInfo": {"name": "peer", "version": "1"}, "agentCapabilities": {}}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
PROGRAM
cat >clients.mjs <<'PROGRAM'
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
const rpc = createRequire(import.meta.url)("vscode-jsonrpc/node");
const late = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000, "is open"));
const end = (request) => request.then(() => "answered", () => "failed");
{
  const { stdin, stdout } = spawn("python3", ["-c", "import sys; sys.stdin.readline()"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createMessageConnection(stdout, stdin);
  const closed = new Promise((resolve) => connection.onClose(() => resolve("closed")));
  connection.listen();
  const request = end(connection.sendRequest("ping"));
  const said = [await Promise.race([closed, late(10)]), await Promise.race([request, late(2)])];
  connection.dispose();
  console.log(`vscode-jsonrpc     ${said[0]}, and the request ${said[1]}; after dispose it ${await Promise.race([request, late(10)])}`);
}
{
  const { stdin, stdout } = spawn("python3", ["peer.py"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = client().connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)));
  await connection.agent.request("initialize", { protocolVersion: 1 });
  const request = end(connection.agent.request("session/new", { cwd: "/", mcpServers: [] }));
  console.log(`acp (TypeScript)   ${await Promise.race([request, late(10)])}`);
}
{
  const host = new Client({ name: "host", version: "1" });
  await host.connect(new StdioClientTransport({ command: "python3", args: ["peer.py"] }));
  console.log(`mcp (TypeScript)   ${await Promise.race([end(host.ping()), late(10)])}`);
}
process.exit();
PROGRAM
cat >clients.py <<'PROGRAM'
import asyncio, logging, sys
import acp
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
logging.disable(logging.CRITICAL)

class Person(acp.Client):
    pass

async def end(request):
    try:
        await asyncio.wait_for(request, 10)
        return "answered"
    except asyncio.TimeoutError:
        return "is open"
    except Exception:
        return "failed"

async def main():
    async with acp.spawn_agent_process(Person(), sys.executable, "peer.py") as (agent, _):
        await agent.initialize(protocol_version=1)
        print(f"acp (Python)       {await end(agent.new_session(cwd='/', mcp_servers=[]))}")
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["peer.py"])) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            print(f"mcp (Python)       {await end(session.send_ping())}")

asyncio.run(main())
PROGRAM
{ node clients.mjs 2>/dev/null; python/bin/python clients.py; } | tee said
diff said - <<'EXPECTED'
vscode-jsonrpc     closed, and the request is open; after dispose it failed
acp (TypeScript)   failed
mcp (TypeScript)   failed
acp (Python)       failed
mcp (Python)       failed
EXPECTED
