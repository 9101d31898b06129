"""What the drivers of gateways share, which serve an agent over HTTP: a free port, and a request that waits for the gateway."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def post(url, body, within=60):
    """Posts a body in JSON, again while nothing listens, and returns the response."""
    end = time.monotonic() + within
    while True:
        request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            return json.loads(OPENER.open(request).read() or "null")
        except urllib.error.HTTPError as error:
            return {"error": error.code, "body": error.read().decode(errors="replace")[:300]}
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def serve(*words):
    """Starts a gateway, which says what it says on stderr."""
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=2)
