#!/usr/bin/env bash
# mcp 1.30.0, and 2.3.0 beside it (PyPI): a server asks the client's person, sends a ping and a log message, and
# withdraws the question, all before the person answers. The client of 1.30.0 handles one message after the other: it
# answers no ping, hands on no log message and does not hear that the question is withdrawn until its callback has
# returned. One would guess that a person who thinks does not hold up the connection. A server that pings takes such a
# client for dead.
#
# Output:
#   mcp 1.30.0  while the person thinks: nothing; the question: answered
#   mcp 2.3.0   while the person thinks: ping answered, log message shown; the question: withdrawn
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >server.py <<'PROGRAM'
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

call = None
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        send(id=message["id"], result={"protocolVersion": message["params"]["protocolVersion"], "capabilities": {},
                                       "serverInfo": {"name": "server", "version": "1"}})
    elif method == "tools/call":
        call = message["id"]
        form = {"type": "object", "properties": {}}
        send(id="question", method="elicitation/create", params={"message": "Which?", "requestedSchema": form})
        send(id="ping", method="ping")
        send(method="notifications/message", params={"level": "info", "data": "still here"})
        send(method="notifications/cancelled", params={"requestId": "question"})
    elif message.get("id") == "ping":
        open("ping", "w").close()
    elif method == "notifications/initialized":
        pass
    elif method == "notifications/progress":
        send(id=call, result={"content": []})
    elif method:
        send(id=message["id"], result={"tools": []})
PROGRAM
cat >client.py <<'PROGRAM'
import asyncio, logging, os, sys
import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client
try:
    from mcp_types import ElicitResult
except ImportError:
    from mcp.types import ElicitResult
logging.disable(logging.CRITICAL)
heard, end = [], []

async def person(context, params):
    try:
        await asyncio.sleep(4)
        if os.path.exists("ping"):
            heard.append("ping answered")
        end.append("answered")
    except asyncio.CancelledError:
        end.append("withdrawn")
        raise
    return ElicitResult(action="decline")

async def log(params):
    if not end or end == ["withdrawn"]:
        heard.append("log message shown")

async def main():
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["server.py"])) as streams:
        async with mcp.ClientSession(*streams, elicitation_callback=person, logging_callback=log) as session:
            await session.initialize()
            call = asyncio.create_task(session.call_tool("ask", {}))
            for _ in range(600):
                if end == ["answered"] or end and os.path.exists("ping"):
                    break
                await asyncio.sleep(0.05)
            if end == ["withdrawn"] and os.path.exists("ping"):
                heard.insert(0, "ping answered")
            await session.send_progress_notification("done", 1)
            await call
    print(f"while the person thinks: {', '.join(heard) or 'nothing'}; the question: {end[0]}")

asyncio.run(main())
PROGRAM
for package in mcp==1.30.0 mcp==2.3.0; do
    rm -f ping
    python3 -m venv "$package"
    "$package/bin/pip" install -q "$package"
    printf 'mcp %-7s %s\n' "${package#mcp==}" "$("$package/bin/python" -W ignore client.py)"
done | tee said
diff said - <<'EXPECTED'
mcp 1.30.0  while the person thinks: nothing; the question: answered
mcp 2.3.0   while the person thinks: ping answered, log message shown; the question: withdrawn
EXPECTED
