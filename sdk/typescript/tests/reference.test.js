// API.md against the declarations.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { reference } from "../scripts/reference.js";

test("API.md is up to date, and says of every name what it is", () => {
  const written = reference();
  const page = readFileSync(new URL("../API.md", import.meta.url), "utf8");
  assert.ok(page === written, "API.md is out of date: run `npm run build && node scripts/reference.js`");
  assert.deepEqual(written.match(/^### \w+\n\n```/gm), null, "a name has no comment");
  for (const name of ["Askbridge", "Question", "InboxEvent", "ChoiceField", "LocalOptions", "AskbridgeQuestion", "InboxConnection"]) {
    assert.ok(written.includes(`### ${name}\n`), name);
  }
});
