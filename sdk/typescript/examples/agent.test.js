// A test of an agent without a person: what it asks is answered by the test. The agent here is the mock agent; another
// one is run by `machine.run(["my-agent"], "a prompt")`. Needs machine.js, and `askbridge` in the PATH.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Askbridge } from "@askbridge/client";

import { Machine, until } from "./machine.js";

const machine = new Machine();
let inbox;
before(async () => {
  await machine.start();
  inbox = new Askbridge({ url: machine.url, token: machine.token });
});
after(() => machine.end());

test("the agent uses the database that was chosen", async () => {
  let reply;
  const stop = inbox.onQuestion(question => (reply = question.reply({ [question.fields[0].name]: "option-b" })));
  const agent = machine.agent("question");
  await until("choice", () => /You chose: option-b/.test(agent.said), () => agent.said);
  await reply;
  stop();
});

test("the agent goes on where it may not run a command", async () => {
  const agent = machine.agent("dangerous");
  for await (const event of inbox.events()) {
    if (event.type !== "requested") continue;
    assert.equal(event.question.subject.command, "rm -rf build");
    await event.question.reject("not in a test");
    break;
  }
  await until("refusal", () => /Permission: selected reject/.test(agent.said), () => agent.said);
});
