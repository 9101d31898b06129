#!/usr/bin/env bash
# A response whose connection ends within its head, after `HTTP/1.1 200 OK` and half a line, by urllib.request of Python,
# requests 2.34.2, httpx 0.28.1 and aiohttp 3.14.5 (PyPI). One would guess an error, as for a body that is cut. The two that
# are built on http.client take the lines that came for the whole head, and return 200 with an empty body.
#
# Output:
#   urllib.request   whole: (200, 'yes')  body: IncompleteRead  head: (200, '')
#   requests         whole: (200, 'yes')  body: ChunkedEncodingError  head: (200, '')
#   httpx            whole: (200, 'yes')  body: RemoteProtocolError  head: RemoteProtocolError
#   aiohttp          whole: (200, 'yes')  body: ClientPayloadError  head: ServerDisconnectedError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q requests==2.34.2 httpx==0.28.1 aiohttp==3.14.5
cat >ask.py <<'PROGRAM'
import asyncio, socket, threading, urllib.request
import aiohttp, httpx, requests

CUTS = {
    "whole": b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nyes',
    "body": b'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nye',
    "head": b'HTTP/1.1 200 OK\r\nContent-Type: text/pla',
}

def serve(sent):
    listener = socket.create_server(("127.0.0.1", 0))
    def run():
        while True:
            connection, _ = listener.accept()
            with connection:
                while b"\r\n\r\n" not in connection.recv(1 << 16):
                    pass
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/"

async def by_aiohttp(url):
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()

def by_urllib(url):
    with urllib.request.urlopen(url) as response:
        return response.status, response.read().decode()

def by(get):
    return lambda url: (lambda response: (response.status_code, response.text))(get(url))

for name, ask in {"urllib.request": by_urllib, "requests": by(requests.get), "httpx": by(httpx.get), "aiohttp": lambda url: asyncio.run(by_aiohttp(url))}.items():
    said = []
    for cut, sent in CUTS.items():
        try:
            said.append(f"{cut}: {ask(serve(sent))}")
        except Exception as error:
            said.append(f"{cut}: {type(error).__name__}")
    print(f"{name:<15}", *said, sep="  ")
PROGRAM
python/bin/python ask.py | tee said
diff said - <<'EXPECTED'
urllib.request   whole: (200, 'yes')  body: IncompleteRead  head: (200, '')
requests         whole: (200, 'yes')  body: ChunkedEncodingError  head: (200, '')
httpx            whole: (200, 'yes')  body: RemoteProtocolError  head: RemoteProtocolError
aiohttp          whole: (200, 'yes')  body: ClientPayloadError  head: ServerDisconnectedError
EXPECTED
