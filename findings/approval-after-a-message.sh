#!/usr/bin/env bash
# ai 7.0.173 (npm): a tool call waits for approval, the person writes a message, and then approves. `generateText` runs
# the tool and raises AI_MissingToolResultsError afterwards, so its result is lost and the model is not called. With the
# approval before the message it raises as well, without running the tool. One would guess that both go on, or that both
# raise before anything runs. A program that tries again after the error runs the tool a second time.
#
# Output:
#   approval                    the tool ran, Good.
#   message, then approval      the tool ran, AI_MissingToolResultsError
#   the same, tried again       the tool ran twice, AI_MissingToolResultsError
#   approval, then message      the tool did not run, AI_MissingToolResultsError
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
async function said(order, tries = 1) {
  let calls = 0;
  let ran = 0;
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
      ran++;
      return "done";
    },
  });
  const messages = [{ role: "user", content: "Print page 1." }];
  const { content, response } = await generateText({ model, tools: { print }, messages });
  const { approvalId } = content.find(({ type }) => type === "tool-approval-request");
  const approval = { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] };
  const message = { role: "user", content: "Please hurry." };
  messages.push(...response.messages, ...order.map((one) => ({ approval, message })[one]));
  let end;
  for (; tries > 0; tries--) {
    end = await generateText({ model, tools: { print }, messages }).then(({ text }) => text, ({ name }) => name);
  }
  return `the tool ${["did not run", "ran", "ran twice"][ran]}, ${end}`;
}
console.log("approval                   ", await said(["approval"]));
console.log("message, then approval     ", await said(["message", "approval"]));
console.log("the same, tried again      ", await said(["message", "approval"], 2));
console.log("approval, then message     ", await said(["approval", "message"]));
PROGRAM
node approve.mjs 2>/dev/null | tee said
diff said - <<'EXPECTED'
approval                    the tool ran, Good.
message, then approval      the tool ran, AI_MissingToolResultsError
the same, tried again       the tool ran twice, AI_MissingToolResultsError
approval, then message      the tool did not run, AI_MissingToolResultsError
EXPECTED
