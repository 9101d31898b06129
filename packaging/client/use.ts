// The same in TypeScript, with the types of every entry.

import { type Outcome, Question } from "@askbridge/client";
import type { AskbridgeInbox } from "@askbridge/client/elements/inbox";
import type { AskbridgeQuestion } from "@askbridge/client/elements/question";
import { Askbridge, AskbridgeError, type LocalOptions } from "@askbridge/client/local";

export function show(page: AskbridgeInbox, element: AskbridgeQuestion, question: Question): void {
  element.record = question.record;
  page.search = question.text;
}

const options: LocalOptions = {};
const inbox = await Askbridge.local(options);
const ended: Promise<Outcome> = new Promise(resolve => {
  const stop = inbox.onQuestion(async question => {
    stop();
    const [field] = question.fields;
    if (field?.kind !== "choice") throw new Error(`no choice, but ${field?.kind}`);
    await question.reply({ [field.name]: field.options[1]!.value });
    resolve(await question.settled());
  });
});
const choices = [{ label: "SQLite", value: "sqlite" }, { label: "Postgres", value: "pg" }];
const { values } = await inbox.ask({ fields: [{ name: "db", label: "Which?", kind: "choice", options: choices }] });
const outcome = await ended;
const error = await inbox.rejectQuestion("nobody-1").catch((error: unknown) => error);
console.log(`answered ${values["db"]}, ${outcome.status}, then ${error instanceof AskbridgeError && error.name}`);
