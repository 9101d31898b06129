#!/usr/bin/env bash
# mcp 2.3.0, and fastmcp 4.2.3 beside it (PyPI): answers to a form with a whole number and a boolean that have another
# type. `ctx.elicit` of mcp hands the tool 5 for "5", 1 for true, True for "on" and False for "no"; fastmcp, on the same
# SDK, refuses all four. One would guess that an answer has to have the type that the form says. A client that mixes up
# two fields is not found out, and a server that moves from one package to the other refuses answers that it took.
#
# Output:
#   {"number": "5"}    mcp: 5        fastmcp: refused
#   {"number": true}   mcp: 1        fastmcp: refused
#   {"number": 5.0}    mcp: 5        fastmcp: 5
#   {"choice": "on"}   mcp: True     fastmcp: refused
#   {"choice": "no"}   mcp: False    fastmcp: refused
#   {"number": 5.5}    mcp: refused  fastmcp: refused
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
cat >ask.py <<'PROGRAM'
import asyncio, json, logging
import fastmcp, mcp, mcp_types
from fastmcp.client.elicitation import ElicitResult
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel
logging.disable(logging.CRITICAL)

class Form(BaseModel):
    number: int = 0
    choice: bool = False

first, second = MCPServer("first"), fastmcp.FastMCP("second")

def said(result, content):
    return repr(getattr(result.data, next(iter(content))))

@first.tool()
async def ask(content: str, context: Context) -> str:
    return said(await context.elicit("How many?", Form), json.loads(content))

@second.tool
async def ask_too(content: str, context: fastmcp.Context) -> str:
    return said(await context.elicit("How many?", Form), json.loads(content))

async def of_mcp(content):
    async def answer(context, params):
        return mcp_types.ElicitResult(action="accept", content=content)
    async with mcp.Client(first, mode="legacy", elicitation_callback=answer) as client:
        result = await client.call_tool("ask", {"content": json.dumps(content)})
    return "refused" if result.is_error else result.content[0].text

async def of_fastmcp(content):
    async def answer(message, response_type, params, context):
        return ElicitResult(action="accept", content=content)
    async with fastmcp.Client(second, mode="legacy", elicitation_handler=answer) as client:
        result = await client.call_tool("ask_too", {"content": json.dumps(content)}, raise_on_error=False)
    return "refused" if result.is_error else result.content[0].text

async def main():
    for content in ({"number": "5"}, {"number": True}, {"number": 5.0}, {"choice": "on"}, {"choice": "no"}, {"number": 5.5}):
        print(f"{json.dumps(content):<18} mcp: {await of_mcp(content):<8} fastmcp: {await of_fastmcp(content)}")

asyncio.run(main())
PROGRAM
python/bin/python ask.py 2>/dev/null | tee said
diff said - <<'EXPECTED'
{"number": "5"}    mcp: 5        fastmcp: refused
{"number": true}   mcp: 1        fastmcp: refused
{"number": 5.0}    mcp: 5        fastmcp: 5
{"choice": "on"}   mcp: True     fastmcp: refused
{"choice": "no"}   mcp: False    fastmcp: refused
{"number": 5.5}    mcp: refused  fastmcp: refused
EXPECTED
