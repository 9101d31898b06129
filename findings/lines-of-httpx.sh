#!/usr/bin/env bash
# httpx 0.28.1 and httpx-sse 0.4.3 (PyPI): `Response.iter_lines` ends a line at U+0085, U+2028 and U+2029 as well, like
# `str.splitlines`, and unlike iterating over a text file. An event whose data has one of them is torn. httpx-sse reads the
# lines of an event stream itself, and keeps it whole.
#
# Output:
#   text file  1 line
#   httpx      4 lines
#   httpx-sse  1 line
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q httpx==0.28.1 httpx-sse==0.4.3
cat >lines.py <<'PROGRAM'
import io, httpx, httpx_sse
data = "data: a\x85b\u2028c\u2029d\n\n".encode()
headers = {"content-type": "text/event-stream; charset=utf-8"}
client = httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, content=data, headers=headers)))
counts = {"text file": sum(1 for line in io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") if line.strip())}
with client.stream("GET", "http://server/") as response:
    counts["httpx"] = sum(1 for line in response.iter_lines() if line)
with httpx_sse.connect_sse(client, "GET", "http://server/") as source:
    counts["httpx-sse"] = sum(len(event.data.split("\n")) for event in source.iter_sse())
for name, count in counts.items():
    print(f"{name:<10} {count} line{'s' if count > 1 else ''}")
assert counts == {"text file": 1, "httpx": 4, "httpx-sse": 1}
PROGRAM
python/bin/python lines.py
