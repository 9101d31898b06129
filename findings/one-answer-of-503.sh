#!/usr/bin/env bash
# eventsource 5.1.5 (npm): a client of an event stream whose server goes away. While nobody listens it tries again, as
# often as it takes; one answer of 503, which a proxy gives while its server starts, ends it for good: the state is
# closed, and it tries no more when the server is back. One would guess that "come back later" is tried again sooner
# than a refused connection. A client that learns of questions by such a stream goes deaf at the restart of a server
# behind a proxy, and its `onerror` looks the same in both cases.
#
# Output:
#   nobody listens: error, state 0; the server is back: event 2
#   503: error, state 2; the server is back: nothing
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts eventsource@5.1.5
cat >listen.mjs <<'PROGRAM'
import { createServer } from "node:http";
import { EventSource } from "eventsource";
let status = 200;
let streams = 0;
const start = (port) =>
  new Promise((resolve) => {
    const server = createServer((_, response) => {
      response.writeHead(status, { "content-type": "text/event-stream" });
      if (status === 200) response.write(`retry: 100\n\ndata: ${++streams}\n\n`);
      else response.end();
    });
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
const stop = async (server) => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
};
let server = await start(0);
const { port } = server.address();
const source = new EventSource(`http://127.0.0.1:${port}/`);
const next = (kind, seconds) =>
  Promise.race([
    new Promise((resolve) => source.addEventListener(kind, resolve, { once: true })),
    new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
  ]);
const events = async (seconds) => {
  const event = await next("message", seconds);
  return event ? `event ${event.data}` : "nothing";
};
await next("message", 20);
await stop(server);
await next("error", 20);
await next("error", 20);
const refused = `error, state ${source.readyState}`;
server = await start(port);
console.log(`nobody listens: ${refused}; the server is back: ${await events(20)}`);
status = 503;
server.closeAllConnections();
await next("error", 20);
await next("error", 20);
const unavailable = `error, state ${source.readyState}`;
status = 200;
console.log(`503: ${unavailable}; the server is back: ${await events(3)}`);
process.exit();
PROGRAM
node listen.mjs | tee said
diff said - <<'EXPECTED'
nobody listens: error, state 0; the server is back: event 2
503: error, state 2; the server is back: nothing
EXPECTED
