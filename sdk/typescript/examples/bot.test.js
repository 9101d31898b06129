// The bot with a chat that is a list of messages.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Machine, until } from "../tests/server.js";
import { startBot } from "./bot.js";

test("a bot answers by buttons", async () => {
  const machine = await new Machine().start();
  const messages = [];
  const chat = {
    post(text, buttons) {
      const message = { text, buttons, edit: text => Object.assign(message, { text, buttons: [] }) };
      messages.push(message);
      return message;
    },
  };
  const find = text => until(text, () => messages.find(message => message.text.includes(text)), () => messages);
  const press = ({ buttons }, label) => buttons.find(button => button.label === label).press("ada");
  const stop = startBot(machine.client(), chat);
  try {
    const child = machine.ask("Which database?", ["SQLite", "Postgres"]);
    const message = await find("Which database?");
    const late = { ...message };
    await press(message, "Postgres");
    assert.equal(await child.ended, 0);
    await find("Which database?: Postgres");
    await press(late, "SQLite");
    await find("ada: ");

    const rejected = machine.ask("Another?");
    await press(await find("Another?"), "Not now");
    assert.notEqual(await rejected.ended, 0);

    const agent = machine.agent("dangerous");
    const permission = await find("rm -rf");
    assert.deepEqual(permission.buttons.map(({ label }) => label), ["Reject"]);
    await press(permission, "Reject");
    await until("answer", () => /Permission: selected reject/.test(agent.said), () => agent.said);

    // What acts takes two presses.
    const fetching = machine.agent("permission");
    const acts = await until("the permission", () => messages.find(({ buttons }) => buttons.some(({ label }) => label === "Allow …")), () => messages);
    await press(acts, "Allow …");
    assert.ok(!/Permission: selected/.test(fetching.said), fetching.said);
    await press(await find("Allow it? "), "Allow");
    await until("answer", () => /Permission: selected allow/.test(fetching.said), () => fetching.said);
  } finally {
    stop();
    await machine.end();
  }
});
