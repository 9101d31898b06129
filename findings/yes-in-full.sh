#!/usr/bin/env bash
# A yes-or-no question, then one for a name; "yes" and Enter are typed at the first, key by key, and "Ada" and Enter
# when the second is there: @clack/prompts 1.9.0, @inquirer/prompts 8.8.0, prompts 2.4.2, enquirer 2.4.1 (npm),
# questionary 2.1.1, InquirerPy 0.3.4, click 8.5.1, rich 15.0.0 (PyPI). One would guess that "yes" is a yes in all, and
# "Ada" the name. In five the key "y" is the whole answer, and "es" with its Enter becomes the name. rich takes "y"
# alone, and asks again. A program that answers in a terminal has to know which one it answers.
#
# Output:
#   @clack/prompts     yes, then "es"
#   @inquirer/prompts  yes, then "Ada"
#   prompts            yes, then "es"
#   enquirer           yes, then "es"
#   questionary        yes, then "es"
#   InquirerPy         yes, then "es"
#   click              yes, then "Ada"
#   rich               asks again
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q questionary==2.1.1 InquirerPy==0.3.4 click==8.5.1 rich==15.0.0
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @clack/prompts@1.9.0 prompts@2.4.2 enquirer@2.4.1 @inquirer/prompts@8.8.0
cat >ask.mjs <<'PROGRAM'
const one = (ask) => async (type, message) => (await ask({ name: "answer", type, message })).answer;
const ways = {
  "@clack/prompts": ({ confirm, text }) => [(message) => confirm({ message }), (message) => text({ message })],
  "@inquirer/prompts": ({ confirm, input }) => [(message) => confirm({ message }), (message) => input({ message })],
  prompts: ({ default: ask }) => [(message) => one(ask)("confirm", message), (message) => one(ask)("text", message)],
  enquirer: ({ default: { prompt } }) => [
    (message) => one(prompt)("confirm", message),
    (message) => one(prompt)("input", message),
  ],
};
const name = process.argv[2];
const [sure, text] = ways[name](await import(name));
console.log(`<${(await sure("Sure?")) ? "yes" : "no"}>`);
console.log(`<${await text("Name?")}>`);
PROGRAM
cat >ask.py <<'PROGRAM'
import sys

def questionary():
    import questionary
    return lambda message: questionary.confirm(message).ask(), lambda message: questionary.text(message).ask()

def InquirerPy():
    from InquirerPy import inquirer
    return lambda message: inquirer.confirm(message).execute(), lambda message: inquirer.text(message).execute()

def click():
    import click
    return click.confirm, click.prompt

def rich():
    from rich.prompt import Confirm, Prompt
    return Confirm.ask, Prompt.ask

sure, text = {"questionary": questionary, "InquirerPy": InquirerPy, "click": click, "rich": rich}[sys.argv[1]]()
print(f"<{'yes' if sure('Sure?') else 'no'}>", flush=True)
print(f"<{text('Name?')}>", flush=True)
PROGRAM
cat >type.py <<'PROGRAM'
import fcntl, os, pty, re, select, signal, struct, termios, time

def read(screen, seconds, seen, pattern=None):
    while not (pattern and re.search(pattern, seen)) and select.select([screen], [], [], seconds)[0]:
        try:
            seen += os.read(screen, 4096)
        except OSError:
            break
    return seen

def answers(*command):
    process, screen = pty.fork()
    if process == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = read(screen, 0.5, read(screen, 60, b"", rb"Sure\?"))
    for key in b"yes\r":
        os.write(screen, bytes([key]))
        time.sleep(0.2)
    seen = read(screen, 1, seen)
    if len(re.findall(rb"<\w+>", seen)) == 1:
        os.write(screen, b"Ada\r")
        seen = read(screen, 10, seen, rb"(?s)<\w+>.*<\w+>")
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    found = [word.decode() for word in re.findall(rb"<(\w+)>", seen)]
    return f'{found[0]}, then "{found[1]}"' if found else "asks again"

for name in ("@clack/prompts", "@inquirer/prompts", "prompts", "enquirer"):
    print(f"{name:<18} {answers('node', 'ask.mjs', name)}", flush=True)
for name in ("questionary", "InquirerPy", "click", "rich"):
    print(f"{name:<18} {answers('python/bin/python', 'ask.py', name)}", flush=True)
PROGRAM
python3 type.py | tee said
diff said - <<'EXPECTED'
@clack/prompts     yes, then "es"
@inquirer/prompts  yes, then "Ada"
prompts            yes, then "es"
enquirer           yes, then "es"
questionary        yes, then "es"
InquirerPy         yes, then "es"
click              yes, then "Ada"
rich               asks again
EXPECTED
