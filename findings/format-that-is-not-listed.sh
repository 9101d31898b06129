#!/usr/bin/env bash
# A form with one text of the format "uuid" and one without a format, as pydantic and zod write them, given to the
# clients of @modelcontextprotocol/sdk 1.32.2, @modelcontextprotocol/client 2.4.0, @agentclientprotocol/sdk 2.4.0 (npm),
# mcp 2.3.0 and agent-client-protocol 0.12.1 (PyPI), and asked by `ctx.elicit` of mcp and of fastmcp 4.2.3. JSON Schema
# ignores a format that it does not know, so one would guess a plain text field. The TypeScript clients refuse the whole
# form, and mcp raises a TypeError before it asks; the others show it. Whether a person is asked hangs on a word that
# changes nothing for them: the same goes for "time", "password" and "path".
#
# Output:
#   client of mcp sdk 1.32.2        refused -32603
#   client of mcp client 2.4.0      refused -32602
#   client of acp (TypeScript)      refused -32602
#   client of mcp (Python)          shown
#   client of acp (Python)          shown
#   ctx.elicit of mcp               TypeError
#   ctx.elicit of fastmcp           shown
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3 agent-client-protocol==0.12.1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 \
    @modelcontextprotocol/client@2.4.0 @agentclientprotocol/sdk@2.4.0
cat >clients.mjs <<'PROGRAM'
import { client } from "@agentclientprotocol/sdk";
import { Client as ClientOfTwo } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const properties = { id: { type: "string", format: "uuid" }, name: { type: "string" } };
const requestedSchema = { type: "object", properties, required: ["id"] };
const decline = () => ({ action: "decline" });
const request = (params) => ({ jsonrpc: "2.0", id: 1, method: "elicitation/create", params });
async function ofMcp(Client, method) {
  let heard;
  const transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => {
      if (message.method === "initialize") {
        const { protocolVersion } = message.params;
        const result = { protocolVersion, capabilities: {}, serverInfo: { name: "server", version: "1" } };
        transport.onmessage({ jsonrpc: "2.0", id: message.id, result });
      } else if (message.id === 1) heard?.(message);
    },
  };
  const host = new Client({ name: "client", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  host.setRequestHandler(method, decline);
  await host.connect(transport);
  const answer = new Promise((resolve) => (heard = resolve));
  transport.onmessage(request({ message: "Which?", requestedSchema }));
  return answer;
}
const ofAcp = () =>
  new Promise((resolve) => {
    const params = { sessionId: "s", mode: "form", message: "Which?", requestedSchema };
    const readable = new ReadableStream({ start: (to) => to.enqueue(request(params)) });
    const writable = new WritableStream({ write: resolve });
    client().onRequest("elicitation/create", decline).connect({ readable, writable });
  });
for (const [name, answer] of [
  ["mcp sdk 1.32.2", await ofMcp(Client, ElicitRequestSchema)],
  ["mcp client 2.4.0", await ofMcp(ClientOfTwo, "elicitation/create")],
  ["acp (TypeScript)", await ofAcp()],
]) {
  console.log(`client of ${name.padEnd(21)} ${answer.error ? `refused ${answer.error.code}` : "shown"}`);
}
process.exit();
PROGRAM
cat >asks.py <<'PROGRAM'
import json, sys
schema = {"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}, "name": {"type": "string"}},
          "required": ["id"]}

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=id, result={"protocolVersion": message["params"]["protocolVersion"], "capabilities": {},
                            "serverInfo": {"name": "asks", "version": "1"}})
    elif method in ("tools/call", "session/prompt"):
        send(id="ask", method="elicitation/create",
             params={"sessionId": "s", "mode": "form", "message": "Which?", "requestedSchema": schema})
    elif id == "ask":
        open(sys.argv[1], "w").write(f"refused {message['error']['code']}" if "error" in message else "shown")
        break
    elif method == "session/new":
        send(id=id, result={"sessionId": "s"})
PROGRAM
cat >clients.py <<'PROGRAM'
import asyncio, logging, sys, uuid
import acp, fastmcp, mcp, mcp_types
from acp.schema import DeclineElicitationResponse
from fastmcp.client.elicitation import ElicitResult
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from pydantic import BaseModel
logging.disable(logging.CRITICAL)

class Form(BaseModel):
    id: uuid.UUID
    name: str = ""

first, second = MCPServer("first"), fastmcp.FastMCP("second")

async def end(elicit):
    try:
        await elicit("Which?", Form)
        return "shown"
    except TypeError as error:
        return type(error).__name__

@first.tool()
async def ask(context: Context) -> str:
    return await end(context.elicit)

@second.tool
async def ask_too(context: fastmcp.Context) -> str:
    return await end(context.elicit)

async def decline(context, params):
    return mcp_types.ElicitResult(action="decline")

async def decline_too(message, response_type, params, context):
    return ElicitResult(action="decline")

class Person(acp.Client):
    async def create_elicitation(self, *args, **kwargs):
        return DeclineElicitationResponse(action="decline")

async def until_the_end(call):
    try:
        await asyncio.wait_for(call, 20)
    except Exception:
        pass

async def main():
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["asks.py", "mcp"])) as streams:
        async with mcp.ClientSession(*streams, elicitation_callback=decline) as session:
            await session.initialize()
            await until_the_end(session.call_tool("ask", {}))
    async with acp.spawn_agent_process(Person(), sys.executable, "asks.py", "acp", use_unstable_protocol=True) as (agent, _):
        await agent.initialize(protocol_version=1)
        await agent.new_session(cwd="/", mcp_servers=[])
        await until_the_end(agent.prompt(session_id="s", prompt=[acp.text_block("Hello")]))
    print("client of mcp (Python)         ", open("mcp").read())
    print("client of acp (Python)         ", open("acp").read())
    async with mcp.Client(first, mode="legacy", elicitation_callback=decline) as client:
        print("ctx.elicit of mcp              ", (await client.call_tool("ask")).content[0].text)
    async with fastmcp.Client(second, mode="legacy", elicitation_handler=decline_too) as client:
        print("ctx.elicit of fastmcp          ", (await client.call_tool("ask_too")).content[0].text)

asyncio.run(main())
PROGRAM
{ node clients.mjs; python/bin/python clients.py 2>/dev/null; } | tee said
diff said - <<'EXPECTED'
client of mcp sdk 1.32.2        refused -32603
client of mcp client 2.4.0      refused -32602
client of acp (TypeScript)      refused -32602
client of mcp (Python)          shown
client of acp (Python)          shown
ctx.elicit of mcp               TypeError
ctx.elicit of fastmcp           shown
EXPECTED
