#!/usr/bin/env bash
# awaithumans 0.1.12 (PyPI): a program asks its person through a server, and gives no key of its own. Once the person has
# decided, the same question with the same payload is never asked again: each later call returns the first decision at
# once. One would guess that each call asks, as each function call does, and that a key makes two calls one. A question
# that was cancelled is not asked again either: the call raises at once.
#
# Output:
#   Monday: asked, the person allows it: approved=True
#   Tuesday: the person is not asked: approved=True
#   after a cancelled question: not asked, TaskCancelledError
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder
python3 -m venv python
python/bin/pip install -q "awaithumans[server]==0.1.12"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
python/bin/awaithumans dev --host 127.0.0.1 --port "$port" --log-level ERROR >log 2>&1 &
server=$!
cat >ask.py <<'PROGRAM'
import glob, json, os, threading, time, urllib.request
from pydantic import BaseModel
import awaithumans

class Deploy(BaseModel):
    service: str

class Decision(BaseModel):
    approved: bool

until = time.monotonic() + 60
while not (found := glob.glob(os.path.expanduser("~/.awaithumans-dev.json"))):
    assert time.monotonic() < until, "the server did not start"
    time.sleep(0.1)
about = json.load(open(found[0]))
server = about.get("url") or f"http://127.0.0.1:{about['port']}"
token = next(value for name, value in about.items() if "token" in name)

def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return json.load(urllib.request.urlopen(urllib.request.Request(server + path, data, headers)))

while True:
    try:
        call("/api/tasks")
        break
    except OSError:
        assert time.monotonic() < until, "the server does not listen"
        time.sleep(0.1)

def waiting():
    done = ("completed", "cancelled", "timed_out")
    return [task for task in call("/api/tasks") if task["status"] not in done]

def ask(service, person):
    """Asks, and returns whether the person was asked, and what the program hears."""
    heard = []
    def program():
        try:
            decision = awaithumans.await_human_sync(
                task="Deploy?", payload_schema=Deploy, payload=Deploy(service=service), response_schema=Decision,
                timeout_seconds=60, server_url=server, api_key=token)
            heard.append(f"approved={decision.approved}")
        except Exception as error:
            heard.append(type(error).__name__)
    thread = threading.Thread(target=program)
    thread.start()
    asked, until = False, time.monotonic() + 50
    while thread.is_alive() and time.monotonic() < until:
        for task in waiting():
            asked = True
            if person == "cancels":
                call(f"/api/tasks/{task['id']}/cancel", {})
            else:
                call(f"/api/tasks/{task['id']}/complete", {"response": {"approved": person == "allows"}})
        time.sleep(0.05)
    thread.join(10)
    return asked, heard[0]

asked, heard = ask("shop", person="allows")
print(f"Monday: {'asked, the person allows it' if asked else 'not asked'}: {heard}")
asked, heard = ask("shop", person="refuses")
print(f"Tuesday: {'the person is asked' if asked else 'the person is not asked'}: {heard}")
ask("bank", person="cancels")
asked, heard = ask("bank", person="refuses")
print(f"after a cancelled question: {'asked' if asked else 'not asked'}, {heard}")
PROGRAM
python/bin/python ask.py | tee said
diff said - <<'EXPECTED'
Monday: asked, the person allows it: approved=True
Tuesday: the person is not asked: approved=True
after a cancelled question: not asked, TaskCancelledError
EXPECTED
