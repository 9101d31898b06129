#!/usr/bin/env bash
# mcp 2.3.0 and fastmcp 4.2.3 (PyPI), @modelcontextprotocol/server-everything 2026.8.31 (npm): a host declares one of the
# two ways in which it can ask its person, forms or pages, and calls the tools that ask. mcp and fastmcp send it a page
# though it declared forms, and a form though it declared pages; server-everything lists its tool with a form, and sends
# the form, to a host of pages. One would guess that a server asks in the declared way or not at all: the specification
# says that it must not. A host of forms shows the person an empty form in place of an address.
#
# Output:
#   mcp                a host of forms is sent: a page, a host of pages is sent: a form
#   fastmcp            a host of forms is sent: a page, a host of pages is sent: a form
#   server-everything  a host of forms is sent: nothing, a host of pages is sent: a form
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
npm install --silent --no-audit --no-fund @modelcontextprotocol/server-everything@2026.8.31
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

async def form(context: Context) -> str:
    return str(await context.elicit("Which?", Form))

async def page(context: Context) -> str:
    return str(await context.session.elicit_url("Sign in.", "https://example.com/connect", "1"))

server.tool()(form)
server.tool()(page)
server.run(transport="stdio")
PROGRAM
cat >host.py <<'PROGRAM'
import json, subprocess, sys

EVERYTHING = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
SERVERS = {
    "mcp": [sys.executable, "server.py", "mcp"],
    "fastmcp": [sys.executable, "server.py", "fastmcp"],
    "server-everything": ["node", EVERYTHING],
}

def sent(name, declared, tool, arguments):
    server = subprocess.Popen(SERVERS[name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    def send(**message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()
    send(id=1, method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {declared: {}}},
                                            "clientInfo": {"name": "host", "version": "1"}})
    got = "nothing"
    for line in server.stdout:
        message = json.loads(line)
        if message.get("method") == "elicitation/create":
            got = "a page" if message["params"].get("mode") == "url" else "a form"
            send(id=message["id"], result={"action": "decline"})
        elif message.get("id") == 1:
            send(method="notifications/initialized")
            # Its tools are complete when this is answered.
            send(id=2, method="tools/list")
        elif message.get("id") == 2:
            send(id=3, method="tools/call", params={"name": tool, "arguments": arguments})
        elif message.get("id") == 3:
            break
    server.kill()
    server.wait(30)
    return got

for name in SERVERS:
    form, page = ("form", {}), ("page", {})
    if name == "server-everything":
        form, page = ("trigger-elicitation-request", {}), ("trigger-url-elicitation", {"url": "https://example.com/connect"})
    of_forms, of_pages = sent(name, "form", *page), sent(name, "url", *form)
    print(f"{name:<18} a host of forms is sent: {of_forms}, a host of pages is sent: {of_pages}")
PROGRAM
python/bin/python host.py | tee said
diff said - <<'EXPECTED'
mcp                a host of forms is sent: a page, a host of pages is sent: a form
fastmcp            a host of forms is sent: a page, a host of pages is sent: a form
server-everything  a host of forms is sent: nothing, a host of pages is sent: a form
EXPECTED
