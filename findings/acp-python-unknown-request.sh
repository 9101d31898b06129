#!/usr/bin/env bash
# agent-client-protocol 0.12.1 (PyPI): a client that inherits from `acp.Client`, and does not define `ext_method`, answers
# every extension request with the result null, and a client that defines only what it has answers with the error -32601.
# So an agent cannot take a result for a sign that the client knows its method.
#
# Output:
#   inherits from Client: {"jsonrpc": "2.0", "id": 7, "result": null}
#   does not inherit: error -32601
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q agent-client-protocol==0.12.1
cat >agent.py <<'PROGRAM'
import json, sys
print(json.dumps({"jsonrpc": "2.0", "id": 7, "method": "_example.com/unknown", "params": {"sessionId": "s"}}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") == 7:
        open(sys.argv[1], "w").write(json.dumps(message))
        break
PROGRAM
cat >client.py <<'PROGRAM'
import asyncio, json, os, sys
import acp

class Inherits(acp.Client):
    pass

class Alone:
    async def session_update(self, session_id, update, **kwargs):
        pass

async def said(client, file):
    async with acp.spawn_agent_process(client, sys.executable, "agent.py", file) as (_, process):
        await asyncio.wait_for(process.wait(), 30)
    return json.load(open(file))

async def main():
    inherits = await said(Inherits(), "inherits")
    print("inherits from Client:", json.dumps(inherits))
    alone = await said(Alone(), "alone")
    print("does not inherit: error", alone.get("error", {}).get("code"))
    assert inherits == {"jsonrpc": "2.0", "id": 7, "result": None}, inherits
    assert alone["error"]["code"] == -32601, alone

asyncio.run(main())
PROGRAM
python/bin/python client.py
