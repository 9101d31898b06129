// The time and memory that the library takes. The questions are of a server that plays an inbox, so that only the library is
// measured.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { test } from "node:test";

import { Askbridge } from "../dist/index.js";

const MANY = 10_000;

test(`${MANY} open questions take at most 1 s of a processor and 60 MiB`, async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const open = [];
    for (let number = 0; number < MANY; number++) {
      const id = `k3f9q2-${number}`;
      const options = ["a", "b", "c"].map(value => ({ value, label: `Option ${value}`, description: "What it leads to, in a sentence." }));
      const fields = [{ name: "q0", label: `Question ${number}?`, required: true, kind: "choice", options, other: false }];
      const question = { agent: "agent", project: "/src/shop", sessionId: "session-1", questionId: id, message: "", fields, purpose: "question", origin: "claude", dangerous: false, risk: "plain", blocking: true };
      const record = { id, bridge: "k3f9q2", state: "open", question, openedAt: "2026-01-01T00:00:00Z", expiring: false, elsewhere: true };
      open.push(id);
      response.write(`event: question.requested\ndata: ${JSON.stringify({ questionId: id, prompt: fields[0].label, options: [], response: null, status: "requested", question: record })}\n\n`);
    }
    response.write(`event: snapshot\nid: e-1\ndata: ${JSON.stringify({ protocol: 1, revision: 1, open })}\n\n`);
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const code = `
    import { Askbridge } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url))};
    await fetch("http://127.0.0.1:1").catch(() => {});
    gc();
    const before = process.memoryUsage().rss, start = performance.now(), used = process.cpuUsage();
    const inbox = new Askbridge({ url: "http://127.0.0.1:${server.address().port}", token: "t" });
    let count = 0;
    const stop = inbox.onQuestion(() => count++);
    for await (const event of inbox.events()) if (event.type === "snapshot") break;
    const milliseconds = performance.now() - start;
    const { user, system } = process.cpuUsage(used);
    const { rss } = process.memoryUsage();
    gc();
    const MiB = bytes => Math.round(bytes / 2 ** 20);
    console.log(JSON.stringify({ count, milliseconds: Math.round(milliseconds), cpu: Math.round((user + system) / 1000), grown: MiB(rss - before), rss: MiB(rss), kept: MiB(process.memoryUsage().heapUsed) }));
    stop();`;
  // With a small heap: how much of a larger one is in use depends on how busy the machine is.
  const flags = ["--expose-gc", "--max-old-space-size=40", "--max-semi-space-size=2"];
  const child = spawn(process.execPath, [...flags, "--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", data => (said += data));
  await new Promise(resolve => child.on("close", resolve));
  server.closeAllConnections();
  server.close();
  const figures = JSON.parse(said);
  console.log(said.trim());
  assert.equal(figures.count, MANY);
  assert.ok(figures.cpu <= 1_000 && figures.grown <= 60, said);
});

test("an event is with its listener within 5 ms", async () => {
  let stream;
  const server = createServer((_, response) => {
    stream = response.writeHead(200, { "Content-Type": "text/event-stream" });
    stream.write(`event: snapshot\nid: e-0\ndata: {"protocol":1,"revision":0,"open":[]}\n\n`);
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const inbox = new Askbridge({ url: `http://127.0.0.1:${server.address().port}`, token: "t" });
  const abort = new AbortController();
  const { signal } = abort;
  const times = [];
  let sent;
  let heard;
  inbox.onQuestion(() => (times.push(performance.now() - sent), heard()), { signal });
  for await (const event of inbox.events()) if (event.type === "snapshot") break;
  for (let number = 1; number <= 200; number++) {
    const record = { id: `k3f9q2-${number}`, question: { fields: [] } };
    const next = new Promise((resolve, reject) => {
      heard = resolve;
      setTimeout(() => reject(new Error(`question ${number} was not heard`)), 10_000).unref();
    });
    sent = performance.now();
    stream.write(`event: question.requested\nid: e-${number}\ndata: ${JSON.stringify({ question: record })}\n\n`);
    await next;
  }
  abort.abort();
  server.closeAllConnections();
  server.close();
  times.sort((a, b) => a - b);
  console.log(`from the event to the listener: ${times[100].toFixed(2)} ms in the middle, ${times[189].toFixed(2)} ms of 95 %`);
  assert.ok(times[100] <= 5, `${times[100]} ms`);
});
