"""The client of the package mcp as a host: calls one tool, and prints what it was told.

    of_mcp.py auto|legacy HANDLER TOOL COMMAND...

HANDLER says what its callback does: none (there is none, so it declares nothing), accept, decline or wait."""

import asyncio
import json
import logging
import os
import sys

import mcp
import mcp_types
from mcp.client.stdio import StdioServerParameters, stdio_client

logging.disable(logging.CRITICAL)
mode, handler, tool, *command = sys.argv[1:]
TICKET = {"title": "Broken door", "count": 2}


async def answer(context, params):
    if handler == "wait":
        await asyncio.Event().wait()
    if handler == "decline":
        return mcp_types.ElicitResult(action="decline")
    is_form = isinstance(params, mcp_types.ElicitRequestFormParams)
    return mcp_types.ElicitResult(action="accept", content=TICKET if is_form else None)


async def main():
    server = stdio_client(StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ)))
    options = {} if handler == "none" else {"elicitation_callback": answer}
    async with mcp.Client(server, mode=mode, **options) as client:
        try:
            result = await client.call_tool(tool, {"name": "calendar"} if tool == "links" else {})
            said = " ".join(part.text for part in result.content)
            print(json.dumps({"said": f"isError {said}" if result.is_error else said}))
        except mcp.MCPError as error:
            print(json.dumps({"said": f"error {error.error.code} {error.error.message}"}))


asyncio.run(main())
