#!/usr/bin/env bash
# Two questions for a text in turn, and both answers typed at once, "Ada", Enter, "Bob", Enter, as a program in front of
# a terminal does: @clack/prompts 1.9.0, @inquirer/prompts 8.8.0, prompts 2.4.2, enquirer 2.4.1 (npm), questionary
# 2.1.1, InquirerPy 0.3.4, click 8.5.1 (PyPI). One would guess that the second question gets "Bob", as in a shell. Only
# those of Python do so. Three of npm lose it and wait; prompts takes "AdaBob" as the answer to the first question.
#
# Output:
#   @clack/prompts     Ada, and the second waits
#   @inquirer/prompts  Ada, and the second waits
#   prompts            AdaBob, and the second waits
#   enquirer           Ada, and the second waits
#   questionary        Ada, Bob
#   InquirerPy         Ada, Bob
#   click              Ada, Bob
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q questionary==2.1.1 InquirerPy==0.3.4 click==8.5.1
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
for (const question of ["First?", "Second?"]) console.log(`<${await ask(question)}>`);
PROGRAM
cat >ask.py <<'PROGRAM'
import sys

def questionary(message):
    import questionary
    return questionary.text(message).ask()

def InquirerPy(message):
    from InquirerPy import inquirer
    return inquirer.text(message).execute()

def click(message):
    import click
    return click.prompt(message)

ask = {"questionary": questionary, "InquirerPy": InquirerPy, "click": click}[sys.argv[1]]
for question in ("First?", "Second?"):
    print(f"<{ask(question)}>", flush=True)
PROGRAM
# What is not answered three seconds after the last sign on the screen waits, and is ended.
cat >type.py <<'PROGRAM'
import fcntl, os, pty, re, select, signal, struct, termios

def read(screen, seconds, seen):
    while select.select([screen], [], [], seconds)[0]:
        try:
            seen += os.read(screen, 4096)
        except OSError:
            break
        if len(re.findall(rb"<\w+>", seen)) == 2:
            break
    return seen

def answers(*command):
    process, screen = pty.fork()
    if process == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = b""
    while b"First?" not in seen:
        seen += os.read(screen, 4096)
    seen = read(screen, 0.5, seen)
    os.write(screen, b"Ada\rBob\r")
    found = [name.decode() for name in re.findall(rb"<(\w+)>", read(screen, 3, seen))]
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return ", ".join(found) if len(found) == 2 else f"{found[0]}, and the second waits"

for name in ("@clack/prompts", "@inquirer/prompts", "prompts", "enquirer"):
    print(f"{name:<18} {answers('node', 'ask.mjs', name)}", flush=True)
for name in ("questionary", "InquirerPy", "click"):
    print(f"{name:<18} {answers('python/bin/python', 'ask.py', name)}", flush=True)
PROGRAM
python3 type.py | tee said
diff said - <<'EXPECTED'
@clack/prompts     Ada, and the second waits
@inquirer/prompts  Ada, and the second waits
prompts            AdaBob, and the second waits
enquirer           Ada, and the second waits
questionary        Ada, Bob
InquirerPy         Ada, Bob
click              Ada, Bob
EXPECTED
