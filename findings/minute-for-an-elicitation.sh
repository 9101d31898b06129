#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 (npm): `elicitInput` of a server gives the person 60 seconds, unless it is told
# otherwise. After that the tool fails with "Request timed out", and an answer that comes then is dropped. One would
# guess that a question to a person has no limit, or a far longer one. A server that nobody told so loses every answer
# that takes the person more than a minute. (The clock here is a stand-in.)
#
# Output:
#   after 59.999 s: the tool waits
#   after 60 s: the tool says "MCP error -32001: Request timed out"
#   the person answers: the server says "Received a response for an unknown message ID"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 zod@4.6.7
cat >ask.mjs <<'PROGRAM'
import { mock } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
mock.timers.enable({ apis: ["setTimeout"] });
const settle = async () => {
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
};
const server = new Server({ name: "server", version: "1" }, { capabilities: { tools: {} } });
let dropped = "nothing";
server.onerror = (error) => (dropped = error.message.split(":")[0]);
server.setRequestHandler(CallToolRequestSchema, async () => {
  try {
    await server.elicitInput({ message: "Which colour?", requestedSchema: { type: "object", properties: {} } });
    return { content: [] };
  } catch (error) {
    return { isError: true, content: [{ type: "text", text: error.message }] };
  }
});
const client = new Client({ name: "client", version: "1" }, { capabilities: { elicitation: { form: {} } } });
let answer;
client.setRequestHandler(ElicitRequestSchema, () => new Promise((resolve) => (answer = resolve)));
const [one, other] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(one), client.connect(other)]);
let tool = "waits";
// The tool call itself has a limit of ten minutes here.
client.callTool({ name: "ask" }, undefined, { timeout: 600_000 }).then((result) => (tool = `says "${result.content[0].text}"`));
await settle();
mock.timers.tick(59_999);
await settle();
console.log(`after 59.999 s: the tool ${tool}`);
mock.timers.tick(1);
await settle();
console.log(`after 60 s: the tool ${tool}`);
answer({ action: "accept", content: { colour: "blue" } });
await settle();
console.log(`the person answers: the server says "${dropped}"`);
PROGRAM
node --no-warnings ask.mjs | tee said
diff said - <<'EXPECTED'
after 59.999 s: the tool waits
after 60 s: the tool says "MCP error -32001: Request timed out"
the person answers: the server says "Received a response for an unknown message ID"
EXPECTED
