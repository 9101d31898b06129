// What every chat does alike, as conversations of persons with the bot as a program, the real inbox and mock agents. A chat
// is a stand-in with these members; what is of one chat only is in the test of that chat.
//
// - `name`, `kind`, `room` and `people` are what the bot and the settings call them; `settings(chats, more)` writes a file.
// - `all()`, `find(words)`, `shown(message)`, `buttons(message)`, `above(message)`, `refOf(message)`, `images`: what is there.
// - `tap`, `reply`, `fill`, `remove`: what persons do. `again()` sends it once more; `told(who, tap)` is what they were told.
// - `plan(what, how)` lets the next `post` or `attach` fail: `busy`, `down` or `refused`. `putOut(isOut)` and `revoke(isRevoked)`
//   take the bot's rights. `times(what)` says when it was done. `check()` compares all that was sent with the published types.
// - `words` has the sentences of the bot's log; `secrets` must not be in it.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Machine, until } from "./machine.js";
import { png } from "./multipart.js";

/** An inbox, a bot and a chat for the tests of one block. */
function stage(chat, { isConnected = false } = {}) {
  const machine = new Machine();
  const on = {
    machine,
    seen: () => [chat.all().map(message => [chat.shown(message), chat.buttons(message)]), on.bot?.said],
    shown: words => until(words, () => chat.find(words), on.seen),
    newest: label => until(label, () => chat.all().findLast(one => chat.buttons(one).includes(label)), on.seen),
    button: (message, label) => until(label, () => chat.buttons(message).includes(label), on.seen),
    told: (who, tap, words) => until(`${who} to be told ${words}`, () => chat.told(who, tap).find(text => text.includes(words)), () => [chat.told(who, tap), on.seen()]),
    says: (words, bot = on.bot) => until(words, () => bot.said.includes(words), () => bot.said),
    answers: (child, words) => until("the answer", () => words.test(child.said), () => [child.said, on.seen()]),
    start: async () => (on.bot = await machine.connected(chat.kind)),
    doctor: async code => {
      const found = machine.bot(["doctor", chat.kind]);
      assert.equal(await found.ended, code, found.said);
      return found.said;
    },
    isKept: count => until("the names of the messages", () => machine.state(chat.kind)?.questions.filter(({ over }) => over === undefined).length === count, on.seen),
  };
  before(async () => {
    await Promise.all([machine.start(), chat.start()]);
    machine.set(chat.settings());
    if (isConnected) await on.start();
  });
  after(async () => {
    await machine.end();
    chat.end();
  });
  return on;
}

/** Nothing of the bot's log is a secret. */
function noSecrets(chat, { machine }) {
  for (const { said } of machine.bots) for (const secret of chat.secrets) assert.ok(!said.includes(secret), said);
}

