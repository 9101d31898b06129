// The parts that need no server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { Askbridge } from "../dist/index.js";
import { Permission, Question, questionOf } from "../dist/question.js";
import { readOutcome, readRecord } from "../dist/read.js";
import { isDecidedSo } from "../dist/recall.js";
import { EventReader } from "../dist/sse.js";
import { play } from "./played.js";

test("events are read alike, however they are cut", () => {
  const text = ": comment\nevent: a\nid: 1\ndata: x\ndata:y\n\nid: 2\n\ndata: ü\r\n\r\nretry: 70\nretry: x\nid\ndata\n\ndata: never";
  const expected = [{ event: "a", data: "x\ny" }, { event: "message", data: "ü" }, { event: "message", data: "" }];
  for (let size = 1; size <= text.length; size++) {
    const messages = [];
    const ids = [];
    const reader = new EventReader("0", message => (messages.push(message), ids.push(reader.lastId)));
    for (let place = 0; place < text.length; place += size) reader.push(text.slice(place, place + size));
    assert.deepEqual([messages, ids, reader.lastId, reader.retry], [expected, ["1", "2", ""], "", 70], `pieces of ${size}`);
  }
  for (const end of ["\n", "\r\n", "\r"]) {
    const messages = [];
    new EventReader("", message => messages.push(message)).push(`data: a${end}${end}data: b${end}${end}.`);
    assert.deepEqual(messages.map(({ data }) => data), ["a", "b"]);
  }
});

test("what is of another version is unknown, and kept", () => {
  const field = { name: "f", label: "F", kind: "drawing", colours: ["red"] };
  const record = readRecord({ id: "a-1", question: { fields: [field] }, settlement: { outcome: { status: "dreamt", depth: 2 } } });
  assert.deepEqual(record.question.fields, [{ name: "f", label: "F", kind: "unknown", raw: field }]);
  assert.deepEqual(record.settlement.outcome, { status: "unknown", raw: { status: "dreamt", depth: 2 } });
  assert.deepEqual(readOutcome({ status: "failed" }), { status: "failed" });
});

test("a member of another version does not replace a method", () => {
  const question = JSON.parse('{"fields":[{"label":"L"}],"text":"x","reply":1,"options":[],"__proto__":{"a":1},"colour":"red"}');
  const made = questionOf({}, { id: "a-1", question });
  assert.equal(made.text, "L");
  assert.equal(typeof made.reply, "function");
  assert.equal(made.colour, "red");
  assert.ok(made instanceof Question);
  const permission = questionOf({}, { id: "a-1", question: { ...question, purpose: "permission" } });
  assert.ok(permission instanceof Permission);
  assert.equal(permission.record.question.text, "x");
});

test("a decision is recognized by what it means", () => {
  const options = [{ value: "1", label: "One" }, { value: "2", label: "Two" }];
  const fields = [{ name: "a", kind: "choice", options }, { name: "b", kind: "choices", options }, { name: "c", kind: "text", secret: true }];
  const record = (values, responder) => ({ question: { fields }, settlement: { by: { responder }, outcome: { status: "answered", values } } });
  const is = (values, wanted, responder = "http") => isDecidedSo(record(values, responder), { values: wanted });
  assert.ok(is({ a: "1", b: ["1", "2"], c: "(secret)" }, { a: "1", b: ["1", "2"], c: "x" }));
  assert.ok(!is({ c: "(secret)" }, { c: "x" }, "page"));
  assert.ok(!is({ c: "(secret)" }, {}));
  assert.ok(!is({}, { c: "x" }));
  assert.ok(!is({ a: "1" }, { a: "2" }));
  assert.ok(!is({ a: "1", b: ["1"] }, { a: "1" }));
  assert.ok(!is({ a: "1" }, { a: "1", b: ["1"] }));
  const rejected = reason => ({ settlement: { outcome: { status: "rejected", reason } } });
  assert.ok(isDecidedSo(rejected("user"), undefined));
  assert.ok(!isDecidedSo(rejected("timeout"), undefined));
});

test("nothing keeps a process alive that has stopped listening", async () => {
  const server = createServer((_, response) => response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": hello\n\n"));
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  for (const port of [server.address().port, 1]) {
    const code = `
      import { Askbridge } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url))};
      const inbox = new Askbridge({ url: "http://127.0.0.1:${port}", token: "t" });
      const stop = inbox.onQuestion(() => {});
      for await (const event of inbox.events({ signal: AbortSignal.timeout(200) })) ;
      `.replace("for await", "try { for await").concat("} catch {} stop();");
    const { promise, resolve } = withResolvers();
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "inherit" });
    const timer = setTimeout(() => (child.kill("SIGKILL"), resolve("killed")), 10_000);
    child.on("exit", code => (clearTimeout(timer), resolve(code)));
    assert.equal(await promise, 0, `port ${port}`);
  }
  server.closeAllConnections();
  server.close();
});

function withResolvers() {
  let resolve;
  return { promise: new Promise(done => (resolve = done)), resolve };
}

test("a server that does not exist at the address is an error at once", async () => {
  const server = createServer((_, response) => response.writeHead(404).end("nothing here"));
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const inbox = new Askbridge({ url: `http://127.0.0.1:${server.address().port}`, token: "t" });
  await assert.rejects(inbox.questions(), { name: "http_404", status: 404 });
  const error = await new Promise(resolve => inbox.onQuestion(() => {}, { onError: resolve }));
  assert.equal(error.status, 404);
  server.close();
});

test("a decision in a person's name is sent again where the same by REST would be, and its refusals have the same statuses", async t => {
  const replies = [];
  const { client } = await play(t, (_, response) => response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, ...replies.shift() })));
  const error = (code, name, more) => ({ error: { code, message: name, data: { name, ...more } } });
  replies.push(error(408, "unknown"), error(504, "unreached"), error(503, "unavailable"), { result: {} });
  await client().replyQuestion("a-1", { q0: "a" }, { by: "Ben in a chat" });
  assert.deepEqual(replies, []);
  for (const [code, name, status] of [[428, "changed", 409], [422, "does_not_fit", 422], [403, "own_agent", 403], [-32602, "rpc_-32602", 400]]) {
    replies.push(error(code, code < 0 ? undefined : name));
    await assert.rejects(client().rejectQuestion("a-1", "no", { by: "Ben in a chat" }), { name, status });
  }
});

test("the version is that of the program", () => {
  const read = path => readFileSync(new URL(path, import.meta.url), "utf8");
  const { version } = JSON.parse(read("../package.json"));
  assert.equal(version, /^version = "(.*)"$/m.exec(read("../../../Cargo.toml"))[1]);
});

test("the library is at most 8,800 bytes", () => {
  const dist = new URL("../dist/", import.meta.url);
  // An adapter is an entry of its own, which others do not load.
  const code = readdirSync(dist).filter(name => name.endsWith(".js") && name !== "ai.js").map(name => readFileSync(new URL(name, dist)));
  const size = gzipSync(Buffer.concat(code), { level: 9 }).length;
  console.log(`${size} bytes`);
  assert.ok(size <= 8800, `${size} bytes`);
});
