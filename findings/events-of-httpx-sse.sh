#!/usr/bin/env bash
# httpx-sse 0.4.3 (PyPI), and eventsource-parser 4.1.3 (npm) beside it: after an event with an `id`, httpx-sse gives an
# event with empty data for each block that has none, such as the comment of a server that keeps the connection open.
# One would guess that such a block gives nothing, as in browsers and in eventsource-parser. A client that reads each
# event as JSON fails at the first comment, and only where the server numbers its events.
#
# Output:
#   httpx-sse, with id         "first" "" "" "second"
#   httpx-sse, without id      "first" "second"
#   eventsource-parser         "first" "second"
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q httpx==0.28.1 httpx-sse==0.4.3
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts eventsource-parser@4.1.3
printf 'id: 1\ndata: first\n\n: waiting\n\n: waiting\n\ndata: second\n\n' >numbered
sed 1d numbered >plain
cat >events.py <<'PROGRAM'
import json, sys, httpx, httpx_sse
for name, file in (("with id", "numbered"), ("without id", "plain")):
    body = open(file, "rb").read()
    answer = lambda _: httpx.Response(200, content=body, headers={"content-type": "text/event-stream"})
    with httpx_sse.connect_sse(httpx.Client(transport=httpx.MockTransport(answer)), "GET", "http://server/") as source:
        said = " ".join(json.dumps(event.data) for event in source.iter_sse())
    print(f"{'httpx-sse, ' + name:<26} {said}")
PROGRAM
cat >events.mjs <<'PROGRAM'
import { readFileSync } from "node:fs";
import { createParser } from "eventsource-parser";
const said = [];
createParser({ onEvent: (event) => said.push(JSON.stringify(event.data)) }).feed(readFileSync("numbered", "utf8"));
console.log(`eventsource-parser         ${said.join(" ")}`);
PROGRAM
{ python/bin/python events.py; node events.mjs; } | tee said
diff said - <<'EXPECTED'
httpx-sse, with id         "first" "" "" "second"
httpx-sse, without id      "first" "second"
eventsource-parser         "first" "second"
EXPECTED
