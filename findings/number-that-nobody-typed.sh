#!/usr/bin/env bash
# prompts 2.4.2, enquirer 2.4.1 and @inquirer/prompts 8.8.0 (npm): a question for a number without a default, answered
# by the Enter key alone, gives the empty text, the number 0, and undefined. One would guess that the question stays
# open, or that all give nothing. A 0 that nobody typed is then sent as an answer, and an empty text where a schema says
# number.
#
# Output:
#   prompts            string ""
#   enquirer           number 0
#   @inquirer/prompts  undefined undefined
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts prompts@2.4.2 enquirer@2.4.1 @inquirer/prompts@8.8.0
cat >ask.mjs <<'PROGRAM'
const ask = {
  prompts: async ({ default: p }) => (await p({ name: "n", type: "number", message: "How many?" })).n,
  enquirer: async ({ default: e }) => (await e.prompt({ name: "n", type: "numeral", message: "How many?" })).n,
  "@inquirer/prompts": ({ number }) => number({ message: "How many?" }),
};
const name = process.argv[2];
const answer = await ask[name](await import(name));
console.error(typeof answer, JSON.stringify(answer));
PROGRAM
for name in prompts enquirer @inquirer/prompts; do
    printf '\r' | node ask.mjs "$name" 2>heard >/dev/null
    printf '%-18s %s\n' "$name" "$(tail -n 1 heard)"
done | tee said
diff said - <<'EXPECTED'
prompts            string ""
enquirer           number 0
@inquirer/prompts  undefined undefined
EXPECTED
