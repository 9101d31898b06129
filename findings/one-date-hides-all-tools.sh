#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2, and @modelcontextprotocol/server and client 2.4.0 (npm): a server registers two
# tools, one of them with a date among its arguments (zod 4.6.7). Registering it succeeds, and so does calling it;
# listing the tools fails as a whole, so the other tool is gone as well. One would guess an error where the tool is
# registered, or a list without that tool. An agent is told that its server has no tools, and not which of them is at
# fault.
#
# Output:
#   1.32.2  registered, the list: -32603 Date cannot be represented in JSON Schema, a call: 2026-01-02
#   2.4.0   registered, the list: -32603 Date cannot be represented in JSON Schema, a call: 2026-01-02
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7
cat >tools.mjs <<'PROGRAM'
import * as two from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer as ServerOfTwo } from "@modelcontextprotocol/server";
import * as z from "zod";
const text = (text) => ({ content: [{ type: "text", text }] });
for (const [name, Offers, Calls, transports, form] of [
  ["1.32.2", McpServer, Client, InMemoryTransport, (fields) => fields],
  ["2.4.0", ServerOfTwo, two.Client, two.InMemoryTransport, (fields) => z.object(fields)],
]) {
  const server = new Offers({ name: "server", version: "1" });
  server.registerTool("greet", { inputSchema: form({ name: z.string() }) }, ({ name }) => text(`Hello ${name}`));
  server.registerTool("plan", { inputSchema: form({ day: z.coerce.date() }) }, ({ day }) => text(day.toISOString().slice(0, 10)));
  const client = new Calls({ name: "client", version: "1" });
  const [one, other] = transports.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  const list = await client.listTools().then(
    ({ tools }) => `${tools.length} tools`,
    ({ code, message }) => `${code} ${message.replace(/^MCP error -32603: /, "")}`,
  );
  const call = await client.callTool({ name: "plan", arguments: { day: "2026-01-02" } });
  console.log(`${name.padEnd(7)} registered, the list: ${list}, a call: ${call.content[0].text}`);
}
PROGRAM
node tools.mjs | tee said
diff said - <<'EXPECTED'
1.32.2  registered, the list: -32603 Date cannot be represented in JSON Schema, a call: 2026-01-02
2.4.0   registered, the list: -32603 Date cannot be represented in JSON Schema, a call: 2026-01-02
EXPECTED
