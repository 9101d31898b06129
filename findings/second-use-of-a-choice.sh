#!/usr/bin/env bash
# zod-to-json-schema 3.25.2 with zod 3.25.76, and @modelcontextprotocol/sdk 1.32.2 (npm): a form with two fields of the
# same choices, written as one constant. The second field becomes a `$ref` to the first, and the form as a whole is
# refused by the client's parser. One would guess two fields with the same list. Nobody is asked, and with two equal
# constants, which read the same, all is well.
#
# Output:
#   one constant:   to is {"$ref":"#/properties/from"}, the client says -32603
#   two constants:  to is {"type":"string","enum":["red","blue"]}, the client says accept
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 zod3@npm:zod@3.25.76 zod-to-json-schema@3.25.2
cat >ask.mjs <<'PROGRAM'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { zodToJsonSchema } from "zod-to-json-schema";
import { z } from "zod3";
const color = z.enum(["red", "blue"]);
for (const [name, form] of [
  ["one constant", z.object({ from: color, to: color })],
  ["two constants", z.object({ from: color, to: z.enum(["red", "blue"]) })],
]) {
  const { type, properties, required } = zodToJsonSchema(form);
  const server = new Server({ name: "server", version: "1" }, { capabilities: {} });
  const client = new Client({ name: "client", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { from: "red", to: "blue" } }));
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  const question = server.elicitInput({ message: "Which?", requestedSchema: { type, properties, required } });
  const said = await question.then(({ action }) => action, ({ code }) => code);
  console.log(`${`${name}:`.padEnd(15)} to is ${JSON.stringify(properties.to)}, the client says ${said}`);
}
PROGRAM
node ask.mjs | tee said
diff said - <<'EXPECTED'
one constant:   to is {"$ref":"#/properties/from"}, the client says -32603
two constants:  to is {"type":"string","enum":["red","blue"]}, the client says accept
EXPECTED
