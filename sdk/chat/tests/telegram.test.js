// The bot as a program, with the real inbox, mock agents, and a stand-in for Telegram.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { ChatError } from "../dist/adapter.js";
import { Telegram as Adapter } from "../dist/telegram/adapter.js";
import { Machine, until } from "./machine.js";
import { Telegram, TOKEN } from "./telegram.js";

const settings = ({ url }, more = "") => `text = "all"
${more}
[telegram]
token = "${TOKEN}"
api-root = "${url}"
pace = "0"
chats = ["1"]
users = { "1" = "Ben" }
`;

describe("in a chat with one person", () => {
  const machine = new Machine();
  const telegram = new Telegram();
  let bot;
  before(async () => {
    await Promise.all([machine.start(), telegram.start()]);
    machine.set(settings(telegram));
    bot = await machine.connected("telegram");
  });
  after(async () => {
    await machine.end();
    telegram.end();
  });
  const shown = words => until(words, () => telegram.find(words), () => [[...telegram.messages.values()].map(({ text }) => text), bot.said]);
  const told = id => until("an answer to the tap", () => telegram.told(id) !== undefined && { text: telegram.told(id) }, () => telegram.calls);

  test("a question is answered by a tap, and a late tap is told so", async () => {
    const child = machine.ask("Which **database**?", ["SQLite", "Postgres"]);
    const message = await shown("Which database?");
    assert.deepEqual(telegram.buttons(message), ["SQLite", "Postgres", "Reject"]);
    const late = { ...message };
    const tap = telegram.tap("ben", message, "Postgres");
    assert.equal(await child.ended, 0);
    assert.match(child.said, /Postgres/);
    assert.equal((await told(tap)).text, "Sent.");
    await shown("Answered by Ben in Telegram: Postgres");
    assert.deepEqual(telegram.buttons(message), []);
    assert.match((await told(telegram.tap("ben", late, "SQLite"))).text, /^Too late\. Answered by Ben in Telegram/);
    assert.match(await machine.history(), /answered by JSON-RPC \(Ben in Telegram\): Postgres/);
  });

  test("who is not in the list is told no, and nothing happens", async () => {
    const child = machine.ask("Who asks?", ["a"]);
    const message = await shown("Who asks?");
    assert.equal((await told(telegram.tap("eve", message, "a"))).text, "You may not answer here.");
    assert.deepEqual(telegram.buttons(message), ["a", "Reject"]);
    await until("a line in the log", () => /user 9 in chat 1/.test(bot.said), () => bot.said);
    await told(telegram.tap("ben", message, "Reject"));
    assert.notEqual(await child.ended, 0);
  });

  test("what is dangerous takes a second message", async () => {
    const agent = machine.agent("dangerous");
    const message = await shown("rm -rf build");
    await told(telegram.tap("ben", message, "Allow once"));
    const second = await shown("Allow once? Read all of it first.");
    assert.equal(second.above, message.message_id);
    for (const words of ["rm -rf build", "Remove the build folder", "This can do harm"]) assert.ok(second.text.includes(words), second.text);
    assert.ok(!/Permission: selected/.test(agent.said));
    await told(telegram.tap("ben", second, "Yes: Allow once"));
    await until("the answer", () => /Permission: selected allow-once/.test(agent.said), () => agent.said);
    await until("no buttons", () => [message, second].every(one => !telegram.buttons(telegram.messages.get(`1:${one.message_id}`)).length));
  });

  test("a text, toggles and a form", async () => {
    const free = machine.agent("free question");
    const asked = await until("the question", () => [...telegram.messages.values()].find(({ text }) => text.includes("Reply to this message with your answer")), () => [...telegram.messages.values()].map(({ text }) => text));
    telegram.write("ben", 1, "Ship it <b>now</b>", asked);
    await until("the answer", () => free.said.includes("Ship it <b>now</b>"), () => free.said);

    const form = machine.agent("fields question");
    const first = await until("the form", () => [...telegram.messages.values()].find(message => telegram.buttons(message).includes("1. Postgres")), () => [...telegram.messages.values()].map(({ text }) => text));
    await told(telegram.tap("ben", first, "1. Postgres"));
    await until("toggles", () => telegram.buttons(first).includes("☐ 1. Auth"), () => telegram.buttons(first));
    await told(telegram.tap("ben", first, "☐ 1. Auth"));
    await until("the mark", () => telegram.buttons(first).includes("☑ 1. Auth"), () => telegram.buttons(first));
    await told(telegram.tap("ben", first, "Done"));
    await until("the last field", () => /3 of 3/.test(first.text), () => first.text);
    telegram.write("ben", 1, "With care", first);
    await until("Send", () => telegram.buttons(first).includes("Send"), () => first.text);
    await told(telegram.tap("ben", first, "Send"));
    await until("the answer", () => /With care/.test(form.said), () => form.said);
  });

  test("what is decided elsewhere, or taken back, is said, and its buttons are gone", async () => {
    const inbox = machine.client();
    const child = machine.ask("Elsewhere?", ["a"]);
    const message = await shown("Elsewhere?");
    const [question] = await inbox.questions();
    await question.reply({ q0: "a" });
    await shown("Answered over HTTP: a");
    assert.deepEqual(telegram.buttons(message), []);
    await child.ended;

    const withdrawn = machine.ask("Withdrawn?", ["a"]);
    const other = await shown("Withdrawn?");
    withdrawn.kill("SIGINT");
    await until("the end", () => /took it back/.test(other.text), () => other.text);
  });

  test("the IDs that the settings need are told", async () => {
    telegram.write("eve", 9, "/start");
    await shown("Your ID is 9. The ID of this chat is 9.");
  });

  test("updates that come twice count once", async () => {
    const child = machine.ask("Twice?", ["a", "b"], ["--many"]);
    const message = await shown("Twice?");
    const tap = telegram.tap("ben", message, "☐ a");
    const update = telegram.sent.at(-1);
    await told(tap);
    telegram.repeat(update);
    await until("the mark", () => telegram.buttons(message).includes("☑ a"));
    telegram.repeat(update);
    await told(telegram.tap("ben", { ...message }, "Send"));
    assert.equal(await child.ended, 0);
    assert.match(child.said, /^a$/m);
  });

  test("the bot and the inbox start again, and nothing is posted twice", async () => {
    const inbox = machine.client();
    const posted = () => telegram.calls.filter(({ method }) => method === "sendMessage").length;
    const fields = [{ name: "q0", label: "Still there?", kind: "boolean", required: true }];
    const kept = await inbox.keepQuestion({ fields, message: "" }, { key: "kept" });
    const gone = await inbox.keepQuestion({ fields: [{ ...fields[0], label: "Gone soon?" }] }, { key: "gone" });
    const [first, second] = [await shown("Still there?"), await shown("Gone soon?")];
    await until("its name", () => machine.state("telegram").questions.filter(({ over }) => over === undefined).length === 2);
    const before = posted();
    bot.kill("SIGKILL");
    await bot.ended;
    await inbox.rejectQuestion(gone.id);
    bot = await machine.connected("telegram");
    await until("the end", () => /Rejected over HTTP/.test(second.text), () => second.text);
    await machine.kill();
    await machine.start();
    await until("the inbox", () => /the inbox is back/.test(bot.said), () => bot.said);
    await told(telegram.tap("ben", first, "Yes"));
    assert.deepEqual(await inbox.waitFor(kept.id), { status: "answered", values: { q0: true } });
    assert.equal(posted(), before);
    await until("the end", () => /Answered by Ben/.test(first.text), () => first.text);
    assert.equal(telegram.find("Still there?").message_id, first.message_id);
  });

  test("a tap on a message that nobody knows takes its buttons", async () => {
    const stray = { message_id: 5, date: 1, chat: { id: 1, type: "private", first_name: "Ben" }, from: undefined, text: "old", reply_markup: { inline_keyboard: [[{ text: "a", callback_data: "AAAAAAAAAAAA.0.o0.0" }]] } };
    telegram.messages.set("1:5", { ...stray, edits: 0 });
    delete stray.from;
    assert.match((await told(telegram.tap("ben", stray, "a"))).text, /Too late/);
    await until("no buttons", () => !telegram.buttons(telegram.messages.get("1:5")).length);
  });

  test("all that was sent has the published types, and no token is in the log", async () => {
    const count = await telegram.check();
    assert.ok(count > 30, `${count} values`);
    assert.ok(!bot.said.includes(TOKEN.split(":")[1]), bot.said);
  });
});

