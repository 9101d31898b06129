#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2 (npm): a client parses the form of an elicitation, and drops keywords of a property
# that it has no place for, whole lists of choices among them. The server checks the answer against the form that it
# sent. One would guess that both have the same form. A person is shown a free field, and the tool fails at a good
# answer.
#
# Output:
#   {"type":"string","pattern":"^v[0-9]+$"} is shown as {"type":"string"}
#   "next" is answered: must match pattern "^v[0-9]+$"
#   {"type":"integer","enum":[1,2,3]} is shown as {"type":"integer"}
#   4 is answered: must be equal to one of the allowed values
#   {"type":"string","oneOf":[{"const":"a"},{"const":"b"}]} is shown as {"type":"string"}
#   "next" is answered: must match exactly one schema in oneOf
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 zod@4.6.7
cat >ask.mjs <<'PROGRAM'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
for (const [field, answer] of [
  [{ type: "string", pattern: "^v[0-9]+$" }, "next"],
  [{ type: "integer", enum: [1, 2, 3] }, 4],
  [{ type: "string", oneOf: [{ const: "a" }, { const: "b" }] }, "next"],
]) {
  const server = new Server({ name: "server", version: "1" }, { capabilities: {} });
  const client = new Client({ name: "client", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    console.log(`${JSON.stringify(field)} is shown as ${JSON.stringify(params.requestedSchema.properties.field)}`);
    return { action: "accept", content: { field: answer } };
  });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(one), client.connect(other)]);
  const form = { message: "Which?", requestedSchema: { type: "object", properties: { field } } };
  const said = await server.elicitInput(form).then(({ action }) => action, ({ message }) => message);
  console.log(`${JSON.stringify(answer)} is answered: ${said.replace(/.*data\/field /, "").replace(/, data.*/, "")}`);
}
PROGRAM
node ask.mjs | tee said
diff said - <<'EXPECTED'
{"type":"string","pattern":"^v[0-9]+$"} is shown as {"type":"string"}
"next" is answered: must match pattern "^v[0-9]+$"
{"type":"integer","enum":[1,2,3]} is shown as {"type":"integer"}
4 is answered: must be equal to one of the allowed values
{"type":"string","oneOf":[{"const":"a"},{"const":"b"}]} is shown as {"type":"string"}
"next" is answered: must match exactly one schema in oneOf
EXPECTED