function conversations(chat, on) {
  const { machine, seen, shown, newest, button, told, answers } = on;
  /** What says nothing of itself takes a second tap. */
  const allow = async (message, agent) => {
    chat.tap("ben", message, "Allow");
    const second = await newest("Yes: Allow");
    assert.ok(chat.shown(second).includes("Image 1: PNG"), chat.shown(second));
    chat.tap("ben", second, "Yes: Allow");
    await answers(agent, /"optionId":"a"/);
    await until("no buttons", () => ![message, second].some(one => chat.buttons(one).length), seen);
  };

  test("a question is answered by a tap, and a late tap is told so", async () => {
    const child = machine.ask("Which **database**?", ["SQLite", "Postgres"]);
    const message = await shown("Which database?");
    assert.deepEqual(chat.buttons(message), ["SQLite", "Postgres", "Reject", "I answer this"]);
    const late = structuredClone(message);
    const tap = chat.tap("ben", message, "Postgres");
    assert.equal(await child.ended, 0);
    assert.match(child.said, /Postgres/);
    await told("ben", tap, "Sent.");
    await shown(`Answered by Ben in ${chat.name}: Postgres`);
    assert.deepEqual(chat.buttons(message), []);
    await told("ada", chat.tap("ada", late, "SQLite"), `Too late. Answered by Ben in ${chat.name}`);
    assert.match(await machine.history(), new RegExp(`answered by JSON-RPC \\(Ben in ${chat.name}\\): Postgres`));
  });

  test("who is not in the list is told no, and nothing happens", async () => {
    const child = machine.ask("Who asks?", ["a"]);
    const message = await shown("Who asks?");
    await told("eve", chat.tap("eve", message, "a"), "You may not answer here.");
    assert.ok(chat.buttons(message).includes("a"));
    await on.says(`user ${chat.people.eve.id} in chat ${chat.room}`);
    chat.tap("ben", message, "Reject");
    assert.notEqual(await child.ended, 0);
  });

  test("what is dangerous takes a second message, and keeps the others from it meanwhile", async () => {
    const agent = machine.agent("dangerous");
    const message = await shown("rm -rf build");
    chat.tap("ben", message, "Allow once");
    const second = await shown("Allow once? Read all of it first.");
    assert.equal(chat.above(second), chat.refOf(message));
    for (const words of ["rm -rf build", "Remove the build folder", "This can do harm"]) assert.ok(chat.shown(second).includes(words), chat.shown(second));
    await until("who answers", () => chat.shown(message).includes("Ben is answering."), seen);
    await told("ada", chat.tap("ada", second, "Yes: Allow once"), "Ben is answering.");
    assert.ok(!/Permission: selected/.test(agent.said));
    chat.tap("ben", second, "Yes: Allow once");
    await answers(agent, /Permission: selected allow-once/);
    await until("no buttons", () => [message, second].every(one => !chat.buttons(one).length), seen);
  });

  test("a text in reply", async () => {
    const agent = machine.agent("free question");
    const asked = await shown("Reply to this message with your answer");
    chat.reply("ben", asked, "Ship it <b>now</b> & soon");
    await answers(agent, /Ship it <b>now<\/b> & soon/);
    await until("no buttons", () => !chat.buttons(asked).length, seen);
  });

  if (chat.forms) {
    test("a text, and a form, by the form of a button", async () => {
      const agent = machine.agent("free question");
      chat.tap("ben", await newest("Write …"), "Write …");
      await until("the form", () => chat.forms.length, seen);
      chat.fill("ben", ["By the form"]);
      await answers(agent, /By the form/);

      const other = machine.agent("fields question");
      const count = chat.forms.length;
      chat.tap("ben", await newest("Fill in …"), "Fill in …");
      await until("the form", () => chat.forms[count], seen);
      chat.fill("ben", ["Postgres", ["Auth"], "With care"]);
      await answers(other, /With care/);
      for (const words of [/Postgres/i, /auth/i]) assert.match(other.said, words);
    });
  }

  test("several choices are toggles; what comes twice, or late, counts once", async () => {
    const child = machine.ask("Twice?", ["a", "b"], ["--many"]);
    const message = await shown("Twice?");
    chat.tap("ben", message, "☐ a");
    const again = chat.again();
    await button(message, "☑ a");
    again();
    chat.tap("ben", message, "☐ b");
    await button(message, "☑ b");
    // Three times in all: each of them would have turned it over.
    again();
    again();
    chat.tap("ben", message, "Send");
    assert.equal(await child.ended, 0);
    assert.match(child.said, /^a, b$|^a\nb$/m);
  });

  test("what is decided elsewhere, or taken back, is said, and its buttons are gone", async () => {
    const inbox = machine.client();
    const child = machine.ask("Elsewhere?", ["a"]);
    const message = await shown("Elsewhere?");
    const [question] = await inbox.questions();
    await question.reply({ q0: "a" });
    await shown("Answered over HTTP: a");
    assert.deepEqual(chat.buttons(message), []);
    await child.ended;

    const withdrawn = machine.ask("Withdrawn?", ["a"]);
    const other = await shown("Withdrawn?");
    withdrawn.kill("SIGINT");
    await until("the end", () => /took it back/.test(chat.shown(other)), seen);
  });

  test("images are there before the buttons that allow", async () => {
    const images = [png(640, 480), png(2, 3, 40_000)];
    const agent = machine.publishes(images);
    const message = await newest("Allow");
    const told = chat.shown(message);
    for (const words of ["Image 1: PNG, 640×480, shots/1.png", "Image 2: PNG, 2×3, shots/2.png"]) assert.ok(told.includes(words), told);
    const there = chat.images.filter(({ above }) => above === chat.refOf(message));
    assert.deepEqual(there.map(({ bytes }) => images.findIndex(image => image.equals(bytes))), [0, 1]);
    await allow(message, agent);
  });

  test("an image that the chat does not take is named, and nothing is allowed then", async () => {
    chat.plan("attach", "refused");
    const agent = machine.publishes([png(4, 4)]);
    const message = await shown("1 image is not shown here.");
    assert.deepEqual(chat.buttons(message), ["Reject", "I answer this"]);
    await on.says(chat.words.imageRefused);
    chat.tap("ben", message, "Reject");
    await answers(agent, /"(cancelled|optionId":"r)"/);
  });

  test("a bot that is killed while an image waits posts message and image once", async () => {
    const images = chat.images.length;
    chat.plan("attach", "busy");
    const agent = machine.publishes([png(5, 5)]);
    const message = await shown("1 image is on its way.");
    assert.deepEqual(chat.buttons(message), ["Reject", "I answer this"]);
    await on.isKept(1);
    on.bot.kill("SIGKILL");
    await on.bot.ended;
    const posted = chat.all().length;
    await on.start();
    await button(message, "Allow");
    assert.deepEqual([chat.images.length, chat.all().length], [images + 1, posted]);
    await allow(message, agent);
  });

  test("the IDs that the settings need are told", async () => {
    for (const words of chat.askForIds()) await shown(words);
  });

  test("the bot and the inbox start again, and nothing is posted twice", async () => {
    const inbox = machine.client();
    const fields = [{ name: "q0", label: "Still there?", kind: "boolean", required: true }];
    const kept = await inbox.keepQuestion({ fields, message: "" }, { key: "kept" });
    const gone = await inbox.keepQuestion({ fields: [{ ...fields[0], label: "Gone soon?" }] }, { key: "gone" });
    const [first, second] = [await shown("Still there?"), await shown("Gone soon?")];
    await on.isKept(2);
    const posted = chat.times("post").length;
    on.bot.kill("SIGKILL");
    await on.bot.ended;
    await inbox.rejectQuestion(gone.id);
    await on.start();
    await until("the end", () => /Rejected over HTTP/.test(chat.shown(second)), seen);
    await machine.kill();
    await machine.start();
    await on.says("the inbox is back");
    chat.tap("ben", first, "Yes");
    assert.deepEqual(await inbox.waitFor(kept.id), { status: "answered", values: { q0: true } });
    await until("the end", () => /Answered by Ben/.test(chat.shown(first)), seen);
    assert.equal(chat.times("post").length, posted);
  });
}

