// What is of Telegram alone: fields one after another, updates that come late or in another order, photos, errors.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ChatError } from "../dist/adapter.js";
import { Telegram as Adapter } from "../dist/telegram/adapter.js";
import { converse } from "./conversations.js";
import { until } from "./machine.js";
import { png } from "./multipart.js";
import { Telegram, TOKEN } from "./telegram.js";

function alone(telegram, { machine, seen, newest, button, told, answers }) {
  test("a form goes field by field", async () => {
    const agent = machine.agent("fields question");
    const first = await newest("1. Postgres");
    telegram.tap("ben", first, "1. Postgres");
    await button(first, "☐ 1. Auth");
    telegram.tap("ben", first, "☐ 1. Auth");
    await button(first, "☑ 1. Auth");
    telegram.tap("ben", first, "Done");
    await until("the last field", () => /3 of 3/.test(first.text), seen);
    telegram.reply("ben", first, "With care");
    await button(first, "Send");
    telegram.tap("ben", first, "Send");
    await answers(agent, /With care/);
  });

  test("a tap on a message that nobody knows takes its buttons", async () => {
    const stray = { message_id: 5, date: 1, chat: { id: -100, type: "supergroup", title: "Team" }, text: "old", reply_markup: { inline_keyboard: [[{ text: "a", callback_data: "AAAAAAAAAAAA.0.o0.0" }]] } };
    telegram.messages.set("-100:5", { ...stray, edits: 0 });
    await told("ben", telegram.tap("ben", stray, "a"), "Too late");
    await until("no buttons", () => !telegram.buttons(telegram.messages.get("-100:5")).length);
  });
}

function trouble(telegram, on) {
  const { machine, shown } = on;

  test("connections that break, and updates in another order, lose no tap", async () => {
    await on.start();
    const child = machine.ask("Broken?", ["a", "b"], ["--many"]);
    const message = await shown("Broken?");
    telegram.server.closeAllConnections();
    const [toggle, send] = [telegram.tap("ben", message, "☐ a"), telegram.tap("ben", message, "Send")];
    // Both wait at the server, until the bot asks again.
    telegram.updates.reverse();
    await on.told("ben", send, "Choose at least 1.");
    await until("an answer", () => telegram.told("ben", toggle).length, on.seen);
    telegram.tap("ben", message, "Send");
    assert.equal(await child.ended, 0);
    await machine.stopBot(on.bot);
  });

  test("doctor names the chat with one person", async () => {
    machine.set(telegram.settings(["1"]));
    assert.match(await on.doctor(0), /ok +the bot may write in the chat with Ben/);
  });
}

converse(() => new Telegram(), alone, trouble);

test("a change that is too long comes as a file, a topic of a group is written to, and each error has a sentence", async () => {
  const telegram = await new Telegram().start();
  const adapter = new Adapter({ token: TOKEN, apiRoot: telegram.url });
  const card = { blocks: [{ kind: "text", inlines: [{ text: "Edit" }] }], rows: [], file: { name: "a-1.diff", text: "-a\n+b\n" } };
  const ref = await adapter.post({ chat: "-100/12", card, once: "x", above: "7" });
  const [message] = telegram.calls;
  assert.deepEqual([message.params.chat_id, message.params.message_thread_id, message.params.reply_parameters.message_id], ["-100", 12, 7]);
  assert.deepEqual(message.params.link_preview_options, { is_disabled: true });
  assert.deepEqual(telegram.images.map(({ name, bytes, above }) => [name, bytes.toString(), above]), [["a-1.diff", "-a\n+b\n", Number(ref)]]);
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
    [[400, "Bad Request: message to be replied not found"], "gone", /deleted/],
  ]) {
    telegram.next = [["sendMessage", error]];
    const seen = await adapter.post({ chat: "1", card, once: "y" }).catch(caught => caught);
    assert.ok(seen instanceof ChatError, `${error}`);
    assert.equal(seen.kind, kind, `${error}`);
    assert.match(seen.message, words);
    assert.ok(!seen.message.includes(TOKEN));
    if (kind === "rate") assert.equal(seen.retryAfterMs, 35_000);
  }
  await telegram.check();
  telegram.end();
});

test("an image is a photo where Telegram shows all of it, and a file otherwise", async () => {
  const telegram = await new Telegram().start();
  const adapter = new Adapter({ token: TOKEN, apiRoot: telegram.url });
  const above = await adapter.post({ chat: "-100/12", card: { blocks: [], rows: [] }, once: "x" });
  const attach = (width, height, type = "image/png", more = 0, to = above) => {
    const bytes = new Uint8Array(png(width, height, more));
    return adapter.attach({ chat: "-100/12", above: to, once: "i", caption: "Image 1", bytes, image: { name: "image-1.png", type, width, height } });
  };
  await attach(2_560, 1_440);
  await attach(4_000, 3_000);
  await attach(10, 2_000);
  await attach(100, 100, "image/gif");
  await attach(100, 100, "image/png", 10_000_000);
  // Telegram is the judge of what it takes as a photo.
  telegram.next = [["sendPhoto", [400, "Bad Request: IMAGE_PROCESS_FAILED"]]];
  const last = await attach(100, 100);
  assert.deepEqual(telegram.images.map(({ isPhoto }) => isPhoto), [true, false, false, false, false, false]);
  const { params } = telegram.calls.find(({ method }) => method === "sendPhoto");
  assert.deepEqual([params.chat_id, params.message_thread_id, params.reply_parameters, params.caption], ["-100", 12, { message_id: Number(above) }, "Image 1"]);
  for (const [error, kind, to] of [[undefined, "gone", "999"], [[429, "Too Many Requests: retry after 3", { retry_after: 3 }], "rate"], [[400, "Bad Request: not enough rights to send photos to the chat"], "forbidden"]]) {
    if (error) telegram.next = [["sendPhoto", error]];
    assert.equal((await attach(1, 1, "image/png", 0, to).catch(caught => caught)).kind, kind);
  }
  await adapter.detach("-100/12", last);
  assert.equal(telegram.images.length, 5);
  await telegram.check();
  telegram.end();
});
