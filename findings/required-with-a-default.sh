#!/usr/bin/env bash
# zod 4.6.7, and zod-to-json-schema 3.25.2 with zod 3.25.76 beside it (npm): one schema of a form, turned into JSON
# Schema by zod itself and by the package that did so before. zod names a field with a default as required, the package
# does not. One would guess that a default makes a field optional. A form made by zod alone cannot be sent without an
# answer to every field that has a default, and a server that checks refuses one that leaves it out. (`io: "input"`
# gives the other.)
#
# Output:
#   z.toJSONSchema               required: name, notify
#   z.toJSONSchema, io: "input"  required: name
#   zod-to-json-schema           required: name
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts zod@4.6.7 zod3@npm:zod@3.25.76 zod-to-json-schema@3.25.2
cat >schemas.mjs <<'PROGRAM'
import * as z from "zod";
import { zodToJsonSchema } from "zod-to-json-schema";
import { z as z3 } from "zod3";
const form = (z) => z.object({ name: z.string(), notify: z.boolean().default(true) });
for (const [name, schema] of [
  ["z.toJSONSchema", z.toJSONSchema(form(z))],
  ['z.toJSONSchema, io: "input"', z.toJSONSchema(form(z), { io: "input" })],
  ["zod-to-json-schema", zodToJsonSchema(form(z3))],
]) {
  console.log(`${name.padEnd(28)} required: ${schema.required.join(", ")}`);
}
PROGRAM
node schemas.mjs | tee said
diff said - <<'EXPECTED'
z.toJSONSchema               required: name, notify
z.toJSONSchema, io: "input"  required: name
zod-to-json-schema           required: name
EXPECTED
