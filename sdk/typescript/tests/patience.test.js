// A question that waits for longer than the 5 minutes after which Node, Bun and Firefox give a silent response up.
// MINUTES=6 says how long it waits; without it, nothing is tried.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Machine } from "./server.js";

const MINUTES = Number(process.env.MINUTES ?? 0);
const skip = MINUTES ? false : "MINUTES is not set";

test("a question is withdrawn also after the response has begun", { skip, timeout: 120_000 }, async () => {
  const machine = await new Machine().start();
  try {
    const abort = new AbortController();
    const asked = machine.client().ask({ fields: [{ name: "go", label: "Deploy?", kind: "boolean" }] }, { signal: abort.signal });
    const ended = asked.catch(error => error);
    // The response begins after 4 s.
    await Promise.race([ended, sleep(6_000)]);
    const [question] = await machine.client().questions();
    abort.abort(new Error("enough"));
    assert.equal((await ended).message, "enough");
    assert.equal((await question.settled()).reason, "withdrawn");
  } finally {
    await machine.end();
  }
});

test(`a question waits for ${MINUTES} minutes`, { skip, timeout: (MINUTES + 2) * 60_000 }, async () => {
  const machine = await new Machine().start();
  try {
    const asker = machine.client();
    const asked = asker.ask({ fields: [{ name: "go", label: "Deploy?", kind: "boolean" }] });
    // What fails before its time is seen at once.
    await Promise.race([asked, sleep(MINUTES * 60_000)]);
    const [question, ...more] = await machine.client().questions();
    assert.equal(more.length, 0);
    await question.reply({ go: true });
    assert.deepEqual(await asked, { values: { go: true } });
  } finally {
    await machine.end();
  }
});
