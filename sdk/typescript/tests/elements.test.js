// The elements of the package in a browser: they load, show a question, and tell what a person decides.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { browse, browser } from "./browser.js";

const skip = browser ? false : "there is no chromium";

/** Returns the names of the members that a declared interface has. */
function declared(file, name) {
  const text = readFileSync(new URL(`../elements/${file}.d.ts`, import.meta.url), "utf8");
  const [, body] = new RegExp(`interface ${name} extends HTMLElement \\{\n([^]*?)\n\\}`).exec(text);
  return [...body.matchAll(/^  (?:readonly )?(\w+)[:(]/gm)].map(([, member]) => member);
}

test("the elements show a question, and tell what is decided", { skip, timeout: 90_000 }, async () => {
  const said = await browse(`
    await import("/elements/inbox.js");
    await import("/elements/question.js");
    const element = document.createElement("askbridge-question");
    document.body.append(element);
    const options = [{ value: "a", label: "A" }, { value: "b", label: "B" }];
    const fields = [{ name: "q0", label: "Which?", required: true, kind: "choice", options }];
    const decided = new Promise(resolve => element.addEventListener("askbridge-answer", ({ detail }) => resolve(detail)));
    element.record = { id: "k3f9q2-1", bridge: "k3f9q2", state: "open", openedAt: new Date().toISOString(),
      question: { questionId: "ask", message: "", fields, origin: "program", dangerous: false, risk: "plain", blocking: true } };
    element.paused = false;
    const chosen = element.choose(2);
    element.submit();
    said = JSON.stringify({ chosen, decided: await decided });`);
  assert.deepEqual(JSON.parse(said), { chosen: true, decided: { id: "k3f9q2-1", values: { q0: "b" }, notes: {}, seen: 0 } });
});

test("the elements have the members that are declared", { skip, timeout: 90_000 }, async () => {
  const names = { question: declared("question", "AskbridgeQuestion"), inbox: declared("inbox", "AskbridgeInbox") };
  assert.ok(names.question.includes("record") && names.inbox.includes("connection"), JSON.stringify(names));
  const said = await browse(`
    await import("/elements/inbox.js");
    const missing = [];
    for (const [kind, names] of Object.entries(${JSON.stringify(names)})) {
      const element = document.createElement("askbridge-" + kind);
      missing.push(...names.filter(name => !(name in element)));
    }
    said = missing.join();`);
  assert.equal(said, "");
});