test("a change that is too long comes as a file, a topic of a group is written to, and each error has a sentence", async () => {
  const telegram = await new Telegram().start();
  const adapter = new Adapter({ token: TOKEN, apiRoot: telegram.url });
  const card = { blocks: [{ kind: "text", inlines: [{ text: "Edit" }] }], rows: [], file: { name: "a-1.diff", text: "-a\n+b\n" } };
  const ref = await adapter.post({ chat: "-100/12", card, once: "x", above: "7" });
  const [message, file] = telegram.calls;
  assert.deepEqual([message.params.chat_id, message.params.message_thread_id, message.params.reply_parameters.message_id], ["-100", 12, 7]);
  assert.deepEqual(message.params.link_preview_options, { is_disabled: true });
  for (const part of ['a-1.diff', "-a\n+b\n", ref]) assert.ok(file.body.includes(part), `${part} in ${file.body}`);
  // The same again is no error, and nothing is told twice.
  await adapter.edit("-100/12", ref, { ...card, file: undefined });

  for (const [error, kind, words] of [
    [[400, "Bad Request: chat not found"], "forbidden", /let the person write \/start/],
    [[403, "Forbidden: bot was blocked by the user"], "forbidden", /bot was blocked/],
    [[400, "Bad Request: group chat was upgraded to a supergroup chat", { migrate_to_chat_id: -1009 }], "forbidden", /set -1009 in its place/],
    [[409, "Conflict: terminated by other getUpdates request"], "revoked", /another program uses this bot/],
    [[401, "Unauthorized"], "revoked", /@BotFather/],
    [[500, "Internal Server Error"], "passing", /trying again/],
    [[429, "Too Many Requests: retry after 35", { retry_after: 35 }], "rate", /no more messages/],
    [[400, "Bad Request: BUTTON_DATA_INVALID"], "refused", /less of it is posted/],
    [[400, "Bad Request: message can't be edited"], "gone", /deleted/],
  ]) {
    telegram.next = [["sendMessage", error]];
    const seen = await adapter.post({ chat: "1", card, once: "y" }).catch(caught => caught);
    assert.ok(seen instanceof ChatError, `${error}`);
    assert.equal(seen.kind, kind, `${error}`);
    assert.match(seen.message, words);
    assert.ok(!seen.message.includes(TOKEN));
    if (kind === "rate") assert.equal(seen.retryAfterMs, 35_000);
  }
  telegram.end();
});

