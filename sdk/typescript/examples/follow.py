"""Follows the questions of an inbox: follow.py ADDRESS TOKEN_FILE. The file is `token` in the folder that `askbridge status` names.
Prints each question once, and each end.

A connection that is lost is made again, from the last event on.
"""

import http.client
import json
import pathlib
import sys
import time
import urllib.error
import urllib.request


def events(address, token, last):
    """Yields the ID, the name and the data of each event of one connection."""
    headers = {"Authorization": f"Bearer {token}", **({"Last-Event-ID": last} if last else {})}
    request = urllib.request.Request(f"{address}/v1/events", headers=headers)
    # The server sends a comment each 4 s: a connection that is silent for longer is dead.
    with urllib.request.urlopen(request, timeout=20) as stream:
        event = {}
        for line in stream:
            name, _, value = line.decode().rstrip("\r\n").partition(": ")
            if name:
                event[name] = value
            elif "data" in event:
                last = event.get("id", last)
                yield last, event["event"], json.loads(event["data"])
                event = {}


def follow(address, token_file):
    """Prints what happens, and never ends."""
    known, last = {}, None
    while True:
        try:
            for last, name, data in events(address, pathlib.Path(token_file).read_text().strip(), last):
                if name == "snapshot":
                    for gone in known.keys() - set(data["open"]):
                        print("over meanwhile:", known.pop(gone), flush=True)
                    continue
                record = data["question"]
                if name == "question.resolved":
                    known.pop(record["id"], None)
                    print(f"{data['status']}: {data['prompt']}: {data['response']}", flush=True)
                elif record["id"] not in known:
                    known[record["id"]] = data["prompt"]
                    print("asked:", data["prompt"], flush=True)
        except urllib.error.HTTPError as error:
            if error.code in (401, 403):
                raise
        except (OSError, http.client.HTTPException) as error:
            print(f"follow.py: {error}", file=sys.stderr)
        time.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    follow(*sys.argv[1:])
