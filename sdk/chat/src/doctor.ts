// Says what works and what does not, and what to do.

import { type Adapter, type Finding } from "./adapter.js";
import { AskbridgeError, type Askbridge } from "@askbridge/client";
import type { Policy } from "./core/policy.js";

/** Looks at the inbox, the token, the chats and the persons. */
export async function* examine(policy: Policy, adapter: Adapter, find: () => Promise<Askbridge> | Askbridge): AsyncIterable<Finding> {
  yield await inboxFinding(find);
  const chats = policy.escalate?.chat === undefined ? policy.chats : [...new Set([...policy.chats, policy.escalate.chat])];
  yield* adapter.check(chats, [...policy.users.keys()]);
  const isAll = policy.text === "all" || policy.rules.some(rule => rule.text === "all");
  yield isAll
    ? { isWell: true, text: `the texts of ${policy.text === "all" ? "all questions" : "some projects or kinds"} are posted, and can be answered in ${policy.chat}` }
    : { isWell: true, text: `${policy.chat} is told only that a question waits: set text = "all" to answer there` };
}

async function inboxFinding(find: () => Promise<Askbridge> | Askbridge): Promise<Finding> {
  try {
    const open = await (await find()).questions({ signal: AbortSignal.timeout(10_000) });
    return { isWell: true, text: `the inbox is reached; ${open.length} open` };
  } catch (error) {
    const hint = error instanceof AskbridgeError && error.name === "wrong_token" ? ": look at server.token-file" : "";
    return { isWell: false, text: `the inbox is not reached: ${error instanceof Error ? error.message : String(error)}${hint}` };
  }
}
