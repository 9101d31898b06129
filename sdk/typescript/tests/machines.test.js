// Questions of another machine, through the connection of the inbox. What stands for ssh is a second runtime folder.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Machine, PROGRAM, until } from "./server.js";

const near = new Machine();
const far = new Machine();
const dials = join(far.home, "dials");

before(async () => {
  const dial = join(far.home, "dial");
  const env = `env HOME='${far.home}' XDG_RUNTIME_DIR='${far.home}'`;
  writeFileSync(dial, `#!/bin/sh\necho $$ >>'${dials}'\nexec ${env} '${PROGRAM}' dial\n`, { mode: 0o755 });
  const settings = join(near.home, ".config/askbridge");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "config.toml"), `[machine.box]\ncommand = ["${dial}"]\n`);
  await near.start();
});
after(async () => {
  await near.end();
  await far.end();
});

/** Listens, and finds questions by their text. */
function listen(inbox, signal, options) {
  const heard = [];
  inbox.onQuestion(question => heard.push(question), { signal, ...options });
  return { heard, find: text => until(text, () => heard.find(question => question.text === text), () => heard) };
}

test("a question of another machine has its name, and is answered there", async t => {
  const { signal } = t;
  const inbox = near.client();
  const box = listen(inbox, signal, { machine: "box" });
  const own = listen(inbox, signal, { machine: "" });
  const there = far.ask("Over there?");
  const here = near.ask("Over here?");
  const question = await box.find("Over there?");
  assert.equal(question.machine, "box");
  assert.match(question.id, /^box\//);
  assert.equal((await own.find("Over here?")).machine, undefined);
  assert.deepEqual((await inbox.questions()).map(({ machine }) => machine).sort(), ["box", undefined]);

  await question.reply({ q0: "b" });
  assert.equal(await there.ended, 0);
  assert.match(there.said, /b\n$/);
  await assert.rejects(question.reply({ q0: "a" }), { name: "conflict" });
  assert.deepEqual(await question.settled(), { status: "answered", values: { q0: "b" } });
  assert.deepEqual([box.heard.length, own.heard.length], [1, 1]);
  here.kill("SIGTERM");
  await here.ended;
});

test("a question that ends on the other machine is over here", async t => {
  const inbox = near.client();
  const child = far.ask("Withdrawn there?");
  const question = await listen(inbox, t.signal).find("Withdrawn there?");
  child.kill("SIGTERM");
  const { status, reason } = await question.settled();
  assert.deepEqual([status, reason], ["rejected", "withdrawn"]);
});

test("a reply outlives a cut connection to the machine, and a server that starts again", async t => {
  const inbox = near.client();
  const box = listen(inbox, t.signal);
  const ended = [];
  inbox.onResolved(({ question, outcome }) => ended.push([question.text, outcome]), { signal: t.signal });
  const first = far.ask("Cut?");
  const cut = await box.find("Cut?");
  process.kill(Number(readFileSync(dials, "utf8").trim().split("\n").at(-1)), "SIGKILL");
  await cut.reply({ q0: "a" });
  assert.equal(await first.ended, 0);

  const second = far.ask("Restarted?");
  const restarted = await box.find("Restarted?");
  await near.kill();
  await near.start();
  await restarted.reply({ q0: "b" });
  assert.equal(await second.ended, 0);
  await until("ends", () => ended.length >= 2, () => ended);
  assert.deepEqual(ended, [
    ["Cut?", { status: "answered", values: { q0: "a" } }],
    ["Restarted?", { status: "answered", values: { q0: "b" } }],
  ]);
  assert.deepEqual(box.heard.map(({ text }) => text), ["Cut?", "Restarted?"]);
});

test("how questions ended there while the inbox did not run is known", async t => {
  const inbox = near.client();
  const box = listen(inbox, t.signal);
  const ended = new Map();
  inbox.onResolved(({ question, outcome }) => {
    assert.equal(question.machine, "box");
    ended.set(question.text, [...(ended.get(question.text) ?? []), outcome]);
  }, { signal: t.signal });
  const answered = far.ask("Answered meanwhile?");
  const killed = far.ask("Killed meanwhile?");
  const { id } = await box.find("Answered meanwhile?");
  await box.find("Killed meanwhile?");
  await near.kill();
  assert.equal(await far.spawn(["answer", id.replace("box/", ""), "b"]).ended, 0);
  assert.equal(await answered.ended, 0);
  killed.kill("SIGKILL");
  await killed.ended;
  await near.start();
  const outcome = { status: "answered", values: { q0: "b" } };
  await until("ends", () => ended.size === 2, () => [...ended]);
  assert.deepEqual(Object.fromEntries(ended), { "Answered meanwhile?": [outcome], "Killed meanwhile?": [{ status: "unknown" }] });
  assert.deepEqual(await near.client().waitFor(id, { signal: t.signal }), outcome);
  assert.equal((await near.client().question(id)).machine, "box");
});
