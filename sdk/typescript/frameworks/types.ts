// The adapter takes what `ai` has, and gives what it takes.

import { Approvals } from "@askbridge/client/ai";
import type { Askbridge } from "@askbridge/client";
import { generateText, type LanguageModel, type ModelMessage, tool } from "ai";
import { z } from "zod";

export async function check(inbox: Askbridge, model: LanguageModel): Promise<string> {
  const approvals = new Approvals(inbox, { conversation: "order-7" });
  const refund = tool({
    inputSchema: z.object({ order: z.number() }),
    needsApproval: ({ order }) => order > 5,
    execute: ({ order }) => `refunded ${order}`,
  });
  const tools = approvals.guard({ refund });
  const messages: ModelMessage[] = [{ role: "user", content: "Refund order 7" }];
  const answers = await approvals.answer(messages);
  if (answers) messages.push(answers);
  return (await generateText({ model, tools, messages })).text;
}
