// A server that is not what it should be: it leads elsewhere, or what it sends has no end.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Askbridge } from "../dist/index.js";

/** Serves until the test ends, and counts the requests. */
async function serve(t, answer) {
  const served = { requests: [] };
  const server = createServer((request, response) => {
    served.requests.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => (server.closeAllConnections(), server.close()));
  served.url = `http://127.0.0.1:${server.address().port}`;
  served.inbox = new Askbridge({ url: served.url, token: "t" });
  return served;
}

/** Sends a head, and the same piece again and again for as long as the client reads, but no more than 256 MiB. */
function pour(response, head, piece) {
  let left = 256 * 1024 * 1024;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= piece.length;
      if (!response.write(piece)) return response.once("drain", more);
    }
  };
  response.write(head);
  more();
}

/** Returns the first event of this type. */
async function first(inbox, type) {
  const stop = new AbortController();
  for await (const event of inbox.events({ signal: stop.signal })) if (event.type === type) return event;
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`nothing follows a redirection with status ${status}`, async t => {
    const other = await serve(t, (_, response) => response.writeHead(204).end());
    const { inbox, requests } = await serve(t, (request, response) => {
      request.resume();
      response.writeHead(status, { Location: `${other.url}${request.url}` }).end();
    });
    const calls = [
      () => inbox.replyQuestion("a-1", { q0: "secret" }),
      () => inbox.rejectQuestion("a-1", "secret"),
      () => inbox.extendQuestion("a-1", 1_000),
      () => inbox.postponeQuestion("a-1", 1_000),
      () => inbox.ask({ fields: [{ name: "a", label: "A", kind: "text" }] }),
      () => inbox.question("a-1"),
      () => inbox.questions(),
      () => inbox.waitFor("a-1"),
      () => first(inbox, "snapshot"),
    ];
    for (const call of calls) await assert.rejects(call(), { name: "redirected", status });
    assert.equal(requests.length, calls.length);
    assert.deepEqual(other.requests, []);
  });
}

test("a server that asks for a time that no timer has is not asked again at once", async t => {
  for (const retry of ["99999999999999", "2147483648", "9".repeat(400)]) {
    const { inbox, requests } = await serve(t, (_, response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`retry: ${retry}\n\n`);
    });
    const stop = inbox.onQuestion(() => {});
    await sleep(500);
    stop();
    assert.equal(requests.length, 1, retry);
  }
});

for (const [what, head, piece] of [
  ["a line", "data: ", "x".repeat(65_536)],
  ["lines of data", "", `data: ${"x".repeat(65_536)}\n`],
  ["short lines of data", "", "data\n".repeat(10_000)],
  ["a line of a name that means nothing", "x", "x".repeat(65_536)],
]) {
  test(`an event of ${what} without an end is given up`, async t => {
    const { inbox } = await serve(t, (_, response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      pour(response, head, piece);
    });
    const { error } = await first(inbox, "offline");
    assert.equal(error.name, "too_large");
    assert.match(error.message, /more than 8388608 characters/);
  });
}

test("a response without an end is given up", async t => {
  const { inbox, requests } = await serve(t, (_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    pour(response, '{"questions":["', "x".repeat(65_536));
  });
  await assert.rejects(inbox.questions(), { name: "too_large", message: /more than 67108864 characters/ });
  assert.deepEqual(requests, ["GET /v1/questions"], "once");
});

test("an error whose text has no end is an error", async t => {
  const { inbox } = await serve(t, (_, response) => {
    response.writeHead(400, { "Content-Type": "application/json" });
    pour(response, '{"name":"', "x".repeat(65_536));
  });
  await assert.rejects(inbox.replyQuestion("a-1", {}), { name: "http_400", status: 400 });
});
