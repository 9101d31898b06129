// What the library does with the real program. RACES says how often several decide at once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { Askbridge, AskbridgeError, Permission } from "../dist/index.js";
import { Askbridge as Local } from "../dist/local.js";
import { Machine, until } from "./server.js";

const RACES = Number(process.env.RACES ?? 4);

const machine = new Machine();
before(() => machine.start());
after(() => machine.end());

const refused = (name, status) => error => {
  assert.ok(error instanceof AskbridgeError, String(error));
  assert.equal(error.name, name);
  if (status) assert.equal(error.status, status);
  return true;
};

/** Waits for the next question with this text. */
function next(inbox, text, on = "onQuestion") {
  return new Promise(resolve => {
    const stop = inbox[on](question => {
      if (question.text !== text && text) return;
      stop();
      resolve(question);
    });
  });
}

test("a question is heard, answered, and heard to be over", async () => {
  const inbox = machine.client();
  const ended = [];
  const stop = inbox.onResolved(resolution => ended.push(resolution));
  const child = machine.ask("Which database?");
  const question = await next(inbox, "Which database?");
  assert.equal(question.machine, undefined);
  assert.equal(question.agent, "askbridge ask");
  assert.deepEqual(question.fields[0].options.map(({ value }) => value), ["a", "b"]);
  const outcome = inbox.waitFor(question.id);
  await question.reply({ q0: "b" });
  await question.reply({ q0: "b" });
  await assert.rejects(question.reply({ q0: "a" }), error => {
    assert.deepEqual(error.outcome, { status: "answered", values: { q0: "b" } });
    return refused("conflict", 409)(error);
  });
  assert.deepEqual(await outcome, { status: "answered", values: { q0: "b" } });
  assert.deepEqual(await inbox.waitFor(question.id), { status: "answered", values: { q0: "b" } });
  assert.equal(await child.ended, 0);
  assert.match(child.said, /b/);
  await until("end", () => ended.length, () => ended);
  stop();
  assert.equal(ended.length, 1);
  assert.equal(ended[0].settlement.by.responder, "http");
});

test("an answer that does not fit says which field", async () => {
  const inbox = machine.client();
  // Without a deadline.
  const child = machine.spawn(["ask", "Does it fit?", "--option", "a", "--option", "b"]);
  const question = await next(inbox, "Does it fit?");
  await assert.rejects(question.reply({ q0: "c" }), error => {
    assert.equal(error.errors[0].field, "q0");
    return refused("does_not_fit", 422)(error);
  });
  await assert.rejects(question.extend(1000), refused("no_deadline", 412));
  await assert.rejects(question.reply({ q0: ["a"] }), refused("does_not_fit", 422));
  await inbox.rejectQuestion(question.id, "no time");
  assert.equal((await inbox.question(question.id)).settlement.remark, "no time");
  await assert.rejects(question.reply({ q0: "a" }), refused("conflict", 409));
  assert.notEqual(await child.ended, 0);
  await assert.rejects(inbox.replyQuestion("nobody-1", { q0: "a" }), refused("not_found", 404));
  await assert.rejects(inbox.waitFor("nobody-1"), refused("not_found"));
});

test("a program that passes on what a person decided names the person", async () => {
  const inbox = machine.client();
  const by = "Ben in a chat";
  const settledBy = async id => (await inbox.question(id)).settlement.by;
  const child = machine.ask("Who says so?");
  const question = await next(inbox, "Who says so?");
  await assert.rejects(question.reply({ q0: "c" }, { by }), error => {
    assert.equal(error.errors[0].field, "q0");
    return refused("does_not_fit", 422)(error);
  });
  await question.reply({ q0: "a" }, { by });
  await question.reply({ q0: "a" }, { by });
  assert.equal(await child.ended, 0);
  assert.deepEqual(await settledBy(question.id), { responder: "rpc", name: by });
  await assert.rejects(question.reject("late", { by }), error => {
    assert.deepEqual(error.outcome, { status: "answered", values: { q0: "a" } });
    return refused("conflict", 409)(error);
  });
  await assert.rejects(inbox.rejectQuestion("nobody-1", undefined, { by }), refused("not_found", 404));

  const agent = machine.agent("dangerous");
  const permission = await next(inbox, "", "onPermission");
  await permission.allow({ dangerous: true, by });
  await until("answer", () => /Permission: selected allow/.test(agent.said), () => agent.said);
  assert.deepEqual(await settledBy(permission.id), { responder: "rpc", name: by });
  const rejecting = machine.ask("Rejected by whom?");
  const rejected = await next(inbox, "Rejected by whom?");
  await rejected.reject("no time", { by });
  await rejecting.ended;
  const { settlement } = await inbox.question(rejected.id);
  assert.deepEqual([settlement.by.name, settlement.remark], [by, "no time"]);
});

