// What askbridge sends, made safe to narrow: what this version does not know becomes `unknown`.

import type { Field, Outcome, QuestionRecord, Settlement } from "./types.js";

type Sent = Readonly<Record<string, unknown>>;

const KINDS = new Set(["text", "choice", "choices", "texts", "boolean", "number", "confirm", "json"]);
const STATUSES = new Set(["answered", "rejected", "failed"]);

/** Returns a field whose kind is known or `unknown`. */
function readField(field: Field): Field {
  if (KINDS.has(field.kind)) return field;
  const { name, label, header, help, required, secret } = field;
  const base = JSON.parse(JSON.stringify({ name, label, header, help, required, secret })) as typeof field;
  return { ...base, kind: "unknown", raw: field as unknown as Sent };
}

/** Returns an outcome whose status is known or `unknown`. */
export function readOutcome(outcome: Outcome): Outcome {
  return STATUSES.has(outcome.status) ? outcome : { status: "unknown", raw: outcome as unknown as Sent };
}

/** Changes a record that was just parsed, so that nothing in it is of a kind that this version does not know. */
export function readRecord(record: QuestionRecord): QuestionRecord {
  const { question, settlement, earlier } = record;
  question.fields = question.fields.map(readField);
  for (const end of [settlement, earlier] as (Settlement | undefined)[]) if (end) end.outcome = readOutcome(end.outcome);
  return record;
}
