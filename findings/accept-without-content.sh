#!/usr/bin/env bash
# A form with one required field, accepted with the content {} and with no content at all, asked by servers of
# @modelcontextprotocol/sdk 1.32.2 and @modelcontextprotocol/server 2.4.0 (npm), mcp 2.3.0 and fastmcp 4.2.3 (PyPI). One
# would guess that all refuse both. The TypeScript servers check the content against the form, but only if there is one,
# so an accept without content reaches the tool, which then reads a field of nothing.
#
# Output:
#   sdk 1.32.2      {}: refused  no content: {"action":"accept"}
#   server 2.4.0    {}: refused  no content: {"action":"accept"}
#   mcp 2.3.0       {}: refused  no content: refused
#   fastmcp 4.2.3   {}: refused  no content: refused
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
cat >ask.mjs <<'PROGRAM'
import * as client from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as server from "@modelcontextprotocol/server";
async function said(Server, Client, transports, method, answer) {
  const asks = new Server({ name: "server", version: "1" }, { capabilities: {} });
  const answers = new Client({ name: "client", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  answers.setRequestHandler(method, () => answer);
  const [one, other] = transports.createLinkedPair();
  await Promise.all([asks.connect(one), answers.connect(other)]);
  const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  return asks.elicitInput({ message: "Who?", requestedSchema }).then(JSON.stringify, () => "refused");
}
for (const [name, ...of] of [
  ["sdk 1.32.2", Server, Client, InMemoryTransport, ElicitRequestSchema],
  ["server 2.4.0", server.Server, client.Client, server.InMemoryTransport, "elicitation/create"],
]) {
  const empty = await said(...of, { action: "accept", content: {} });
  const none = await said(...of, { action: "accept" });
  console.log(`${name.padEnd(15)} {}: ${empty}  no content: ${none}`);
}
PROGRAM
cat >ask.py <<'PROGRAM'
import asyncio, logging
import fastmcp, mcp, mcp_types
from fastmcp.client.elicitation import ElicitResult
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel
logging.disable(logging.CRITICAL)

class Form(BaseModel):
    name: str

first, second = MCPServer("first"), fastmcp.FastMCP("second")

@first.tool()
async def ask(context: Context) -> str:
    return repr(await context.elicit("Who?", Form))

@second.tool
async def ask_too(context: fastmcp.Context) -> str:
    return repr(await context.elicit("Who?", Form))

async def of_mcp(content):
    async def answer(context, params):
        return mcp_types.ElicitResult(action="accept", content=content)
    async with mcp.Client(first, mode="legacy", elicitation_callback=answer) as client:
        result = await client.call_tool("ask")
    return "refused" if result.is_error else result.content[0].text

async def of_fastmcp(content):
    async def answer(message, response_type, params, context):
        return ElicitResult(action="accept", content=content)
    async with fastmcp.Client(second, mode="legacy", elicitation_handler=answer) as client:
        result = await client.call_tool("ask_too", raise_on_error=False)
    return "refused" if result.is_error else result.content[0].text

async def main():
    for name, of in (("mcp 2.3.0", of_mcp), ("fastmcp 4.2.3", of_fastmcp)):
        print(f"{name:<15} {{}}: {await of({})}  no content: {await of(None)}")

asyncio.run(main())
PROGRAM
{ node ask.mjs; python/bin/python ask.py 2>/dev/null; } | tee said
diff said - <<'EXPECTED'
sdk 1.32.2      {}: refused  no content: {"action":"accept"}
server 2.4.0    {}: refused  no content: {"action":"accept"}
mcp 2.3.0       {}: refused  no content: refused
fastmcp 4.2.3   {}: refused  no content: refused
EXPECTED
