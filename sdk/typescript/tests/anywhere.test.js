// One scenario in each runtime: in the one that runs this, which is Node, Bun or Deno, and in Chromium.

import assert from "node:assert/strict";
import { test } from "node:test";

import { browse, browser } from "./browser.js";
import { play } from "./scenario.js";
import { Machine } from "./server.js";

/** Does what the scenario wants of a machine. */
const controlOf = machine => async (verb, word) => void (await machine[verb](word));

test("the scenario in this runtime", { timeout: 60_000 }, async () => {
  const machine = await new Machine().start();
  try {
    await play({ url: machine.url, token: machine.token }, controlOf(machine));
  } finally {
    await machine.end();
  }
});

test("the scenario in Chromium", { skip: browser ? false : "there is no chromium", timeout: 120_000 }, async () => {
  const machine = await new Machine().start();
  try {
    const control = controlOf(machine);
    const said = await browse(
      `const { play } = await import("/tests/scenario.js");
      const control = async (...words) => {
        const { ok } = await fetch("/control", { method: "POST", body: JSON.stringify(words) });
        if (!ok) throw new Error("no control: " + words);
      };
      await play({ url: location.origin, token: ${JSON.stringify(machine.token)} }, control);`,
      { port: () => machine.port, control: words => control(...words) },
    );
    assert.equal(said, "done");
  } finally {
    await machine.end();
  }
});
