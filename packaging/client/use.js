// What a user's program does with the installed library: it finds the inbox, asks a question, and answers it.

import { Askbridge, AskbridgeError } from "@askbridge/client/local";

const inbox = await Askbridge.local();
const stop = inbox.onQuestion(question => question.reply({ go: true }));
const { values } = await inbox.ask({ fields: [{ name: "go", label: "Deploy?", kind: "boolean" }] });
stop();
await inbox.question("nobody-1").catch(error => {
  if (!(error instanceof AskbridgeError)) throw error;
  console.log(`answered ${values.go}, then ${error.name}`);
});
