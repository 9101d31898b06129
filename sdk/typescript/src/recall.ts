import { AskbridgeError } from "./error.js";
import { type Http, pathOf } from "./http.js";
import { readRecord } from "./read.js";
import type { Answer, QuestionRecord } from "./types.js";

/** Returns a question: open, over or lost; `undefined` if nobody knows it. */
export async function recall(http: Http, id: string, signal?: AbortSignal): Promise<QuestionRecord | undefined> {
  try {
    return readRecord(await http.call<QuestionRecord>(pathOf(id), { signal, isSafe: true }));
  } catch (error) {
    if (!(error instanceof AskbridgeError) || error.status !== 404) throw error;
    return undefined;
  }
}

/** Says whether a question is open: nobody's decision was delivered, and its bridge is there. */
export const isOpen = (record: QuestionRecord | undefined): boolean =>
  !!record && !record.settlement && ["open", "delivering"].includes(record.state ?? "open");

/** Says whether a record ended with this answer, or, without an answer, with a person's rejection. */
export function isDecidedSo({ question, settlement }: QuestionRecord, answer: Answer | undefined): boolean {
  const outcome = settlement?.outcome;
  if (!answer) return outcome?.status === "rejected" && outcome.reason === "user";
  if (outcome?.status !== "answered") return false;
  const { values } = outcome;
  const isSecret = (name: string) => question.fields.some(field => field.name === name && field.secret);
  // What was secret is not shown again: it is known alone that it came over HTTP, by REST or by a call.
  const isSame = (name: string) =>
    name in values && name in answer.values && isSecret(name)
      ? ["http", "rpc"].includes(settlement!.by.responder)
      : JSON.stringify(answer.values[name]) === JSON.stringify(values[name]);
  return Object.keys({ ...values, ...answer.values }).every(isSame);
}
