#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2, and @modelcontextprotocol/server and client 2.4.0 (npm): a client calls a tool, asks
# for progress, and gets some after 59 seconds. After 60 it ends the call all the same, unless it was told
# `resetTimeoutOnProgress`. One would guess that progress is what keeps a call alive. A tool that waits for a person,
# and sends progress so that the client is patient, is given up after a minute by a client that shows the progress. (The
# clock here is a stand-in.)
#
# Output:
#   1.32.2  after 59 s: 1 progress, the call waits; after 60 s: Request timed out
#   2.4.0   after 59 s: 1 progress, the call waits; after 60 s: Request timed out
#   2.4.0, resetTimeoutOnProgress  after 59 s: 1 progress, the call waits; after 60 s: the call waits
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7
cat >call.mjs <<'PROGRAM'
import { mock } from "node:test";
import * as two from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Server as ServerOfTwo } from "@modelcontextprotocol/server";
mock.timers.enable({ apis: ["setTimeout"] });
const settle = async () => {
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
};
const first = [Server, Client, InMemoryTransport, CallToolRequestSchema];
const second = [ServerOfTwo, two.Client, two.InMemoryTransport, "tools/call"];
for (const [name, [Waits, Calls, transports, method], more] of [
  ["1.32.2", first, {}],
  ["2.4.0", second, {}],
  ["2.4.0, resetTimeoutOnProgress", second, { resetTimeoutOnProgress: true }],
]) {
  const server = new Waits({ name: "server", version: "1" }, { capabilities: { tools: {} } });
  let params;
  server.setRequestHandler(method, (request) => new Promise(() => (params = request.params)));
  const client = new Calls({ name: "client", version: "1" });
  const [one, other] = transports.createLinkedPair();
  let token;
  const send = other.send.bind(other);
  other.send = (message, options) => {
    if (message.method === "tools/call") token = message.params._meta.progressToken;
    return send(message, options);
  };
  await Promise.all([server.connect(one), client.connect(other)]);
  let shown = 0;
  let call = "the call waits";
  const options = { onprogress: () => shown++, ...more };
  const result = name === "1.32.2" ? client.callTool({ name: "ask" }, undefined, options) : client.callTool({ name: "ask" }, options);
  result.catch((error) => (call = error.message.replace("MCP error -32001: ", "")));
  await settle();
  mock.timers.tick(59_000);
  await one.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: token, progress: 1 } });
  await settle();
  const before = `after 59 s: ${shown} progress, ${call}`;
  mock.timers.tick(1_000);
  await settle();
  console.log(`${name.padEnd(7)} ${name.length > 7 ? " " : ""}${before}; after 60 s: ${call}`);
}
process.exit();
PROGRAM
node --no-warnings call.mjs | tee said
diff said - <<'EXPECTED'
1.32.2  after 59 s: 1 progress, the call waits; after 60 s: Request timed out
2.4.0   after 59 s: 1 progress, the call waits; after 60 s: Request timed out
2.4.0, resetTimeoutOnProgress  after 59 s: 1 progress, the call waits; after 60 s: the call waits
EXPECTED
