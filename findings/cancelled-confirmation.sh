#!/usr/bin/env bash
# A yes-or-no question, given up by Ctrl-C in a terminal: @clack/prompts 1.9.0, @inquirer/prompts 8.8.0, prompts 2.4.2,
# enquirer 2.4.1 (npm), questionary 2.1.1, InquirerPy 0.3.4, click 8.5.1, rich 15.0.0 (PyPI). One would guess that all
# raise. Five do, enquirer with an empty text in place of an error; prompts and questionary give nothing, which reads as
# a no; @clack/prompts gives a symbol, which reads as a yes. A program that writes `if (await confirm(...))` goes on
# where its person gave up.
#
# Output:
#   @clack/prompts     Symbol(clack:cancel), as a condition: yes
#   @inquirer/prompts  throws ExitPromptError
#   prompts            undefined, as a condition: no
#   enquirer           throws ""
#   questionary        None, as a condition: no
#   InquirerPy         raises KeyboardInterrupt
#   click              raises Abort
#   rich               raises KeyboardInterrupt
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
const message = "Sure?";
const ways = {
  "@clack/prompts": ({ confirm }) => confirm({ message }),
  "@inquirer/prompts": ({ confirm }) => confirm({ message }),
  prompts: async ({ default: ask }) => (await ask({ name: "sure", type: "confirm", message })).sure,
  enquirer: async ({ default: { prompt } }) => (await prompt({ name: "sure", type: "confirm", message })).sure,
};
const name = process.argv[2];
const said = await ways[name](await import(name)).then(
  (answer) => `${String(answer)}, as a condition: ${answer ? "yes" : "no"}`,
  (error) => `throws ${error?.name ?? JSON.stringify(error)}`,
);
console.log(`\n<${said}>`);
process.exit();
PROGRAM
cat >ask.py <<'PROGRAM'
import sys

def questionary():
    import questionary
    return questionary.confirm("Sure?").ask()

def InquirerPy():
    from InquirerPy import inquirer
    return inquirer.confirm("Sure?").execute()

def click():
    import click
    return click.confirm("Sure?")

def rich():
    from rich.prompt import Confirm
    return Confirm.ask("Sure?")

try:
    answer = {"questionary": questionary, "InquirerPy": InquirerPy, "click": click, "rich": rich}[sys.argv[1]]()
    print(f"\n<{answer}, as a condition: {'yes' if answer else 'no'}>", flush=True)
except BaseException as error:
    print(f"\n<raises {type(error).__name__}>", flush=True)
PROGRAM
cat >type.py <<'PROGRAM'
import fcntl, os, pty, re, select, signal, struct, termios

def read(screen, seconds, seen, pattern=None):
    while not (pattern and re.search(pattern, seen)) and select.select([screen], [], [], seconds)[0]:
        try:
            seen += os.read(screen, 4096)
        except OSError:
            break
    return seen

def answer(*command):
    process, screen = pty.fork()
    if process == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen = read(screen, 0.5, read(screen, 60, b"", rb"Sure\?"))
    os.write(screen, b"\x03")
    found = re.search(rb"\n<([^<>\r\n]*)>", read(screen, 10, seen, rb"\n<[^<>\r\n]*>"))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return found.group(1).decode() if found else "waits"

for name in ("@clack/prompts", "@inquirer/prompts", "prompts", "enquirer"):
    print(f"{name:<18} {answer('node', 'ask.mjs', name)}", flush=True)
for name in ("questionary", "InquirerPy", "click", "rich"):
    print(f"{name:<18} {answer('python/bin/python', 'ask.py', name)}", flush=True)
PROGRAM
python3 type.py | tee said
diff said - <<'EXPECTED'
@clack/prompts     Symbol(clack:cancel), as a condition: yes
@inquirer/prompts  throws ExitPromptError
prompts            undefined, as a condition: no
enquirer           throws ""
questionary        None, as a condition: no
InquirerPy         raises KeyboardInterrupt
click              raises Abort
rich               raises KeyboardInterrupt
EXPECTED
