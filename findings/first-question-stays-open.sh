#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2, and @modelcontextprotocol/server and client 2.4.0 beside it (npm): a server
# withdraws its first question, and then its second. The SDK counts IDs from 0, and a client of 1.32.2 ignores
# `notifications/cancelled` for the ID 0, so the first question stays on the screen. One would guess that both close.
# Its person goes on answering what nobody waits for; a server that asks once asks with the ID 0.
#
# Output:
#   1.32.2  first (ID 0): open    second (ID 1): closed
#   2.4.0   first (ID 0): closed  second (ID 1): closed
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 zod@4.6.7
cat >ask.mjs <<'PROGRAM'
import * as two from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Server as ServerOfTwo } from "@modelcontextprotocol/server";
const settle = async () => {
  for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate);
};
for (const [name, Asks, Answers, transports, method] of [
  ["1.32.2", Server, Client, InMemoryTransport, ElicitRequestSchema],
  ["2.4.0", ServerOfTwo, two.Client, two.InMemoryTransport, "elicitation/create"],
]) {
  const server = new Asks({ name: "server", version: "1" }, { capabilities: {} });
  const client = new Answers({ name: "client", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  let dialog;
  client.setRequestHandler(method, (_, context) => {
    dialog = "open";
    (context.signal ?? context.mcpReq.signal).addEventListener("abort", () => (dialog = "closed"));
    return new Promise(() => {});
  });
  const [one, other] = transports.createLinkedPair();
  let id;
  const send = one.send.bind(one);
  one.send = (message, options) => {
    if (message.method === "elicitation/create") id = message.id;
    return send(message, options);
  };
  await Promise.all([server.connect(one), client.connect(other)]);
  const said = [];
  for (const place of ["first", "second"]) {
    const withdraw = new AbortController();
    const form = { message: place, requestedSchema: { type: "object", properties: {} } };
    const question = server.elicitInput(form, { signal: withdraw.signal }).catch(() => {});
    await settle();
    withdraw.abort("no longer needed");
    await question;
    await settle();
    said.push(`${place} (ID ${id}): ${dialog.padEnd(6)}`);
  }
  console.log(`${name.padEnd(6)}  ${said.join("  ").trimEnd()}`);
}
PROGRAM
node ask.mjs | tee said
diff said - <<'EXPECTED'
1.32.2  first (ID 0): open    second (ID 1): closed
2.4.0   first (ID 0): closed  second (ID 1): closed
EXPECTED
