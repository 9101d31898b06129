// The stream of events against servers that misbehave.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Askbridge } from "../dist/index.js";
import { begin, event, play, record, snapshot } from "./played.js";
import { until } from "./server.js";

test("no response but a refusal ends listening", async t => {
  const responses = [
    ["an HTML page", response => response.end("<p>Sign in\n\n")],
    ["another one", response => response.end("<p>Sign in\n\n")],
    ["503", response => response.writeHead(503).end()],
    ["429", response => response.writeHead(429).end()],
    ["a stream", response => begin(response).end(snapshot())],
    ["404 of a proxy", response => response.writeHead(404).end()],
    ["a broken event", response => begin(response).end("event: snapshot\ndata: {\n\n")],
    ["another event", response => begin(response).end(event("of.next.year", { a: 1 }))],
    ["403", response => response.writeHead(403).end()],
  ];
  const times = [];
  const server = await play(t, (_, response) => responses[times.push(performance.now()) - 1][1](response));
  const seen = [];
  const follow = async () => {
    for await (const { type, error } of server.client().events()) seen.push(error ? `${type} ${error.name}` : type);
  };
  await assert.rejects(follow(), { name: "http_403" });
  assert.deepEqual(seen, [
    "offline no_connection", "offline no_connection", "offline unavailable", "offline http_429", "snapshot", "offline no_connection",
    "offline http_404", "offline no_connection", "unknown", "offline no_connection",
  ]);
  const wait = place => times[place] - times[place - 1];
  // What is not askbridge is not asked again and again; the back-off begins anew once askbridge was there.
  assert.ok(wait(2) >= 150 && wait(4) >= 600, times.join());
  assert.ok(wait(5) < wait(4), times.join());
});

test("the stream continues where it was, and waits as long as the server says", async t => {
  const places = [];
  const times = [];
  const server = await play(t, (request, response) => {
    times.push(performance.now());
    places.push(request.headers["last-event-id"]);
    begin(response).write(`retry: 300\n\n${snapshot([], `e-${places.length}`)}`);
    if (places.length < 3) response.end();
  });
  const abort = new AbortController();
  const ends = server.client().events({ signal: abort.signal });
  while (places.length < 3) await ends.next();
  abort.abort();
  assert.deepEqual(places, [undefined, "e-1", "e-2"]);
  assert.ok(times[2] - times[1] >= 295, `${times[2] - times[1]} ms`);
});

test("a connection on which nothing comes is made again", async t => {
  let connections = 0;
  const server = await play(t, (_, response) => {
    connections++;
    begin(response).write(snapshot());
  });
  t.after(() => mock.timers.reset());
  mock.timers.enable({ apis: ["setTimeout"] });
  const events = server.client().events();
  assert.equal((await events.next()).value.type, "snapshot");
  mock.timers.tick(44_000);
  assert.equal(connections, 1);
  mock.timers.tick(1_000);
  const { type, error } = (await events.next()).value;
  assert.deepEqual([type, error.name, error.cause.name], ["offline", "no_connection", "TimeoutError"]);
  const next = events.next();
  // The back-off begins once the event was told.
  await new Promise(resolve => setImmediate(resolve));
  mock.timers.tick(200);
  assert.equal((await next).value.type, "snapshot");
  assert.equal(connections, 2);
  await events.return();
});

test("what ended meanwhile is looked up a few at a time", async t => {
  const MANY = 300;
  const ids = Array.from({ length: MANY }, (_, number) => `a-${number}`);
  let connections = 0;
  let lookups = 0;
  let most = 0;
  const server = await play(t, (request, response) => {
    if (request.url === "/v1/events") {
      if (connections++) return begin(response).write(snapshot([], "f-0"));
      return begin(response).end(ids.map(id => event("question.requested", { question: record(id) })).join("") + snapshot(ids));
    }
    most = Math.max(most, ++lookups);
    setImmediate(() => {
      lookups--;
      const id = request.url.split("/").at(-1);
      response.end(JSON.stringify(record(id, { settlement: { outcome: { status: "answered", values: {} } } })));
    });
  });
  const ended = [];
  const stop = server.client().onResolved(({ question }) => ended.push(question.id));
  await until("ends", () => ended.length >= MANY, () => ended.length);
  stop();
  assert.deepEqual(ended.sort(), ids.sort());
  assert.ok(most > 1 && most <= 8, `${most} at once`);
});

test("a question that was lost meanwhile is over at once", async t => {
  let connections = 0;
  let lookups = 0;
  const server = await play(t, ({ url }, response) => {
    if (url === "/v1/events") {
      const first = event("question.requested", { question: record("a-1") }) + snapshot(["a-1"]);
      return connections++ ? begin(response).write(snapshot([], "f-0")) : begin(response).end(first);
    }
    lookups++;
    response.end(JSON.stringify(record("a-1", { state: "lost" })));
  });
  const ended = await new Promise(resolve => {
    const stop = server.client().onResolved(resolution => (stop(), resolve(resolution)));
  });
  assert.deepEqual([ended.question.id, ended.outcome, lookups], ["a-1", { status: "unknown" }, 1]);
});

