#!/usr/bin/env bash
# @clack/prompts 1.9.0 (npm), and @inquirer/prompts 8.8.0, prompts 2.4.2 and enquirer 2.4.1 beside it: in a terminal, a
# typed text is sent by a carriage return in all of them, and by a line feed in all but @clack/prompts, which drops the
# text and waits for another. One would guess that both end a line, as for programs that read lines. A program that
# answers another's question through a terminal of its own, and writes "text\n", is heard by most and not by this one.
#
# Output:
#   @clack/prompts     carriage return: Ada  line feed: waits, and then takes Eve
#   @inquirer/prompts  carriage return: Ada  line feed: Ada
#   prompts            carriage return: Ada  line feed: Ada
#   enquirer           carriage return: Ada  line feed: Ada
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @clack/prompts@1.9.0 prompts@2.4.2 enquirer@2.4.1 @inquirer/prompts@8.8.0
cat >ask.mjs <<'PROGRAM'
const ask = {
  "@clack/prompts": ({ text }) => text({ message: "Name?" }),
  "@inquirer/prompts": ({ input }) => input({ message: "Name?" }),
  prompts: async ({ default: p }) => (await p({ name: "name", type: "text", message: "Name?" })).name,
  enquirer: async ({ default: e }) => (await e.prompt({ name: "name", type: "input", message: "Name?" })).name,
};
const name = process.argv[2];
console.log(`<${await ask[name](await import(name))}>`);
PROGRAM
# "Ada" is typed when the question is on the screen. Where it is not the answer after two seconds, "Eve" follows.
cat >type.py <<'PROGRAM'
import fcntl, os, pty, re, select, struct, sys, termios

def read(screen, pattern, seconds, seen):
    while not (found := re.search(pattern, seen)):
        if not select.select([screen], [], [], seconds)[0]:
            break
        try:
            seen += os.read(screen, 4096)
        except OSError:
            break
    return seen, found

def answer(name, end):
    process, screen = pty.fork()
    if process == 0:
        os.execvp("node", ["node", "ask.mjs", name])
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen, _ = read(screen, rb"Name\?", 60, b"")
    while select.select([screen], [], [], 0.5)[0]:
        seen += os.read(screen, 4096)
    os.write(screen, b"Ada" + end)
    seen, found = read(screen, rb"<(\w+)>", 2, seen)
    late = not found
    if late:
        os.write(screen, b"Eve\r")
        seen, found = read(screen, rb"<(\w+)>", 60, seen)
    os.waitpid(process, 0)
    return ("waits, and then takes " if late else "") + found.group(1).decode()

for name in sys.argv[1:]:
    print(f"{name:<18} carriage return: {answer(name, bytes([13]))}  line feed: {answer(name, bytes([10]))}", flush=True)
PROGRAM
python3 type.py @clack/prompts @inquirer/prompts prompts enquirer | tee said
diff said - <<'EXPECTED'
@clack/prompts     carriage return: Ada  line feed: waits, and then takes Eve
@inquirer/prompts  carriage return: Ada  line feed: Ada
prompts            carriage return: Ada  line feed: Ada
enquirer           carriage return: Ada  line feed: Ada
EXPECTED
