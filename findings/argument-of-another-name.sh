#!/usr/bin/env bash
# mcp 2.3.0 and fastmcp 4.2.3 (PyPI), @modelcontextprotocol/sdk 1.32.2 and @modelcontextprotocol/server 2.4.0 (npm): a
# tool with the optional argument `copies` is called with `count` in its place. fastmcp refuses the call; the other
# three drop the argument without a word and run the tool with its default. One would guess that all refuse what the
# tool's schema does not name. A person who allows the call has read an argument that the tool never gets.
#
# Output:
#   mcp 2.3.0       printed 1
#   fastmcp 4.2.3   refused
#   sdk 1.32.2      printed 1
#   server 2.4.0    printed 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q mcp==2.3.0 fastmcp==4.2.3
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7
cat >call.py <<'PROGRAM'
import asyncio, logging
import fastmcp, mcp
from mcp.server import MCPServer
logging.disable(logging.CRITICAL)
first, second = MCPServer("first"), fastmcp.FastMCP("second")

def print_page(copies: int = 1) -> str:
    return f"printed {copies}"

first.tool()(print_page)
second.tool(print_page)

async def main():
    async with mcp.Client(first) as client:
        result = await client.call_tool("print_page", {"count": 2})
        print("mcp 2.3.0      ", "refused" if result.is_error else result.content[0].text)
    async with fastmcp.Client(second) as client:
        result = await client.call_tool("print_page", {"count": 2}, raise_on_error=False)
        print("fastmcp 4.2.3  ", "refused" if result.is_error else result.content[0].text)

asyncio.run(main())
PROGRAM
cat >call.mjs <<'PROGRAM'
import * as two from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer as ServerOfTwo } from "@modelcontextprotocol/server";
import * as z from "zod";
const fields = { copies: z.number().int().default(1) };
for (const [name, Offers, Calls, transports, inputSchema] of [
  ["sdk 1.32.2", McpServer, Client, InMemoryTransport, fields],
  ["server 2.4.0", ServerOfTwo, two.Client, two.InMemoryTransport, z.object(fields)],
]) {
  const server = new Offers({ name: "server", version: "1" });
  const print = ({ copies }) => ({ content: [{ type: "text", text: `printed ${copies}` }] });
  server.registerTool("print_page", { inputSchema }, print);
  const client = new Calls({ name: "client", version: "1" });
  const [one, other] = transports.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  const result = await client.callTool({ name: "print_page", arguments: { count: 2 } });
  console.log(name.padEnd(15), result.isError ? "refused" : result.content[0].text);
}
PROGRAM
{ python/bin/python call.py 2>/dev/null; node call.mjs; } | tee said
diff said - <<'EXPECTED'
mcp 2.3.0       printed 1
fastmcp 4.2.3   refused
sdk 1.32.2      printed 1
server 2.4.0    printed 1
EXPECTED
