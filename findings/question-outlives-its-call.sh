#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 and @modelcontextprotocol/server 2.4.0 (npm), mcp 2.3.0 and fastmcp 4.2.3 (PyPI): a
# tool asks its person, by the context of its call, and the host cancels the call while the question is open. The servers
# in Python withdraw the question. Those in TypeScript do not, and when it is answered at last, the tool goes on for a
# call that is over. One would guess that a question ends with the call that it belongs to. Who stops a call in a host
# keeps its dialog on the screen, and whoever answers it starts what was stopped.
#
# Output:
#   sdk      the question is withdrawn: no   after an answer, the tool: goes on
#   server   the question is withdrawn: no   after an answer, the tool: goes on
#   mcp      the question is withdrawn: yes  after an answer, the tool: is over
#   fastmcp  the question is withdrawn: yes  after an answer, the tool: is over
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 zod@4.6.7
cat >sdk.mjs <<'PROGRAM'
import { writeFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';

const requestedSchema = { type: 'object', properties: { color: { type: 'string' } } };
const server = new McpServer({ name: 'server', version: '1.0.0' });
server.registerTool('ask', {}, async (extra) => {
    await extra.sendRequest({ method: 'elicitation/create', params: { message: 'Which?', requestedSchema } }, ElicitResultSchema);
    writeFileSync('went-on', '');
    return { content: [] };
});
await server.connect(new StdioServerTransport());
PROGRAM
cat >server.mjs <<'PROGRAM'
import { writeFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const requestedSchema = { type: 'object', properties: { color: { type: 'string' } } };
serveStdio(() => {
    const server = new McpServer({ name: 'server', version: '1.0.0' });
    server.registerTool('ask', {}, async (context) => {
        await context.mcpReq.elicitInput({ message: 'Which?', requestedSchema });
        writeFileSync('went-on', '');
        return { content: [] };
    });
    return server;
});
PROGRAM
cat >server.py <<'PROGRAM'
import logging, pathlib, sys
from pydantic import BaseModel
logging.disable(logging.CRITICAL)

class Form(BaseModel):
    color: str

if sys.argv[1] == "mcp":
    from mcp.server import MCPServer as Server
    from mcp.server.mcpserver import Context
else:
    from fastmcp import Context, FastMCP as Server
server = Server("server")

async def ask(context: Context) -> str:
    await context.elicit("Which?", Form)
    pathlib.Path("went-on").touch()
    return ""

server.tool()(ask)
server.run(transport="stdio")
PROGRAM
cat >host.py <<'PROGRAM'
import json, pathlib, queue, subprocess, sys, threading

def said(name, command):
    pathlib.Path("went-on").unlink(missing_ok=True)
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines = queue.Queue()
    threading.Thread(target=lambda: [lines.put(json.loads(line)) for line in server.stdout], daemon=True).start()

    def send(**message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    def until(is_it, seconds=30):
        while True:
            message = lines.get(timeout=seconds)
            if is_it(message):
                return message

    send(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {"form": {}}},
                                            "clientInfo": {"name": "host", "version": "1"}})
    until(lambda message: message.get("id") == 1)
    send(method="notifications/initialized")
    send(id=2, method="tools/call", params={"name": "ask", "arguments": {}})
    question = until(lambda message: message.get("method") == "elicitation/create")
    send(method="notifications/cancelled", params={"requestId": 2, "reason": "the user stopped it"})
    try:
        until(lambda message: message.get("method") == "notifications/cancelled", 3)
        withdrawn = "yes"
    except queue.Empty:
        withdrawn = "no "
    send(id=question["id"], result={"action": "accept", "content": {"color": "blue"}})
    # Its answer comes after all that the tool does.
    send(id=3, method="ping")
    until(lambda message: message.get("id") == 3)
    server.stdin.close()
    server.wait(30)
    goes_on = "goes on" if pathlib.Path("went-on").exists() else "is over"
    print(f"{name:<8} the question is withdrawn: {withdrawn}  after an answer, the tool: {goes_on}")

said("sdk", ["node", "sdk.mjs"])
said("server", ["node", "server.mjs"])
said("mcp", [sys.executable, "server.py", "mcp"])
said("fastmcp", [sys.executable, "server.py", "fastmcp"])
PROGRAM
python/bin/python host.py | tee said
diff said - <<'EXPECTED'
sdk      the question is withdrawn: no   after an answer, the tool: goes on
server   the question is withdrawn: no   after an answer, the tool: goes on
mcp      the question is withdrawn: yes  after an answer, the tool: is over
fastmcp  the question is withdrawn: yes  after an answer, the tool: is over
EXPECTED
