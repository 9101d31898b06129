#!/usr/bin/env bash
# ai 7.0.173 (npm): a tool call that needs approval gets two answers that contradict each other. In one message, the
# first of them counts; in two messages, one after the other, the last. One would guess one rule for both, or an error.
# A client that collects the answers of two windows decides by how it packs them whether the tool runs.
#
# Output:
#   one message: yes, no     the tool ran
#   one message: no, yes     the tool did not run
#   two messages: yes, no    the tool did not run
#   two messages: no, yes    the tool ran
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts ai@7.0.173 zod@4.6.7
cat >approve.mjs <<'PROGRAM'
import { generateText, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import * as z from "zod";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
async function ran(answers) {
  let calls = 0;
  let ran = false;
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      const call = { type: "tool-call", toolCallId: "1", toolName: "print", input: '{"page":1}' };
      const asks = calls++ === 0;
      const finishReason = { unified: asks ? "tool-calls" : "stop", raw: undefined };
      return { content: [asks ? call : { type: "text", text: "Good." }], finishReason, usage, warnings: [] };
    },
  });
  const print = tool({
    description: "Prints a page",
    inputSchema: z.object({ page: z.number() }),
    needsApproval: true,
    execute: async () => {
      ran = true;
      return "done";
    },
  });
  const messages = [{ role: "user", content: "Print page 1." }];
  const { content, response } = await generateText({ model, tools: { print }, messages });
  const { approvalId } = content.find(({ type }) => type === "tool-approval-request");
  messages.push(...response.messages, ...answers(approvalId));
  await generateText({ model, tools: { print }, messages });
  return ran ? "the tool ran" : "the tool did not run";
}
const answer = (approvalId, approved) => ({ type: "tool-approval-response", approvalId, approved });
for (const [first, second] of [[true, false], [false, true]]) {
  const said = await ran((id) => [{ role: "tool", content: [answer(id, first), answer(id, second)] }]);
  console.log(`one message: ${first ? "yes, no " : "no, yes "}    ${said}`);
}
for (const [first, second] of [[true, false], [false, true]]) {
  const said = await ran((id) => [first, second].map((one) => ({ role: "tool", content: [answer(id, one)] })));
  console.log(`two messages: ${first ? "yes, no " : "no, yes "}   ${said}`);
}
PROGRAM
node approve.mjs 2>/dev/null | tee said
diff said - <<'EXPECTED'
one message: yes, no     the tool ran
one message: no, yes     the tool did not run
two messages: yes, no    the tool did not run
two messages: no, yes    the tool ran
EXPECTED
