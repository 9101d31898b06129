#!/usr/bin/env bash
# mcp 2.3.0, and fastmcp 4.2.3 beside it (PyPI): a form's field that is an `enum.Enum` cannot be asked for by
# `ctx.elicit` of mcp. It raises a TypeError before anything is sent; the same choices as a `Literal` are a list of
# choices, and fastmcp takes both. One would guess that a pydantic model with an enum is the usual way to offer choices.
# The person sees nothing, and the model hears that the tool failed.
#
# Output:
#   Literal  mcp: {"enum": ["red", "blue"], "type": "string"}  fastmcp: {"enum": ["red", "blue"], "type": "string"}
#   Enum     mcp: TypeError  fastmcp: {"enum": ["red", "blue"], "type": "string"}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
cat >ask.py <<'PROGRAM'
import asyncio, enum, json, logging
from typing import Literal
import fastmcp, mcp, mcp_types
from fastmcp.client.elicitation import ElicitResult
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel
logging.disable(logging.CRITICAL)

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Plain(BaseModel):
    color: Literal["red", "blue"]

class Named(BaseModel):
    color: Color

forms = {"Literal": Plain, "Enum": Named}
first, second = MCPServer("first"), fastmcp.FastMCP("second")
seen = []

async def said(elicit, name):
    seen.clear()
    try:
        await elicit("Which?", forms[name])
    except TypeError as error:
        return type(error).__name__
    field = seen[0]["properties"]["color"]
    return json.dumps({word: field[word] for word in ("enum", "type")})

@first.tool()
async def ask(name: str, context: Context) -> str:
    return await said(context.elicit, name)

@second.tool
async def ask_too(name: str, context: fastmcp.Context) -> str:
    return await said(context.elicit, name)

async def of_mcp(name):
    async def answer(context, params):
        seen.append(params.requested_schema)
        return mcp_types.ElicitResult(action="decline")
    async with mcp.Client(first, mode="legacy", elicitation_callback=answer) as client:
        return (await client.call_tool("ask", {"name": name})).content[0].text

async def of_fastmcp(name):
    async def answer(message, response_type, params, context):
        seen.append(params.requested_schema)
        return ElicitResult(action="decline")
    async with fastmcp.Client(second, mode="legacy", elicitation_handler=answer) as client:
        return (await client.call_tool("ask_too", {"name": name})).content[0].text

async def main():
    for name in forms:
        print(f"{name:<8} mcp: {await of_mcp(name)}  fastmcp: {await of_fastmcp(name)}")

asyncio.run(main())
PROGRAM
python/bin/python ask.py 2>/dev/null | tee said
diff said - <<'EXPECTED'
Literal  mcp: {"enum": ["red", "blue"], "type": "string"}  fastmcp: {"enum": ["red", "blue"], "type": "string"}
Enum     mcp: TypeError  fastmcp: {"enum": ["red", "blue"], "type": "string"}
EXPECTED