test("a program asks, gets the answer, and withdraws", async () => {
  const inbox = machine.client();
  const fields = [{ name: "go", label: "Deploy?", kind: "boolean" }];
  const asked = inbox.ask({ fields, agent: "test" }, { timeoutMs: 60_000 });
  const question = await next(inbox, "Deploy?");
  const extended = await question.extend(60_000);
  assert.ok(extended.deadline > question.deadline);
  const aside = await question.postpone(30_000);
  assert.equal(typeof aside.record.later, "string");
  assert.equal((await aside.postpone(0)).record.later, undefined);
  await question.reply({ go: true });
  assert.deepEqual(await asked, { values: { go: true } });

  const rejected = assert.rejects(inbox.ask({ fields, message: "Rejected?" }), error => {
    assert.match(error.message, /not now/);
    assert.equal(error.outcome.reason, "user");
    return refused("not_answered")(error);
  });
  await (await next(inbox, "Rejected?")).reject("not now");
  await rejected;

  const abort = new AbortController();
  const asking = inbox.ask({ fields, message: "Withdrawn?" }, { signal: abort.signal });
  const withdrawn = assert.rejects(asking, /changed my mind/);
  const ended = (await next(inbox, "Withdrawn?")).settled();
  abort.abort(new Error("changed my mind"));
  await withdrawn;
  assert.equal((await ended).status, "rejected");
  await assert.rejects(inbox.ask({ fields: [] }), refused("bad_question", 422));
});

test("a question that no connection holds is asked once under its key, and withdrawn once", async () => {
  const inbox = machine.client();
  const fields = [{ name: "go", label: "Kept?", kind: "boolean" }];
  const kept = await inbox.keepQuestion({ fields }, { key: "release-7" });
  assert.equal((await inbox.keepQuestion({ fields }, { key: "release-7" })).id, kept.id);
  await assert.rejects(inbox.keepQuestion({ fields, message: "Other?" }, { key: "release-7" }), refused("key_used", 409));
  const ended = inbox.waitFor(kept.id);
  await kept.reply({ go: true });
  assert.deepEqual(await ended, { status: "answered", values: { go: true } });
  assert.deepEqual(await inbox.waitFor(kept.id), { status: "answered", values: { go: true } });
  const again = await inbox.keepQuestion({ fields }, { key: "release-7" });
  assert.equal(again.record.state, "settled");
  await assert.rejects(inbox.withdrawQuestion(kept.id), refused("conflict", 409));

  const withdrawn = await inbox.keepQuestion({ fields, timeoutMs: 60_000 });
  assert.ok(withdrawn.deadline);
  await inbox.withdrawQuestion(withdrawn.id);
  await inbox.withdrawQuestion(withdrawn.id);
  assert.equal((await inbox.waitFor(withdrawn.id)).status, "rejected");
  const held = inbox.ask({ fields, message: "Held?" });
  const question = await next(inbox, "Held?");
  await assert.rejects(inbox.withdrawQuestion(question.id), refused("held", 409));
  await question.reply({ go: false });
  assert.deepEqual(await held, { values: { go: false } });
});

test("a permission is allowed only by name of what allows it", async () => {
  const inbox = machine.client();
  const agent = machine.agent("dangerous");
  const permission = await next(inbox, "", "onPermission");
  assert.ok(permission instanceof Permission);
  assert.match(permission.subject.command, /rm -rf/);
  assert.ok(permission.needsConfirmation);
  await assert.rejects(permission.allow(), refused("needs_confirmation"));
  await assert.rejects(permission.allow({ dangerous: true, option: "no" }), refused("no_such_option"));
  const rejecting = permission.options.find(({ role }) => role === "reject_once").value;
  await assert.rejects(permission.allow({ dangerous: true, option: rejecting }), refused("no_such_option"));
  await permission.allow({ dangerous: true });
  await until("answer", () => /selected allow/.test(agent.said), () => agent.said);
  agent.stdin.end();

  const other = machine.agent("permission");
  await (await next(inbox, "", "onPermission")).reject("not here");
  await until("answer", () => /Permission: selected reject/.test(other.said), () => other.said);
  other.stdin.end();
});

test("events begin with what is open", async () => {
  const inbox = machine.client();
  const first = machine.ask("First?");
  const question = await next(inbox, "First?");
  const types = [];
  for await (const event of inbox.events()) {
    types.push(event.type);
    if (event.type === "snapshot") await question.reply({ q0: "a" });
    if (event.type === "resolved") break;
  }
  assert.deepEqual(types.filter(type => type !== "changed"), ["requested", "snapshot", "resolved"]);
  await first.ended;
  const signal = AbortSignal.timeout(50);
  await assert.rejects(async () => {
    for await (const event of inbox.events({ signal })) assert.equal(event.type, "snapshot");
  }, { name: "TimeoutError" });
});