test("a snapshot has the questions that were told, and no other", async t => {
  // The server leaves out what was settled before it was written, and then tells its end.
  const server = await play(t, (_, response) => {
    begin(response).write(event("question.requested", { question: record("a-1") }) + snapshot(["a-1", "a-2"]));
  });
  for await (const { type, open } of server.client().events()) {
    if (type !== "snapshot") continue;
    assert.deepEqual(open, ["a-1"]);
    break;
  }
});

test("one look-up waits for a question that is not in the stream, however often the stream begins", async t => {
  const outcome = { status: "answered", values: {} };
  let connections = 0;
  let lookups = 0;
  const server = await play(t, ({ url }, response) => {
    if (url === "/v1/events") return connections++ < 3 ? begin(response).end(snapshot([], `e-${connections}`)) : begin(response).write(snapshot());
    lookups++;
    // It is open until the stream has begun often.
    response.end(JSON.stringify(record("a-1", connections > 3 ? { settlement: { outcome } } : {})));
  });
  assert.deepEqual(await server.client().waitFor("a-1"), outcome);
  assert.ok(lookups <= 3, `${lookups} look-ups`);
});

test("a question of a machine that is not connected is waited for", async t => {
  // A call is repeated for 25 s: with this clock, it is over after the first attempt.
  let now = Date.now();
  t.mock.method(Date, "now", () => (now += 30_000));
  const outcome = { status: "answered", values: {} };
  let lookups = 0;
  const server = await play(t, ({ url }, response) => {
    if (url === "/v1/events") return begin(response).write(snapshot());
    if (++lookups > 2) return response.end(JSON.stringify(record("box/a-1", { settlement: { outcome } })));
    response.writeHead(503).end(JSON.stringify({ status: 503, title: "Service Unavailable", name: "unreached" }));
  });
  assert.deepEqual(await server.client().waitFor("box/a-1"), outcome);
});

test("what is aborted before it begins reaches no server", async t => {
  let requests = 0;
  const server = await play(t, (_, response) => (requests++, response.end("{}")));
  const inbox = server.client();
  const signal = AbortSignal.abort(new Error("enough"));
  inbox.onQuestion(() => assert.fail("a question"), { signal });
  const calls = [inbox.questions({ signal }), inbox.waitFor("a-1", { signal }), inbox.ask({ fields: [] }, { signal }), inbox.events({ signal }).next()];
  for (const call of calls) await assert.rejects(call, /enough/);
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(requests, 0);
});

test("events end with their signal, whether the next one is asked for or not", async t => {
  let open = 0;
  const server = await play(t, (request, response) => {
    open++;
    response.on("close", () => open--);
    begin(response).write(snapshot());
  });
  for (const reason of [undefined, null, new Error("enough")]) {
    const asking = new AbortController();
    const events = server.client().events({ signal: asking.signal });
    await events.next();
    const next = events.next();
    asking.abort(reason);
    await assert.rejects(next, error => error === asking.signal.reason);

    const idle = new AbortController();
    const left = server.client().events({ signal: idle.signal });
    await left.next();
    idle.abort(reason);
    await until("end of the connections", () => open === 0, () => open);
  }
});

test("a wrong address is an error at once", () => {
  for (const url of ["127.0.0.1:8421", "localhost:8421", ""]) assert.throws(() => new Askbridge({ url, token: "t" }), TypeError, url);
});

test("a signal ends the search for the server, too", async () => {
  const inbox = new Askbridge(() => new Promise(() => {}));
  const abort = new AbortController();
  const asked = [
    inbox.questions({ signal: abort.signal }),
    inbox.waitFor("a-1", { signal: abort.signal }),
    inbox.replyQuestion("a-1", {}, { signal: abort.signal }),
    inbox.ask({ fields: [] }, { signal: abort.signal }),
  ];
  const ends = Promise.all(asked.map(one => assert.rejects(one, /enough/)));
  abort.abort(new Error("enough"));
  await ends;
});

test("a decision whose fate cannot be found out is unconfirmed", { timeout: 60_000 }, async t => {
  // The token is refused once the first reply was lost: nothing can be looked up any more.
  let replies = 0;
  const server = await play(t, (request, response) => {
    if (!request.url.endsWith("/reply")) return response.writeHead(401).end();
    if (replies++) return response.writeHead(404).end("{}");
    request.socket.destroy();
  });
  await assert.rejects(server.client().replyQuestion("a-1", { q0: "a" }), ({ name, wasSent, cause }) => {
    assert.deepEqual([name, wasSent, cause.status], ["unconfirmed", true, 401]);
    return true;
  });
});

test("a server that waits with spaces is understood", async t => {
  const server = await play(t, (_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" }).write(" ");
    setImmediate(() => (response.write("  "), response.end('{"at":"","by":{},"outcome":{"status":"answered","values":{"a":1}}}')));
  });
  assert.deepEqual(await server.client().ask({ fields: [] }), { values: { a: 1 } });
});
