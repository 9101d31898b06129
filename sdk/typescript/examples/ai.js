// A program of the npm package `ai` that asks before it refunds. Kill it while it waits, and run it again: it goes on where
// it was. Needs ai 6.0.326, zod, and @askbridge/client; decide by `askbridge open`, or `askbridge next`.

import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { Approvals } from "@askbridge/client/ai";
import { Askbridge } from "@askbridge/client/local";
import { generateText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

// It stands in for a model: put a real one in its place.
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const result = prompt.at(-1).role === "tool" && prompt.at(-1).content.at(-1).output;
    const call = { type: "tool-call", toolCallId: "call-1", toolName: "refund", input: '{"order":7}' };
    const content = [result ? { type: "text", text: String(result.value ?? result.reason) } : call];
    return { content, finishReason: { unified: result ? "stop" : "tool-calls" }, usage, warnings: [] };
  },
});

const refund = tool({
  description: "Refunds an order",
  inputSchema: z.object({ order: z.number() }),
  needsApproval: true,
  execute: async ({ order }) => `refunded order ${order}`,
});

const approvals = new Approvals(await Askbridge.local(), { conversation: "order-7", agent: "shop" });
const tools = approvals.guard({ refund });
const file = "ai.messages.json";
const messages = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [{ role: "user", content: "Refund order 7" }];
// What an earlier process waited for is answered first.
let answers = await approvals.answer(messages);
let text;
do {
  if (answers) messages.push(answers);
  const result = await generateText({ model, tools, messages });
  text = result.text;
  messages.push(...result.response.messages);
  writeFileSync(file, JSON.stringify(messages));
  answers = await approvals.answer(messages);
} while (answers);
console.log(text);
