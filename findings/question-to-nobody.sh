#!/usr/bin/env bash
# @clack/prompts 1.9.0, prompts 2.4.2, enquirer 2.4.1 and @inquirer/prompts 8.8.0 (npm), with an empty standard input,
# as under a scheduler: three of them neither answer nor raise, and Node ends with exit code 0 in the middle of the
# question. Only @inquirer/prompts raises. One would guess an error, or at least another exit code. What stands after
# the question does not run, and whoever started the program takes it for done.
#
# Output:
#   @clack/prompts     nothing, exit code 0
#   prompts            nothing, exit code 0
#   enquirer           nothing, exit code 0
#   @inquirer/prompts  ExitPromptError, exit code 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @clack/prompts@1.9.0 prompts@2.4.2 enquirer@2.4.1 @inquirer/prompts@8.8.0
cat >ask.mjs <<'PROGRAM'
const ask = {
  "@clack/prompts": ({ confirm }) => confirm({ message: "Go on?" }),
  prompts: ({ default: prompts }) => prompts({ name: "answer", type: "confirm", message: "Go on?" }),
  enquirer: ({ default: enquirer }) => enquirer.prompt({ name: "answer", type: "confirm", message: "Go on?" }),
  "@inquirer/prompts": ({ confirm }) => confirm({ message: "Go on?" }),
};
async function main(name) {
  await ask[name](await import(name));
  console.error("answered");
}
main(process.argv[2]).catch((error) => {
  console.error(error.name);
  process.exitCode = 1;
});
PROGRAM
for name in @clack/prompts prompts enquirer @inquirer/prompts; do
    code=0
    node ask.mjs "$name" </dev/null >/dev/null 2>heard || code=$?
    heard=$(cat heard)
    printf '%-18s %s, exit code %s\n' "$name" "${heard:-nothing}" "$code"
done | tee said
diff said - <<'EXPECTED'
@clack/prompts     nothing, exit code 0
prompts            nothing, exit code 0
enquirer           nothing, exit code 0
@inquirer/prompts  ExitPromptError, exit code 1
EXPECTED