test("listeners filter, stop, and do not disturb each other", async () => {
  const inbox = machine.client();
  const heard = [];
  const abort = new AbortController();
  inbox.onQuestion(() => heard.push("elsewhere"), { project: "/nowhere", signal: abort.signal });
  inbox.onQuestion(() => heard.push("machine"), { machine: "box", signal: abort.signal });
  inbox.onQuestion(() => heard.push("here"), { machine: "", project: machine.home, signal: abort.signal });
  const stop = inbox.onQuestion(() => heard.push("stopped"));
  stop();
  const child = machine.ask("Who hears?");
  const question = await next(inbox, "Who hears?");
  assert.deepEqual(heard, ["here"]);
  inbox.onQuestion(() => heard.push("late"), { signal: abort.signal });
  await until("late listener", () => heard.includes("late"), () => heard);
  abort.abort();
  await question.reply({ q0: "a" });
  await child.ended;
  inbox.onQuestion(() => heard.push("aborted"), { signal: abort.signal });
  assert.deepEqual(heard, ["here", "late"]);
});

test("a wrong token ends it, and a changed one does not", async () => {
  const wrong = new Askbridge({ url: machine.url, token: "0".repeat(64) });
  await assert.rejects(wrong.questions(), refused("wrong_token", 401));
  const error = await new Promise(resolve => wrong.onQuestion(() => {}, { onError: resolve }));
  refused("wrong_token", 401)(error);
  await assert.rejects(wrong.waitFor("a-1"), refused("wrong_token", 401));

  let calls = 0;
  const changing = new Askbridge(() => ({ url: machine.url, token: calls++ ? machine.token : "0".repeat(64) }));
  assert.deepEqual(await changing.questions(), []);
  assert.equal(calls, 2);
});

test("the inbox of this machine is found, also after it has moved and changed its token", async () => {
  const other = new Machine();
  try {
    await assert.rejects(Local.local({ folder: other.folder }), refused("no_inbox"));
    await other.start();
    const inbox = await Local.local({ folder: other.folder });
    const heard = [];
    const stop = inbox.onQuestion(({ text }) => heard.push(text));
    const first = other.ask("Before?");
    await until("question", () => heard.length === 1, () => heard);
    await other.kill();
    other.port = undefined;
    writeFileSync(join(other.folder, "token"), `${"a1".repeat(32)}\n`);
    await other.start();
    const second = other.ask("After?");
    await until("question", () => heard.length === 2, () => heard);
    for (const question of await inbox.questions()) await question.reply({ q0: "a" });
    assert.deepEqual(await Promise.all([first.ended, second.ended]), [0, 0]);
    assert.deepEqual(heard, ["Before?", "After?"]);
    stop();
  } finally {
    await other.end();
  }
});

test(`two clients and a person decide at once, ${RACES} times, and one of them counts`, { timeout: 60_000 + RACES * 2_000 }, async () => {
  const clients = { a: machine.client(), b: machine.client() };
  const won = { a: 0, b: 0, c: 0 };
  const options = Object.keys(won).map(value => ({ value, label: value }));
  for (let race = 0; race < RACES; race++) {
    const text = `Who is first in ${race}?`;
    // The inbox holds the question, and remembers how it ended.
    const asked = machine.client().ask({ fields: [{ name: "q0", label: text, kind: "choice", options }] });
    const { id } = await next(clients.a, text);
    // The command takes a while to start, so the others wait for as long in some races.
    const person = machine.spawn(["answer", id, "c"]);
    const pause = race % 2 ? (race * 37) % 150 : 0;
    const decide = async value => {
      await sleep(pause);
      await clients[value].replyQuestion(id, { q0: value });
    };
    const order = race % 4 < 2 ? ["a", "b"] : ["b", "a"];
    const decided = await Promise.allSettled(order.map(decide));
    const code = await person.ended;
    const { q0: counts } = (await asked).values;
    won[counts]++;
    const outcome = { status: "answered", values: { q0: counts } };
    assert.deepEqual(await clients.b.waitFor(id), outcome);
    for (const [place, { status, reason }] of decided.entries()) {
      if (order[place] === counts) assert.equal(status, "fulfilled", String(reason));
      else assert.deepEqual([reason?.name, reason?.outcome], ["conflict", outcome], String(reason));
    }
    assert.equal(code, counts === "c" ? 0 : 4, person.said);
  }
  console.log(`won by the first client, the second and the person: ${Object.values(won)}`);
});

test("a client whose token has changed fails, and one that finds the new token goes on", async () => {
  const other = await new Machine().start();
  try {
    const fixed = other.client();
    const finding = new Askbridge(() => ({ url: other.url, token: other.token }));
    const heard = [];
    const stop = finding.onQuestion(({ text }) => heard.push(text));
    const failed = new Promise(resolve => fixed.onQuestion(() => {}, { onError: resolve }));
    const child = other.ask("Before?");
    await until("question", () => heard.length === 1, () => heard);
    await other.kill();
    writeFileSync(join(other.folder, "token"), `${"b2".repeat(32)}\n`);
    await other.start();
    refused("wrong_token", 401)(await failed);
    await assert.rejects(fixed.questions(), refused("wrong_token", 401));
    const [{ id }] = await until("question", async () => {
      const questions = await finding.questions();
      return questions.length && questions;
    });
    await finding.replyQuestion(id, { q0: "a" });
    assert.equal(await child.ended, 0);
    assert.deepEqual(heard, ["Before?"]);
    stop();
  } finally {
    await other.end();
  }
});
