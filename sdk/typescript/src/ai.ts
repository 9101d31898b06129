// Decides the tool approvals of the npm package `ai` in the inbox. Tried with ai 6.0.326, which it does not import.

import type { Askbridge } from "./askbridge.js";
import { AskbridgeError } from "./error.js";
import type { Cancel } from "./question.js";
import type { Settlement } from "./types.js";

/** A message of `ai`, such as a `ModelMessage`. */
export interface Message {
  role: string;
  content: unknown;
}

/** A message of `ai` that answers approval requests: the last one before the next `generateText`. */
export interface ApprovalMessage {
  role: "tool";
  content: ApprovalResponse[];
}

/** A part of it. */
export interface ApprovalResponse {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  /** The person's own words, which the model gets. */
  reason?: string;
}

/** What all permissions say. */
export interface ApprovalOptions {
  /** Names the conversation: the same in each process that goes on with it, and no other one. */
  conversation: string;
  /** The name of the program that asks. */
  agent?: string;
  /** The directory that the program works in, as an absolute path. */
  project?: string;
  /** How long to wait for a decision, in milliseconds. By default, there is no limit. */
  timeoutMs?: number;
  /** How long an approval counts, in milliseconds. By default, there is no limit. */
  grantMs?: number;
}

/** A tool of `ai`, as far as it matters here. */
export interface Tool {
  needsApproval?: unknown;
  execute?: unknown;
}

type Execute = (input: unknown, options: { toolCallId: string; messages: Message[]; abortSignal?: AbortSignal }) => unknown;

/** An approval request and its call, which are parts of messages. */
interface Request {
  approvalId: string;
  toolCallId: string;
  toolName: string;
  input: unknown;
}

type Part = Partial<Request> & { type?: string };

const LONGEST_KEY = 255;
const BEGUN =
  "This call was approved and begun before, in a process that has ended. Whether it took effect is not known, and it was " +
  "not run again. Check before you try it another time.";

/**
 * Decides the approvals of a conversation. A process that dies while its person thinks, and goes on with the messages that it
 * saved, gets the same questions and their answers.
 */
export class Approvals {
  readonly #inbox: Askbridge;
  readonly #options: ApprovalOptions;

  constructor(inbox: Askbridge, options: ApprovalOptions) {
    this.#inbox = inbox;
    this.#options = options;
  }

  /**
   * Asks for all approvals that these messages wait for at once, and returns the message that answers them. Nothing if they
   * wait for none.
   */
  async answer(messages: readonly Message[], options: Cancel = {}): Promise<ApprovalMessage | undefined> {
    const open = requestsIn(messages).filter(({ isAnswered }) => !isAnswered);
    if (!open.length) return undefined;
    return { role: "tool", content: await Promise.all(open.map(request => this.#answer(request, options.signal))) };
  }

  /**
   * Returns these tools so that each call that was approved here spends its approval right before it runs, and is not run
   * where it was begun before. The history gets what came of it.
   */
  guard<T extends Record<string, Tool>>(tools: T): T {
    const guarded = Object.entries(tools).map(([name, tool]) => {
      const { execute, needsApproval } = tool;
      if (typeof execute !== "function" || !needsApproval) return [name, tool];
      return [name, { ...tool, execute: this.#guarded(execute.bind(tool) as Execute) }];
    });
    return Object.fromEntries(guarded) as T;
  }

  #guarded(execute: Execute): Execute {
    return async (input, options) => {
      const request = requestsIn(options.messages).find(({ toolCallId }) => toolCallId === options.toolCallId);
      // This call needed no approval.
      if (!request) return execute(input, options);
      const { id, settlement } = await this.#decision(request, options.abortSignal);
      if (!settlement.grant) throw new Error(refusal(settlement));
      try {
        // A request that is sent again is the same attempt.
        await this.#inbox.consumeApproval(id, settlement.grant.digest, { key: crypto.randomUUID() });
      } catch (error) {
        if (error instanceof AskbridgeError && error.name === "spent") throw new Error(BEGUN, { cause: error });
        throw error;
      }
      try {
        const result = await execute(input, options);
        await this.#report(id, true);
        return result;
      } catch (error) {
        await this.#report(id, false, String(error));
        throw error;
      }
    };
  }

  /** What came of it counts, also where the history does not hear of it. */
  async #report(id: string, succeeded: boolean, note?: string): Promise<void> {
    await this.#inbox.reportOutcome(id, succeeded, note === undefined ? {} : { note }).catch(() => {});
  }

  async #answer(request: Request, signal: AbortSignal | undefined): Promise<ApprovalResponse> {
    const { settlement } = await this.#decision(request, signal);
    const answer = { type: "tool-approval-response", approvalId: request.approvalId } as const;
    return settlement.grant ? { ...answer, approved: true } : { ...answer, approved: false, reason: refusal(settlement) };
  }

  /** Asks for a permission, or finds the one that was asked under the same key, and waits until it is decided. */
  async #decision(request: Request, signal: AbortSignal | undefined): Promise<{ id: string; settlement: Settlement }> {
    const { conversation, ...about } = this.#options;
    const { toolName: tool, input } = request;
    const subject = { tool, arguments: isObject(input) ? input : { input } };
    const question = { purpose: "permission", subject, sessionId: conversation, ...about };
    const key = await keyOf("ai", conversation, request.approvalId);
    const { id } = await this.#inbox.keepQuestion(question, { key, signal });
    await this.#inbox.waitFor(id, { signal });
    const { settlement } = await this.#inbox.question(id, { signal });
    if (!settlement) throw new AskbridgeError("not_answered", `nobody knows how ${id} ended`);
    return { id, settlement };
  }
}

/** Returns the approval requests of messages with their calls, and whether each is answered. */
function requestsIn(messages: readonly Message[]): (Request & { isAnswered: boolean })[] {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Part[]) : []));
  const all = (type: string) => parts.filter(part => part.type === type);
  const calls = new Map(all("tool-call").map(part => [part.toolCallId, part]));
  const answered = new Set(all("tool-approval-response").map(({ approvalId }) => approvalId));
  const done = new Set(all("tool-result").map(({ toolCallId }) => toolCallId));
  return all("tool-approval-request").map(({ approvalId, toolCallId }) => {
    const call = calls.get(toolCallId);
    if (!approvalId || !toolCallId || !call?.toolName) throw new Error(`the call of the approval ${approvalId} is not there`);
    const isAnswered = answered.has(approvalId) || done.has(toolCallId);
    return { approvalId, toolCallId, toolName: call.toolName, input: call.input, isAnswered };
  });
}

function refusal({ outcome, remark }: Settlement): string {
  if (remark) return `The user rejected this tool call: ${remark}`;
  const reason = outcome.status === "rejected" ? outcome.reason : outcome.status;
  return reason === "user" || reason === "answered" ? "The user rejected this tool call." : `Nobody allowed it (${reason}).`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the key of a question: the same parts are the same question, in every process. */
async function keyOf(...parts: string[]): Promise<string> {
  const key = parts.map(encodeURIComponent).join("/");
  if (key.length <= LONGEST_KEY) return key;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  const hex = Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, "0")).join("");
  return `${parts[0]}/sha256:${hex}`;
}
