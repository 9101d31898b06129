#!/usr/bin/env bash
# mcp 2.3.0, and fastmcp 4.2.3 beside it (PyPI): a host that declares no elicitation calls a tool that asks by
# `ctx.elicit`. The server asks all the same, the host answers -32601 as it must, and mcp passes that error on as the
# answer to the host's own `tools/call`. One would guess that the server does not ask such a host, or that the tool has
# a result with an error, as it has with fastmcp. The host reads that the method `tools/call` does not exist, where only
# the question could not be asked.
#
# Output:
#   mcp 2.3.0       asked: yes, tools/call: error -32601 Method not found
#   fastmcp 4.2.3   asked: yes, tools/call: a result with an error
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
cat >server.py <<'PROGRAM'
import logging, sys
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
    return str(await context.elicit("Which?", Form))

server.tool()(ask)
server.run(transport="stdio")
PROGRAM
cat >host.py <<'PROGRAM'
import json, subprocess, sys

def said(package):
    server = subprocess.Popen([sys.executable, "server.py", package], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    def send(**message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
    send(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {},
                                            "clientInfo": {"name": "host", "version": "1"}})
    asked = "no"
    for line in server.stdout:
        message = json.loads(line)
        if message.get("method") == "elicitation/create":
            asked = "yes"
            send(id=message["id"], error={"code": -32601, "message": "Method not found"})
        elif message.get("id") == 1:
            send(method="notifications/initialized")
            send(id=2, method="tools/call", params={"name": "ask", "arguments": {}})
        elif message.get("id") == 2:
            server.stdin.close()
            server.wait(30)
            if "error" in message:
                return f"asked: {asked}, tools/call: error {message['error']['code']} {message['error']['message']}"
            return f"asked: {asked}, tools/call: a result with{'' if message['result'].get('isError') else 'out'} an error"

print("mcp 2.3.0      ", said("mcp"))
print("fastmcp 4.2.3  ", said("fastmcp"))
PROGRAM
python/bin/python host.py | tee said
diff said - <<'EXPECTED'
mcp 2.3.0       asked: yes, tools/call: error -32601 Method not found
fastmcp 4.2.3   asked: yes, tools/call: a result with an error
EXPECTED
