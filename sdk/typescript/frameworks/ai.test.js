// The adapter for the npm package `ai`, against the real one and a real inbox.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";

import { Approvals } from "@askbridge/client/ai";
import { Askbridge } from "@askbridge/client";
import { generateText, simulateReadableStream, stepCountIs, streamText, tool, ToolLoopAgent } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

import { Machine, until } from "./machine.js";

const machine = new Machine();
let inbox;
before(async () => {
  await machine.start();
  inbox = new Askbridge({ url: machine.url, token: machine.token });
});
after(() => machine.end());

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

/** A model that makes some calls, and then says what came of them. */
function stub(...orders) {
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const results = prompt.filter(({ role }) => role === "tool").flatMap(({ content }) => content);
      const said = results.map(({ output }) => output?.value ?? output?.reason).filter(Boolean);
      const calls = orders.map((order, place) => (
        { type: "tool-call", toolCallId: `call-${place}`, toolName: "refund", input: JSON.stringify({ order }) }
      ));
      const content = said.length ? [{ type: "text", text: said.join(" | ") }] : calls;
      return { content, finishReason: { unified: said.length ? "stop" : "tool-calls" }, usage, warnings: [] };
    },
  });
}

/** A conversation, with what ran. */
function shop(conversation, ...orders) {
  const ran = [];
  const approvals = new Approvals(inbox, { conversation, agent: "shop" });
  const refund = tool({
    inputSchema: z.object({ order: z.number() }),
    needsApproval: ({ order }) => order > 5,
    execute: ({ order }) => (ran.push(order), `refunded ${order}`),
  });
  const tools = approvals.guard({ refund });
  const model = stub(...orders);
  const messages = [{ role: "user", content: "Refund them" }];
  const step = async () => {
    const { text, response } = await generateText({ model, tools, messages });
    messages.push(...response.messages);
    return text;
  };
  return { approvals, messages, model, ran, step, tools };
}

/** Runs a conversation to its end. */
async function run({ approvals, messages, step }) {
  for (let text = await step(); ; text = await step()) {
    const answers = await approvals.answer(messages);
    if (!answers) return text;
    messages.push(answers);
  }
}

/** Decides each permission once. */
function person(decide) {
  const asked = [];
  const stop = inbox.onPermission(permission => {
    asked.push(permission);
    return decide(permission);
  });
  return { asked, stop };
}

const orderOf = ({ record }) => record.question.action.request.arguments.order;

test("an approved tool runs", async () => {
  const { asked, stop } = person(permission => permission.allow({ dangerous: true }));
  const conversation = shop("allowed", 7);
  assert.equal(await run(conversation), "refunded 7");
  assert.deepEqual(conversation.ran, [7]);
  assert.deepEqual(asked.map(({ agent, record }) => [agent, record.question.sessionId]), [["shop", "allowed"]]);
  stop();
});

test("the model hears why a call was rejected", async () => {
  const { stop } = person(permission => permission.reject("it was sent yesterday"));
  const conversation = shop("rejected", 7);
  assert.equal(await run(conversation), "The user rejected this tool call: it was sent yesterday");
  assert.deepEqual(conversation.ran, []);
  stop();
});

test("calls of one step are open at once, and those that need no approval are not asked for", async () => {
  const open = [];
  const { stop } = person(permission => {
    open.push(permission);
    if (open.length < 2) return;
    return Promise.all(open.map(one => (orderOf(one) === 7 ? one.reject("no") : one.allow({ dangerous: true }))));
  });
  const conversation = shop("both", 7, 8, 3);
  await run(conversation);
  assert.deepEqual(conversation.ran.sort(), [3, 8]);
  stop();
});

test("an agent, and a stream", async () => {
  const { stop } = person(permission => permission.allow({ dangerous: true }));
  const agent = shop("agent", 7);
  const loop = new ToolLoopAgent({ model: agent.model, tools: agent.tools, stopWhen: stepCountIs(3) });
  agent.step = async () => {
    const { text, response } = await loop.generate({ messages: agent.messages });
    agent.messages.push(...response.messages);
    return text;
  };
  assert.equal(await run(agent), "refunded 7");
  const stream = shop("stream", 7);
  stream.model.doStream = async given => {
    const { content, finishReason } = await stream.model.doGenerate(given);
    const chunks = content.flatMap(part => (
      part.type === "text" ? ["start", "delta", "end"].map(name => ({ type: `text-${name}`, id: "1", delta: part.text })) : [part]
    ));
    return { stream: simulateReadableStream({ chunks: [...chunks, { type: "finish", finishReason, usage }] }) };
  };
  stream.step = async () => {
    const result = streamText({ model: stream.model, tools: stream.tools, messages: stream.messages });
    const text = await result.text;
    stream.messages.push(...(await result.response).messages);
    return text;
  };
  assert.equal(await run(stream), "refunded 7");
  assert.deepEqual([agent.ran, stream.ran], [[7], [7]]);
  stop();
});

test("what was begun does not run again from the messages that were saved", async () => {
  const { asked, stop } = person(permission => permission.allow({ dangerous: true }));
  const first = shop("saved", 7);
  await first.step();
  const saved = structuredClone(first.messages);
  first.messages.push(await first.approvals.answer(first.messages));
  assert.equal(await first.step(), "refunded 7");
  // Another process with the messages of before.
  const second = shop("saved", 7);
  second.messages.splice(0, 1, ...saved);
  second.messages.push(await second.approvals.answer(second.messages));
  assert.match(await second.step(), /approved and begun before/);
  assert.deepEqual([first.ran, second.ran, asked.length], [[7], [], 1]);
  stop();
});

test("a process that is killed and runs again asks once", async () => {
  const asked = [];
  const stop = inbox.onPermission(permission => asked.push(permission));
  const start = () => {
    const example = new URL("ai.js", import.meta.url).pathname;
    const child = spawn(process.execPath, [example], { cwd: machine.home, env: machine.env });
    child.said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", data => (child.said += data));
    child.ended = once(child, "close").then(([code]) => code);
    return child;
  };
  const first = start();
  await until("permission", () => asked.length === 1 || (first.exitCode !== null && assert.fail(first.said)));
  first.kill("SIGKILL");
  await first.ended;
  await asked[0].allow({ dangerous: true });
  const second = start();
  assert.equal(await second.ended, 0, second.said);
  assert.equal(second.said, "refunded order 7\n");
  assert.equal(asked.length, 1);
  stop();
});
