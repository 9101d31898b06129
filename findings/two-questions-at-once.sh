#!/usr/bin/env bash
# @clack/prompts 1.9.0, @inquirer/prompts 8.8.0, prompts 2.4.2 and enquirer 2.4.1 (npm): a program asks two questions
# for a text at the same time, as an agent with two tools in flight does, and "Ada" and Enter are typed once. In all
# four it is the answer to both. One would guess that the second question waits for its turn, or is refused. A person
# who answers the question on the screen answers one that is not there to be read.
#
# Output:
#   @clack/prompts     First: Ada, Second: Ada
#   @inquirer/prompts  First: Ada, Second: Ada
#   prompts            First: Ada, Second: Ada
#   enquirer           First: Ada, Second: Ada
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @clack/prompts@1.9.0 prompts@2.4.2 enquirer@2.4.1 @inquirer/prompts@8.8.0
cat >ask.mjs <<'PROGRAM'
const ways = {
  "@clack/prompts": ({ text }) => (message) => text({ message }),
  "@inquirer/prompts": ({ input }) => (message) => input({ message }),
  prompts: ({ default: p }) => async (message) => (await p({ name: "name", type: "text", message })).name,
  enquirer: ({ default: e }) => async (message) => (await e.prompt({ name: "name", type: "input", message })).name,
};
const name = process.argv[2];
const ask = ways[name](await import(name));
const said = [];
const one = async (question) => said.push(`${question}: ${await ask(question)}`);
const both = Promise.all([one("First"), one("Second")]);
await Promise.race([both, new Promise((resolve) => setTimeout(resolve, 10_000))]);
console.log(`\n<${said.sort().join(", ")}>`);
process.exit();
PROGRAM
cat >type.py <<'PROGRAM'
import fcntl, os, pty, re, select, signal, struct, sys, termios

def read(screen, seconds, seen, pattern=None):
    while not (pattern and re.search(pattern, seen)) and select.select([screen], [], [], seconds)[0]:
        try:
            seen += os.read(screen, 4096)
        except OSError:
            break
    return seen

for name in sys.argv[1:]:
    process, screen = pty.fork()
    if process == 0:
        os.execvp("node", ["node", "ask.mjs", name])
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = read(screen, 1, read(screen, 60, b"", rb"First"))
    os.write(screen, b"Ada\r")
    found = re.search(rb"\n<([^<>\r\n]*)>", read(screen, 20, seen, rb"\n<[^<>\r\n]*>"))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    print(f"{name:<18} {found.group(1).decode() if found else 'waits'}", flush=True)
PROGRAM
python3 type.py @clack/prompts @inquirer/prompts prompts enquirer | tee said
diff said - <<'EXPECTED'
@clack/prompts     First: Ada, Second: Ada
@inquirer/prompts  First: Ada, Second: Ada
prompts            First: Ada, Second: Ada
enquirer           First: Ada, Second: Ada
EXPECTED
