// Plays opencode clients of its current API and of its first one: they hear of a permission, list it, allow or reject
// it, and hear that it is over.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createOpencodeClient as createFirst } from "@opencode-ai/sdk/client";
import { createOpencodeClient } from "@opencode-ai/sdk/v2/client";

const [askbridge, baseUrl, tokenFile, agent] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
const client = createOpencodeClient({ baseUrl, directory: "/work", headers });
const first = createFirst({ baseUrl, directory: "/work", headers });

// A client of ACP that never answers, and its agent. The agent asks with these options.
function bridge(options) {
  const child = spawn(askbridge, ["run", "--", process.execPath, agent], { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  const told = new Promise((resolve) =>
    child.stdout.on("data", (data) => {
      text += data;
      const words = text.match(/"told: ([^"]*)"/);
      if (words) resolve(words[1].trim());
    }),
  );
  const send = (id, method, params) =>
    child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  send(0, "initialize", { protocolVersion: 1 });
  send(1, "session/new", { cwd: "/", mcpServers: [] });
  send(2, "session/prompt", { sessionId: "session-1", prompt: [{ type: "text", text: options }] });
  return { told, end: () => child.stdin.end() };
}

async function listen(subscribed, wanted) {
  const { stream } = await subscribed;
  const next = async () => {
    for (;;) {
      const { value } = await stream.next();
      if (wanted.includes(value.type)) return value;
    }
  };
  assert.equal((await stream.next()).value.type, "server.connected");
  return { next, end: () => stream.return() };
}

const all = "always once no";
for (const [options, reply, message, told] of [
  [all, "once", undefined, "once"],
  [all, "always", undefined, "always"],
  [all, "reject", "not on a Friday", "no not on a Friday"],
]) {
  const events = await listen(client.event.subscribe(), ["permission.asked", "permission.replied"]);
  const run = bridge(options);
  const { properties: asked } = await events.next();
  assert.equal(asked.sessionID, "session-1");
  assert.deepEqual([asked.permission, asked.patterns, asked.always], ["bash", ["make"], ["always"]]);
  assert.deepEqual((await client.permission.list()).data, [asked]);
  assert.deepEqual((await client.question.list()).data, []);
  const requestID = asked.id;
  const done = await client.permission.reply({ requestID, reply, message });
  assert.equal(done.data, true, JSON.stringify(done.error));
  const over = await events.next();
  assert.equal(over.type, "permission.replied");
  assert.deepEqual([over.properties.requestID, over.properties.reply], [requestID, reply]);
  assert.equal(await run.told, told);
  assert.deepEqual((await client.permission.list()).data, []);
  const late = await client.permission.reply({ requestID, reply: reply === "once" ? "always" : "once" });
  assert.equal(late.response.status, 409);
  run.end();
  await events.end();
}

// What cannot be meant is refused, and the permission stays open.
for (const [options, reply] of [["once no", "always"], ["once step no", "once"]]) {
  const events = await listen(client.event.subscribe(), ["permission.asked"]);
  const run = bridge(options);
  const requestID = (await events.next()).properties.id;
  const refused = await client.permission.reply({ requestID, reply });
  assert.equal(refused.response.status, 422);
  console.log("refused:", refused.error.detail ?? JSON.stringify(refused.error));
  const done = await client.permission.respond({ sessionID: "session-1", permissionID: requestID, response: "reject" });
  assert.equal(done.data, true, JSON.stringify(done.error));
  assert.equal(await run.told, "no");
  run.end();
  await events.end();
}

for (const response of ["once", "reject"]) {
  const events = await listen(first.event.subscribe(), ["permission.updated", "permission.replied"]);
  const run = bridge(all);
  const { properties: asked } = await events.next();
  assert.deepEqual([asked.type, asked.title, asked.callID], ["bash", "`make`", "call-1"]);
  const path = { id: asked.sessionID, permissionID: asked.id };
  const done = await first.postSessionIdPermissionsPermissionId({ path, body: { response } });
  assert.equal(done.data, true, JSON.stringify(done.error));
  const { properties: over } = await events.next();
  assert.deepEqual([over.permissionID, over.response], [asked.id, response]);
  assert.equal(await run.told, response === "once" ? "once" : "no");
  run.end();
  await events.end();
}
const unknown = await client.permission.reply({ requestID: "per_none", reply: "once" });
assert.equal(unknown.response.status, 404);
console.log("opencode's SDK allows and rejects permissions");
process.exit(0);
