#!/usr/bin/env bash
# agent-client-protocol 0.12.1 and mcp 1.30.0 (PyPI), @modelcontextprotocol/sdk 1.32.2 (npm): a program that they start on
# stdio gets six variables of its parent, whatever else is set: no XDG_RUNTIME_DIR, no LANG, no TMPDIR, no SSH_AUTH_SOCK.
# A program that finds a socket or its settings by such a variable looks elsewhere than the same program in a shell.
#
# Output:
#   acp (Python)      HOME LOGNAME PATH SHELL TERM USER
#   mcp (Python)      HOME LOGNAME PATH SHELL TERM USER
#   mcp (TypeScript)  HOME LOGNAME PATH SHELL TERM USER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q agent-client-protocol==0.12.1 mcp==1.30.0
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2

# The program that is started writes the names of its variables into the file that its argument names.
cat >program.py <<'PROGRAM'
import os, sys
# LC_CTYPE is set by Python itself.
names = sorted(name for name in os.environ if name != "LC_CTYPE")
open(sys.argv[1], "w").write(" ".join(names))
sys.stdin.read()
PROGRAM
cat >hosts.py <<'PROGRAM'
import asyncio, os, sys
from acp.transports import spawn_stdio_transport
from mcp.client.stdio import StdioServerParameters, stdio_client

async def started(file):
    for _ in range(2000):
        if os.path.exists(file) and os.path.getsize(file):
            return
        await asyncio.sleep(0.01)

async def main():
    async with spawn_stdio_transport(sys.executable, "program.py", "acp"):
        await started("acp")
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["program.py", "mcp"])):
        await started("mcp")

asyncio.run(main())
PROGRAM
cat >host.mjs <<'PROGRAM'
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const program = `require("fs").writeFileSync("ts", Object.keys(process.env).sort().join(" ")); process.stdin.resume();`;
const transport = new StdioClientTransport({ command: process.execPath, args: ["-e", program] });
await transport.start();
for (let tries = 0; tries < 2000 && !(existsSync("ts") && readFileSync("ts").length); tries++) await sleep(10);
await transport.close();
PROGRAM
export HOME="$folder" LOGNAME=ada USER=ada SHELL=/bin/sh TERM=xterm
export XDG_RUNTIME_DIR="$folder" XDG_STATE_HOME="$folder" LANG=C.UTF-8 TMPDIR="$folder" SSH_AUTH_SOCK="$folder/agent"
python/bin/python hosts.py
node host.mjs
printf 'acp (Python)      %s\nmcp (Python)      %s\nmcp (TypeScript)  %s\n' "$(cat acp)" "$(cat mcp)" "$(cat ts)"
for host in acp mcp ts; do
    [ "$(cat "$host")" = "HOME LOGNAME PATH SHELL TERM USER" ]
done
