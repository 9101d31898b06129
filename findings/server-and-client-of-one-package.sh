#!/usr/bin/env bash
# mcp 2.3.0 and fastmcp 4.2.3 (PyPI): a tool that asks by `ctx.elicit`, called by the same package's client with a
# handler for elicitation, both as they are by default. The question fails, since the two agree on the newest protocol,
# in which a server cannot send a request; with mode="legacy" on the client it is answered. One would guess that a
# package's server and client fit each other. A new client, and nothing else, takes the person away from every tool that
# asks this way.
#
# Output:
#   mcp      by default: failed  mode="legacy": blue
#   fastmcp  by default: failed  mode="legacy": blue
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
cat >ask.py <<'PROGRAM'
import asyncio, logging
import fastmcp, mcp, mcp_types
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel
logging.disable(logging.CRITICAL)

class Form(BaseModel):
    color: str

first, second = MCPServer("first"), fastmcp.FastMCP("second")

@first.tool()
async def ask(context: Context) -> str:
    return (await context.elicit("Which?", Form)).data.color

@second.tool
async def ask_too(context: fastmcp.Context) -> str:
    return (await context.elicit("Which?", Form)).data.color

async def of_mcp(**mode):
    async def answer(context, params):
        return mcp_types.ElicitResult(action="accept", content={"color": "blue"})
    async with mcp.Client(first, elicitation_callback=answer, **mode) as client:
        try:
            return (await client.call_tool("ask")).content[0].text
        except mcp.MCPError:
            return "failed"

async def of_fastmcp(**mode):
    async def answer(message, response_type, params, context):
        return {"color": "blue"}
    async with fastmcp.Client(second, elicitation_handler=answer, **mode) as client:
        result = await client.call_tool("ask_too", raise_on_error=False)
    return "failed" if result.is_error else result.content[0].text

async def main():
    for name, of in (("mcp", of_mcp), ("fastmcp", of_fastmcp)):
        print(f'{name:<8} by default: {await of()}  mode="legacy": {await of(mode="legacy")}')

asyncio.run(main())
PROGRAM
python/bin/python ask.py 2>/dev/null | tee said
diff said - <<'EXPECTED'
mcp      by default: failed  mode="legacy": blue
fastmcp  by default: failed  mode="legacy": blue
EXPECTED
