// The words for how a question ended, and by whom.

import type { Outcome, Provenance, QuestionRecord, Settlement, Value } from "@askbridge/client";

import { cut, printableLine } from "./card.js";
import { choicesOf } from "./fields.js";
import type { Disclosure } from "./policy.js";

/** The most characters of an answer in such a sentence, and of a name. */
const ANSWER = 300;
const NAME = 80;

const RESPONDERS: Record<string, string> = {
  client: "in the client",
  dialog: "in the agent's own dialog",
  bridge: "by askbridge",
  command_line: "at the command line",
  terminal: "in the terminal",
  http: "over HTTP",
  page: "on the page",
  notification: "by a notification",
  fleet: "by a person of the fleet",
  rule: "by a rule",
};

const REASONS: Record<string, string> = {
  cancelled: "It was cancelled.",
  withdrawn: "The agent took it back.",
  over: "The agent went on without an answer.",
  call_ended: "The call that waited for it has ended.",
  timeout: "Its time is over.",
  replied_in_chat: "A reply in the agent's chat ended it.",
  client_gone: "The client is gone.",
  agent_gone: "The agent is gone.",
  session_closed: "Its session was closed.",
  shutdown: "askbridge was asked to end.",
};

/** Returns who decided, as the end of a sentence: `by Ben in Telegram`. */
export function byWhom({ responder, name }: Provenance): string {
  const called = name && cut(printableLine(name), NAME);
  if (responder === "rpc") return called ? `by ${called}` : "by a program";
  const where = RESPONDERS[responder] ?? `by ${cut(printableLine(responder), NAME)}`;
  return called && (responder === "rule" || responder === "fleet") ? `${where}, ${called}` : where;
}

/** Says how a question ended, in as many words as may leave the machine. */
export function ending(record: QuestionRecord, outcome: Outcome, settlement: Settlement | undefined, text: Disclosure): string {
  const by = settlement ? ` ${byWhom(settlement.by)}` : "";
  if (outcome.status === "failed") return "It ended: the client failed.";
  if (outcome.status === "unknown") return "It is over. How it ended is not known here.";
  if (outcome.status === "rejected") {
    const known = REASONS[outcome.reason];
    if (known) return known;
    const remark = text === "all" && settlement?.remark ? `: ${cut(printableLine(settlement.remark), ANSWER)}` : "";
    return `Rejected${by}${remark}${remark ? "" : "."}`;
  }
  const verb = verbOf(record, outcome.values);
  if (text !== "all" || verb === "Rejected") return `${verb}${by}.`;
  const given = record.question.fields.flatMap(field => {
    const value = outcome.values[field.name];
    if (value === undefined || value === null) return [];
    const shown = cut(shownValue(record, field.name, value), ANSWER);
    return [record.question.fields.length > 1 ? `${cut(printableLine(field.label), NAME)}: ${shown}` : shown];
  });
  return `${verb}${by}: ${cut(given.join("; "), 2 * ANSWER)}`;
}

/** Returns whether an answer allows, rejects or answers. */
function verbOf({ question }: QuestionRecord, values: Record<string, Value>): string {
  if (question.purpose !== "permission") return "Answered";
  const [field] = question.fields;
  const chosen = field && choicesOf(field).find(({ value }) => value === values[field.name]);
  const role = chosen?.option?.role ?? "";
  return role.startsWith("reject") ? "Rejected" : role.startsWith("allow") ? "Allowed" : "Decided";
}

/** Returns a value in the words of its field. */
export function shownValue({ question }: QuestionRecord, name: string, value: Value): string {
  const field = question.fields.find(one => one.name === name);
  const choices = field ? choicesOf(field) : [];
  const one = (part: unknown) => printableLine(String(choices.find(choice => choice.value === part)?.label ?? part));
  return Array.isArray(value) ? (value.length ? value.map(one).join(", ") : "none") : one(value);
}
