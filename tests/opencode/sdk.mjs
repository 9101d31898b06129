// Plays an opencode client: hears of a question, lists it, answers or rejects it, and hears that it is over.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createOpencodeClient } from "@opencode-ai/sdk/v2/client";

const [askbridge, baseUrl, tokenFile] = process.argv.slice(2);
const token = readFileSync(tokenFile, "utf8").trim();

function bridge() {
  const args = ["run", "--client-questions", "none", "--", askbridge, "mock-agent"];
  const child = spawn(askbridge, args, { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  const said = new Promise((resolve) =>
    child.stdout.on("data", (data) => {
      text += data;
      const words = text.match(/You chose: [a-z-]+|rejected[^"]*/i);
      if (words) resolve(words[0]);
    }),
  );
  const send = (id, method, params) =>
    child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  send(0, "initialize", { protocolVersion: 1 });
  send(1, "session/new", { cwd: "/", mcpServers: [] });
  send(2, "session/prompt", { sessionId: "session-1", prompt: [{ type: "text", text: "question" }] });
  return { said, end: () => child.stdin.end() };
}

// The token is shown in both ways that clients of opencode know.
const ways = [`Bearer ${token}`, `Basic ${Buffer.from(`opencode:${token}`).toString("base64")}`];
for (const [index, Authorization] of ways.entries()) {
  const client = createOpencodeClient({ baseUrl, directory: "/work", headers: { Authorization } });
  const { stream } = await client.event.subscribe();
  const next = async () => (await stream.next()).value;
  assert.equal((await next()).type, "server.connected");
  const run = bridge();
  const asked = await next();
  assert.equal(asked.type, "question.asked");
  assert.equal(asked.properties.sessionID, "session-1");
  const { data: listed } = await client.question.list();
  assert.deepEqual(listed, [asked.properties]);
  const requestID = asked.properties.id;
  const label = listed[0].questions[0].options[1].label;
  const done = index === 0
    ? await client.question.reply({ requestID, answers: [[label]] })
    : await client.question.reject({ requestID });
  assert.equal(done.data, true, JSON.stringify(done.error));
  const over = await next();
  assert.equal(over.properties.requestID, requestID);
  if (index === 0) {
    assert.equal(over.type, "question.replied");
    assert.deepEqual(over.properties.answers, [[label]]);
    assert.equal(await run.said, "You chose: option-b");
    const late = await client.question.reply({ requestID, answers: [["Option A"]] });
    assert.equal(late.response.status, 409);
  } else {
    assert.equal(over.type, "question.rejected");
    console.log("the agent, on a rejection:", await run.said);
  }
  assert.deepEqual((await client.question.list()).data, []);
  const unknown = await client.question.reject({ requestID: "que_none" });
  assert.equal(unknown.response.status, 404);
  await stream.return();
  run.end();
}
const stranger = await createOpencodeClient({ baseUrl }).question.list();
assert.equal(stranger.response.status, 401);
console.log("opencode's SDK answers and rejects");
process.exit(0);
