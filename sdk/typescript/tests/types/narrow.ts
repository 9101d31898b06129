// What the types must and must not accept. It is compiled, and never run.

import { Askbridge, type AskbridgeError, type Field, type Outcome, type Question } from "../../dist/index.js";
import { Askbridge as Local } from "../../dist/local.js";

/** A field is narrowed by its kind, and the unknown has what was sent. */
export function values(field: Field): string[] {
  switch (field.kind) {
    case "choice":
    case "choices":
      return field.options.map(({ value }) => value);
    case "number":
      return [String(field.max ?? field.default)];
    case "texts":
      return field.default ?? [];
    case "json":
      return [JSON.stringify(field.schema)];
    case "confirm":
      return [field.yes, field.no];
    case "unknown":
      return [String(field.raw["kind"])];
    case "text":
    case "boolean": {
      // @ts-expect-error: neither has options
      field.options;
      return [];
    }
  }
}

/** So is an outcome. */
export function why(outcome: Outcome): string {
  // @ts-expect-error: not every outcome has a reason
  outcome.reason;
  if (outcome.status === "answered") return JSON.stringify(outcome.values);
  if (outcome.status === "rejected") {
    // A name of another version is a reason too.
    return outcome.reason === "of_next_year" ? "" : outcome.reason;
  }
  return outcome.status === "unknown" ? JSON.stringify(outcome.raw) : outcome.status;
}

export async function use(inbox: Askbridge, question: Question, error: AskbridgeError): Promise<void> {
  // @ts-expect-error: only a permission is allowed
  question.allow();
  if (question.isPermission()) await question.allow({ dangerous: true });
  // @ts-expect-error: a value is no object
  await question.reply({ q0: {} });
  // @ts-expect-error: what is not known cannot be asked
  await inbox.ask({ fields: [{ kind: "unknown", name: "a", label: "A", raw: {} }] });
  for await (const event of inbox.events()) if (event.type === "resolved") why(event.outcome);
  if (error.name === "conflict" && error.outcome) why(error.outcome);
  const local: Askbridge = await Local.local();
  local.onPermission(permission => permission.subject?.command);
}
