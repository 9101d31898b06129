#!/usr/bin/env bash
# mcp 2.3.0 (PyPI): a tool of the protocol of 2026-07-28 says that it needs two answers, and the package's client asks
# for them. It calls the handler for both at once, and if one handler gives an error, it withdraws the other question
# while its person thinks. One would guess that the questions come in turn, as they do from a tool that awaits one after
# the other, and that what was answered counts. A handler that asks in a terminal, or has one dialog, has two at a time
# with the new protocol.
#
# Output:
#   both answered: First asked, Second asked, First ends, Second ends; the tool: done
#   one fails: First asked, Second asked, First ends, Second withdrawn; the tool: no dialog left
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0
cat >ask.py <<'PROGRAM'
import asyncio, logging
import mcp
import mcp_types as types
from mcp.server import Server
logging.disable(logging.CRITICAL)

def form(message):
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))

async def tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="ask", input_schema={"type": "object"})])

async def call(context, params):
    if params.input_responses:
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])
    return types.InputRequiredResult(input_requests={"one": form("First"), "two": form("Second")}, request_state="asked")

async def said(fails):
    log = []
    async def person(context, params):
        log.append(f"{params.message} asked")
        try:
            await asyncio.sleep(0.5 if params.message == "First" else 1.5)
        except asyncio.CancelledError:
            log.append(f"{params.message} withdrawn")
            raise
        log.append(f"{params.message} ends")
        if fails and params.message == "First":
            return types.ErrorData(code=-32000, message="no dialog left")
        return types.ElicitResult(action="accept", content={"answer": "blue"})
    async with mcp.Client(Server("server", on_list_tools=tools, on_call_tool=call), elicitation_callback=person) as client:
        try:
            result = (await client.call_tool("ask", {})).content[0].text
        except mcp.MCPError as error:
            result = error.error.message
    return f"{', '.join(log)}; the tool: {result}"

print("both answered:", asyncio.run(said(False)))
print("one fails:", asyncio.run(said(True)))
PROGRAM
python/bin/python ask.py 2>/dev/null | tee said
diff said - <<'EXPECTED'
both answered: First asked, Second asked, First ends, Second ends; the tool: done
one fails: First asked, Second asked, First ends, Second withdrawn; the tool: no dialog left
EXPECTED