function troubles(chat, on) {
  const { machine, shown, doctor } = on;
  const allowing = message => chat.buttons(message).filter(label => label !== "I answer this");

  test("429, a failure of the server and a message that is refused lose no question", async () => {
    await on.start();
    chat.plan("post", "busy");
    chat.plan("post", "down");
    const child = machine.ask("Busy?", ["a"]);
    const message = await shown("Busy?");
    await on.says(chat.words.down);
    const times = chat.times("post");
    assert.ok(times[1] - times[0] >= 950, `${times}`);
    chat.tap("ben", message, "a");
    assert.equal(await child.ended, 0);

    chat.plan("post", "refused");
    const long = machine.ask("Too long?", ["a"]);
    assert.deepEqual(allowing(await shown("Decide at a computer")), []);
    await on.says(chat.words.refused);
    long.kill("SIGINT");
    await machine.stopBot(on.bot);
  });

  test("a bot that was put out says so, and posts once it is back", async () => {
    chat.putOut(true);
    await on.start();
    const child = machine.ask("Kicked?", ["a"]);
    await on.says(chat.words.out);
    assert.match(await doctor(1), chat.words.outDoctor);
    chat.putOut(false);
    await machine.stopBot(on.bot);
    await on.start();
    chat.tap("ben", await shown("Kicked?"), "a");
    assert.equal(await child.ended, 0);
    await machine.stopBot(on.bot);
  });

  test("a message that a person deleted is posted again while its question is open", async () => {
    await on.start();
    const child = machine.ask("Deleted?", ["a", "b"], ["--many"]);
    const message = await shown("Deleted?");
    const before = structuredClone(message);
    chat.remove(message);
    // Not each chat tells it: it is noticed when the message changes.
    chat.tap("ben", before, "☐ a");
    const other = await shown("Deleted?");
    await on.button(other, "☑ a");
    chat.tap("ben", other, "Send");
    assert.equal(await child.ended, 0);
    await machine.stopBot(on.bot);
  });

  test("a revoked token ends the bot with a clear sentence", async () => {
    await on.start();
    chat.revoke(true);
    const child = machine.ask("Revoked?", ["a"]);
    assert.equal(await on.bot.ended, 1);
    assert.ok(on.bot.said.includes(chat.words.revoked), on.bot.said);
    assert.match(await doctor(1), new RegExp(`${chat.kind} +problem +${chat.words.revoked}`));
    chat.revoke(false);
    await on.start();
    chat.tap("ben", await shown("Revoked?"), "a");
    assert.equal(await child.ended, 0);
    await machine.stopBot(on.bot);
  });

  test("a second bot is refused, and doctor finds nothing wrong", async () => {
    await on.start();
    const second = machine.bot(chat.kind);
    assert.equal(await second.ended, 1);
    assert.match(second.said, /another askbridge-chat runs already/);
    assert.match(await doctor(0), chat.words.well);
    assert.equal(await machine.stopBot(on.bot), 0);
  });
}

/** Comes last: all that was sent has the published types, and no token is in the log. */
function wellSent(chat, on, least) {
  test("all that was sent has the published types, and no token is in the log", async () => {
    const count = await chat.check();
    assert.ok(count > least, `${count} values`);
    noSecrets(chat, on);
  });
}

/** All conversations with a chat. `more` and `moreTrouble` add what is of this chat only. */
export function converse(make, more = () => {}, moreTrouble = () => {}) {
  for (const [what, isConnected, all, own, least] of [["in a room", true, conversations, more, 30], ["in trouble", false, troubles, moreTrouble, 10]]) {
    describe(what, () => {
      const chat = make();
      const on = stage(chat, { isConnected });
      all(chat, on);
      own(chat, on);
      wellSent(chat, on, least);
    });
  }
}
