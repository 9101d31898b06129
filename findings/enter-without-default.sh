#!/usr/bin/env bash
# Yes-or-no questions that name no default, answered by the Enter key alone: @clack/prompts 1.9.0, @inquirer/prompts
# 8.8.0, prompts 2.4.2, enquirer 2.4.1 (npm), questionary 2.1.1, InquirerPy 0.3.4, click 8.5.1, rich 15.0.0 (PyPI).
# Three say yes, four say no, one asks again. One would guess that all take it for a no, or for no answer. A program
# that types Enter to get past a question, and a person who does, agrees in one program to what it refuses in the next.
#
# Output:
#   @clack/prompts     yes
#   @inquirer/prompts  yes
#   prompts            no
#   enquirer           no
#   questionary        yes
#   InquirerPy         no
#   click              no
#   rich               asks again
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    @clack/prompts@1.9.0 prompts@2.4.2 enquirer@2.4.1 @inquirer/prompts@8.8.0
python3 -m venv python
python/bin/pip install -q questionary==2.1.1 InquirerPy==0.3.4 click==8.5.1 rich==15.0.0
cat >ask.mjs <<'PROGRAM'
const ask = {
  "@clack/prompts": ({ confirm }) => confirm({ message: "Go on?" }),
  "@inquirer/prompts": ({ confirm }) => confirm({ message: "Go on?" }),
  prompts: async ({ default: p }) => (await p({ name: "go", type: "confirm", message: "Go on?" })).go,
  enquirer: async ({ default: e }) => (await e.prompt({ name: "go", type: "confirm", message: "Go on?" })).go,
};
const name = process.argv[2];
console.error((await ask[name](await import(name))) ? "yes" : "no");
PROGRAM
cat >ask.py <<'PROGRAM'
import sys

def rich():
    from rich.prompt import Confirm
    return Confirm.ask("Go on?")

def click():
    import click
    return click.confirm("Go on?")

def questionary():
    import questionary
    return questionary.confirm("Go on?").ask()

def InquirerPy():
    from InquirerPy import inquirer
    return inquirer.confirm("Go on?").execute()

try:
    answer = {"rich": rich, "click": click, "questionary": questionary, "InquirerPy": InquirerPy}[sys.argv[1]]()
    print("yes" if answer else "no", file=sys.stderr)
except EOFError:
    print("asks again", file=sys.stderr)
PROGRAM
# A carriage return is what a terminal sends for the Enter key; click and rich read lines, and get one.
{
    for name in @clack/prompts @inquirer/prompts prompts enquirer; do
        printf '\r' | node ask.mjs "$name" 2>heard >/dev/null
        printf '%-18s %s\n' "$name" "$(tail -n 1 heard)"
    done
    for name in questionary InquirerPy click rich; do
        case $name in click | rich) key='\n' ;; *) key='\r' ;; esac
        printf '%b' "$key" | python/bin/python ask.py "$name" 2>heard >/dev/null
        printf '%-18s %s\n' "$name" "$(tail -n 1 heard)"
    done
} | tee said
diff said - <<'EXPECTED'
@clack/prompts     yes
@inquirer/prompts  yes
prompts            no
enquirer           no
questionary        yes
InquirerPy         no
click              no
rich               asks again
EXPECTED