describe("in trouble", () => {
  const machine = new Machine();
  let telegram;
  before(async () => {
    await machine.start();
    telegram = await new Telegram().start();
    machine.set(settings(telegram));
  });
  after(async () => {
    await machine.end();
    telegram.end();
  });
  const says = (bot, words) => until(words, () => bot.said.includes(words), () => bot.said);

  test("429, a failure of the server and a message that is refused lose no question", async () => {
    const bot = await machine.connected("telegram");
    telegram.next = [["sendMessage", [429, "Too Many Requests: retry after 1", { retry_after: 1 }]], ["sendMessage", [502, "Bad Gateway"]]];
    const child = machine.ask("Busy?", ["a"]);
    const message = await until("the message", () => telegram.find("Busy?"), () => bot.said);
    await says(bot, "Telegram has a problem (Bad Gateway); trying again");
    const times = telegram.calls.filter(({ method }) => method === "sendMessage").map(({ at }) => at);
    assert.ok(times[1] - times[0] >= 950, `${times}`);
    telegram.tap("ben", message, "a");
    assert.equal(await child.ended, 0);

    telegram.next = [["sendMessage", [400, "Bad Request: message is too long"]]];
    const long = machine.ask("Too long?", ["a"]);
    const less = await until("less", () => telegram.find("Decide at a computer"), () => bot.said);
    assert.deepEqual(telegram.buttons(less), []);
    await says(bot, "Telegram does not take a message (Bad Request: message is too long)");
    long.kill("SIGINT");
    await machine.stopBot(bot);
  });

  test("a bot that was put out of the group says so, and posts once it is back", async () => {
    machine.set(settings(telegram).replace('["1"]', '["-100"]'));
    telegram.troubles.set("-100", [403, "Forbidden: bot was kicked from the supergroup chat"]);
    const bot = await machine.connected("telegram");
    const child = machine.ask("Kicked?", ["a"]);
    await says(bot, "the bot may not write in its chat (Forbidden: bot was kicked from the supergroup chat)");
    const doctor = machine.bot(["doctor", "telegram"]);
    assert.equal(await doctor.ended, 1);
    assert.match(doctor.said, /problem +the bot may not write in its chat/);
    telegram.troubles.clear();
    await machine.stopBot(bot);
    const again = await machine.connected("telegram");
    const message = await until("the message", () => telegram.find("Kicked?"), () => again.said);
    telegram.tap("ben", message, "a");
    assert.equal(await child.ended, 0);
    await machine.stopBot(again);
  });

  test("a message that a person deleted is posted again while its question is open", async () => {
    machine.set(settings(telegram));
    const bot = await machine.connected("telegram");
    const child = machine.ask("Deleted?", ["a", "b"], ["--many"]);
    const message = await until("the message", () => telegram.find("Deleted?"), () => bot.said);
    telegram.messages.delete(`1:${message.message_id}`);
    telegram.tap("ben", message, "☐ a");
    const other = await until("another", () => telegram.find("Deleted?"), () => bot.said);
    assert.ok(telegram.buttons(other).includes("☑ a"));
    telegram.tap("ben", other, "Send");
    assert.equal(await child.ended, 0);
    await machine.stopBot(bot);
  });

  test("connections that break, and updates in another order, lose no tap", async () => {
    const bot = await machine.connected("telegram");
    const child = machine.ask("Broken?", ["a", "b"], ["--many"]);
    const message = await until("the message", () => telegram.find("Broken?"), () => bot.said);
    telegram.server.closeAllConnections();
    const [toggle, send] = [telegram.tap("ben", message, "☐ a"), telegram.tap("ben", message, "Send")];
    // Both wait at the server, until the bot asks again.
    telegram.updates.reverse();
    assert.equal(await until("an answer", () => telegram.told(send), () => bot.said), "Choose at least 1.");
    await until("an answer", () => telegram.told(toggle) !== undefined, () => bot.said);
    telegram.tap("ben", message, "Send");
    assert.equal(await child.ended, 0);
    await machine.stopBot(bot);
  });

  test("a revoked token ends the bot with a clear sentence", async () => {
    const bot = await machine.connected("telegram");
    const child = machine.ask("Revoked?", ["a"]);
    await until("the message", () => telegram.find("Revoked?"), () => bot.said);
    telegram.token = "another";
    telegram.push();
    assert.equal(await bot.ended, 1);
    assert.match(bot.said, /Telegram refuses the token: make a new one with @BotFather/);
    const doctor = machine.bot("doctor");
    assert.equal(await doctor.ended, 1);
    assert.match(doctor.said, /telegram +problem +Telegram refuses the token/);
    telegram.token = TOKEN;
    const again = await machine.connected("telegram");
    telegram.tap("ben", telegram.find("Revoked?"), "a");
    assert.equal(await child.ended, 0);
    for (const { said } of machine.bots) assert.ok(!said.includes(TOKEN.split(":")[1]), said);
    await machine.stopBot(again);
  });

  test("a second bot is refused, and doctor finds nothing wrong", async () => {
    const bot = await machine.connected("telegram");
    const second = machine.bot("telegram");
    assert.equal(await second.ended, 1);
    assert.match(second.said, /another askbridge-chat runs already/);
    const doctor = machine.bot("doctor");
    assert.equal(await doctor.ended, 0);
    assert.match(doctor.said, /ok +the inbox is reached.*\n.*ok +the token is that of @inbox_bot\n.*ok +the bot may write in the chat with Ben/);
    assert.equal(await machine.stopBot(bot), 0);
  });

  test("all that was sent has the published types", async () => {
    assert.ok((await telegram.check()) > 10);
  });
});
