import { AskbridgeError } from "./error.js";
import { type Http, pathOf } from "./http.js";
import { readRecord } from "./read.js";
import type { Answer, QuestionRecord } from "./types.js";

interface Past {
  questions: { record: QuestionRecord }[];
}

/** What a page of the history has, and how many pages are looked through where it is not known when to stop. */
const PAGE = 128;
const PAGES = 8;

/** Returns a question, open or over, from the server or from its history; `undefined` if nobody remembers it. */
export async function recall(
  http: Http,
  id: string,
  signal?: AbortSignal,
  since?: string,
): Promise<QuestionRecord | undefined> {
  try {
    return readRecord(await http.call<QuestionRecord>(pathOf(id), { signal, isSafe: true }));
  } catch (error) {
    if (!(error instanceof AskbridgeError) || error.status !== 404) throw error;
  }
  // The program that asked may have ended, and the server may have started since.
  let until: string | undefined;
  for (let page = 0; since || page < PAGES; page++) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(since && { since }), ...(until && { until }) });
    const { questions } = await http.call<Past>(`/v1/history?${query}`, { signal, isSafe: true });
    const found = questions.find(({ record }) => record.id === id);
    // The server does not have it: a question that was noted as open is not open any more.
    if (found) return { ...readRecord(found.record), ...(!found.record.settlement && { state: "lost" }) };
    const last = questions.at(-1)?.record;
    const next = last?.settlement?.at ?? last?.openedAt;
    if (questions.length < PAGE || next === until) return undefined;
    until = next;
  }
  return undefined;
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
  // What was secret is not shown again: it is known alone that it came over HTTP.
  const isSame = (name: string) =>
    name in values && name in answer.values && isSecret(name)
      ? settlement!.by.responder === "http"
      : JSON.stringify(answer.values[name]) === JSON.stringify(values[name]);
  return Object.keys({ ...values, ...answer.values }).every(isSame);
}
