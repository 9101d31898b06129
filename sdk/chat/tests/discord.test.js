// What is of Discord alone: sessions that resume, responses within 3 s, buckets, permissions, and how texts are written.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { text } from "../dist/core/card.js";
import { Discord as Adapter } from "../dist/discord/adapter.js";
import { modal } from "../dist/discord/form.js";
import { asksForIds, readReply } from "../dist/discord/hear.js";
import { escape, limits, render } from "../dist/discord/render.js";
import { converse } from "./conversations.js";
import { ALONE, Discord, ME, PEOPLE, read, TEAM, TOKEN } from "./discord.js";
import { until } from "./machine.js";
import { png } from "./multipart.js";
import { cardFor } from "./world.js";

function alone(discord, on) {
  const { machine, seen, shown, newest, told } = on;

  test("a form has the inputs of Discord, and a text that the bot cannot read is told", async () => {
    assert.deepEqual(discord.forms.at(-1).components.map(({ component }) => component.type), [3, 3, 4]);
    machine.agent("free question");
    const asked = await newest("Write …");
    discord.write("ben", TEAM, "", asked);
    await shown("I cannot read this: reply with the mention on");
    discord.tap("ben", asked, "Reject");
  });

  test("a lost connection resumes, with what was done meanwhile; a lost session begins again", async () => {
    for (const how of ["reconnect", "lost"]) {
      const child = machine.ask(`A ${how} connection?`, ["a"]);
      const message = await shown(`A ${how} connection?`);
      const { resumed, identified } = discord;
      discord.disconnect(how);
      discord.tap("ben", message, "a");
      assert.equal(await child.ended, 0);
      assert.deepEqual([discord.resumed, discord.identified], [resumed + 1, identified]);
    }
    const { identified } = discord;
    discord.disconnect("forget");
    await until("a new session", () => discord.identified > identified && discord.sockets.size === 1, seen);
    const child = machine.ask("A new session?", ["a"]);
    discord.tap("ben", await shown("A new session?"), "a");
    assert.equal(await child.ended, 0);
  });

  test("a tap that takes long is heard within 3 s, and told later", async () => {
    const inbox = machine.client();
    const kept = await inbox.keepQuestion({ fields: [{ name: "q0", label: "Slow?", kind: "boolean", required: true }], message: "" }, { key: "slow" });
    const message = await shown("Slow?");
    await on.isKept(1);
    await machine.stopBot(on.bot);
    await machine.kill();
    await on.start();
    const tap = discord.tap("ben", message, "Yes");
    const { response } = await until("a response", () => discord.interactions.get(tap.id).response && discord.interactions.get(tap.id), seen);
    assert.equal(response.type, 6);
    await machine.start();
    await told("ben", tap, "Sent.");
    assert.deepEqual(await machine.client().waitFor(kept.id), { status: "answered", values: { q0: true } });
  });

  test("the bot asks for no privileged intent, and responses have no token", () => {
    for (const { path, authorization } of discord.calls) if (/^\/(interactions|webhooks)/.test(path)) assert.equal(authorization, undefined);
    assert.equal(discord.intents, (1 << 9) | (1 << 12));
    assert.ok(!machine.bots.some(({ said }) => /Discord is not reached/.test(said)), on.bot.said);
  });
}

function trouble(discord, on) {
  const { machine, shown, doctor } = on;

  test("full buckets lose no question", async () => {
    await on.start();
    Object.assign(discord, { limit: 2, window: 400 });
    const labels = ["One?", "Two?", "Three?", "Four?", "Five?"];
    const many = labels.map(label => machine.ask(label, ["a"]));
    for (const label of labels) discord.tap("ben", await shown(label), "a");
    for (const one of many) assert.equal(await one.ended, 0);
    // The library learns of a bucket by its first response, and waits by itself from then on.
    assert.ok(discord.tooMany <= 2, `${discord.tooMany} requests were too many`);
    discord.limit = Infinity;
    await machine.stopBot(on.bot);
  });

  test("doctor names the permissions that the bot lacks, and the chat with one person", async () => {
    discord.permissions = String(1 << 10);
    assert.match(await doctor(1), /problem +the bot lacks Send Messages, Read Message History, Attach Files in #team/);
    discord.permissions = new Discord().permissions;
    discord.overwrites = [{ id: "100000000000000060", type: 0, allow: "0", deny: String(1 << 11) }];
    assert.match(await doctor(1), /problem +the bot lacks Send Messages in #team/);
    discord.overwrites.push({ id: ME, type: 1, allow: String(1 << 11), deny: "0" });
    assert.match(await doctor(0), /ok +the bot may write in #team/);
    discord.overwrites = [];
    discord.permissions = String(1 << 3);
    machine.set(discord.settings([TEAM, ALONE]));
    assert.match(await doctor(0), /ok +the bot may write in #team\n.*ok +the bot may write in the chat 100000000000000099 with one person/);
    machine.set(discord.settings());
    discord.permissions = new Discord().permissions;
  });

  test("a token that the gateway refuses, and intents that are not allowed, end the bot", async () => {
    await on.start();
    discord.disconnect(4004);
    assert.equal(await on.bot.ended, 1);
    assert.match(on.bot.said, /Discord refuses the token/);
    discord.closes = 4014;
    const other = machine.bot("discord");
    assert.equal(await other.ended, 1);
    assert.match(other.said, /Discord refuses the connection \(Used disallowed intents\)/);
    discord.closes = undefined;
  });
}

converse(() => new Discord(), alone, trouble);

describe("what is written", () => {
  const cardOf = cardFor("Discord", limits);

  test("no text of an agent is markup, mentions somebody or is a link", () => {
    const { content } = render(cardOf("hostile"));
    const { text: shown, markup } = read(content);
    for (const part of ["@everyone <!channel> <@U1>", "bank (http://evil.example)", "<b>raw</b>", "``` out of it?"]) assert.ok(shown.includes(part), shown);
    assert.deepEqual(markup.filter(mark => !/^(\*\*|_|`|> )/.test(mark)), []);
  });

  test("each text is shown as it is", () => {
    const pieces = ["a", "B7", " ", "\n", "*", "**", "_", "__", "~~", "`", "```", "|", "||", ">", "> ", "<", "@everyone", "<@1>", "<#2>", "</x:3>", "<t:1:R>", "<:a:1>", "\\", "#", "# ", "-# ", "- ", "+ ", "1. ", "2) ", "[x](http://e.example)", "https://e.example/a_b", "😀", ":", "(", "!"];
    let seed = 7;
    const pick = () => pieces[(seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % pieces.length];
    for (let round = 0; round < 5_000; round++) {
      const written = Array.from({ length: 1 + (round % 9) }, pick).join("");
      assert.deepEqual(read(escape(written)), { text: written, markup: [] }, JSON.stringify(written));
      const { content } = render({ blocks: [{ kind: "code", text: written, language: "sh" }], rows: [] });
      assert.equal(read(content).text.trim(), written.trim() || "…", JSON.stringify(written));
    }
  });

  test("many buttons are rows of five", () => {
    const rows = Array.from({ length: 12 }, (_, place) => [{ label: `${place}`, data: `d${place}` }]);
    const { components } = render({ blocks: [], rows });
    assert.deepEqual(components.map(row => row.components.length), [5, 5, 2]);
    assert.deepEqual(render({ blocks: [], rows: rows.slice(0, 5) }).components.map(row => row.components.length), [1, 1, 1, 1, 1]);
  });

  test("a change that is too long is a file, persons are mentioned, and a message is posted once under its name", async () => {
    const discord = await new Discord().start();
    const adapter = new Adapter({ token: TOKEN, apiRoot: `${discord.url}/api` });
    const card = cardOf("bigEdit");
    const ref = await adapter.post({ chat: TEAM, card, once: "1" });
    assert.match(discord.images[0].bytes.toString(), /\+b\n/);
    assert.equal(discord.images[0].above, ref);
    assert.equal(await adapter.post({ chat: TEAM, card: { ...card, file: undefined }, once: "1" }), ref);

    discord.next = [["messages", [413, 40005, "Request entity too large"]]];
    assert.ok(await adapter.post({ chat: TEAM, card, once: "2" }), "the message is posted without its file");
    await adapter.post({ chat: TEAM, card: { blocks: [text("Ada: this still waits.")], rows: [], mentions: [PEOPLE.ada.id] }, once: "3", above: ref });
    const { body } = discord.calls.at(-1);
    assert.deepEqual(body.allowed_mentions, { parse: [], users: [PEOPLE.ada.id], replied_user: false });
    assert.ok(body.content.startsWith(`<@${PEOPLE.ada.id}> `));
    await discord.check();
    discord.end();
  });

  test("an image becomes a part of its message, once, beside what is there already", async () => {
    const discord = await new Discord().start();
    const adapter = new Adapter({ token: TOKEN, apiRoot: `${discord.url}/api` });
    const above = await adapter.post({ chat: TEAM, card: cardOf("bigEdit"), once: "1" });
    const attach = (number, to = above, more = 0) => adapter.attach({ chat: TEAM, above: to, once: `i${number}`, caption: "🙂".repeat(2_000), bytes: new Uint8Array(png(2, number, more)), image: { name: `image-${number}.png`, type: "image/png", width: 2, height: number } });
    const refs = [await attach(1), await attach(2)];
    // It was killed before it knew the name.
    assert.equal(await attach(1), refs[0]);
    const names = () => discord.images.map(({ filename }) => filename.replace(/-[0-9a-f]{12}/, ""));
    assert.deepEqual(names(), ["q-1.diff", "image-1.png", "image-2.png"]);
    // What the message says stays as it is, and what it says later leaves the images.
    const { content } = discord.messages.get(above);
    assert.ok(content.includes("Edit src/big.rs"), content);
    await adapter.edit(TEAM, above, cardOf("choice"));
    assert.equal(names().length, 3);
    await adapter.detach(TEAM, refs[0]);
    assert.deepEqual(names(), ["q-1.diff", "image-2.png"]);
    for (const [error, kind, to, more] of [[undefined, "refused", above, 11 << 20], [undefined, "gone", "100000000000009999"], [[403, 50013, "Missing Permissions"], "forbidden"], [[413, 40005, "Request entity too large"], "refused"]]) {
      if (error) discord.next = [["with files", error]];
      assert.equal((await attach(3, to, more).catch(caught => caught)).kind, kind, `${error}`);
    }
    await discord.check();
    discord.end();
  });

  test("the limits of a form", () => {
    const long = "🙂".repeat(3_000);
    const options = count => Array.from({ length: count }, (_, place) => ({ value: `#${place}`, label: long }));
    const field = (name, kind, count, more = {}) => ({ name, label: long, help: long, kind, options: options(count), required: false, multiline: false, ...more });
    const fields = [field("a", "choice", 25, { value: "#2" }), field("b", "choices", 25, { value: ["#1"] }), field("c", "choice", 26, { value: "#3" }), field("d", "text", 0, { value: long }), field("e", "text", 0, { value: ["x", "y"], multiline: true })];
    const { title, components } = modal({ data: "d", title: long, fields });
    assert.ok(title.length <= 45);
    assert.deepEqual(components.map(({ component }) => component.type), [3, 3, 4, 4, 4]);
    assert.deepEqual(components.map(({ component }) => component.options?.find(one => one.default)?.value ?? component.value), ["#2", "#1", undefined, undefined, "x\ny"]);
    for (const { label, description, component } of components) {
      assert.ok(label.length <= 45 && description.length <= 100);
      for (const { label: shown } of component.options ?? []) assert.ok(shown.length <= 100);
    }
  });

  test("what is no reply to the bot is not heard", () => {
    const message = { id: "1", type: 19, author: { id: "2" }, content: "x", channel_id: "3", message_reference: { message_id: "4" }, referenced_message: { author: { id: ME } } };
    assert.ok(readReply(message, ME));
    for (const more of [{ type: 0 }, { author: { id: "2", bot: true } }, { referenced_message: null }, { referenced_message: { author: { id: "5" } } }]) assert.equal(readReply({ ...message, ...more }, ME), undefined);
    assert.ok(asksForIds({ ...message, content: " ID " }, ME));
    for (const more of [{ content: "id", guild_id: "6" }, { content: "no idea" }, { content: "<@9> id" }, { content: "id", author: { id: "2", bot: true } }]) assert.ok(!asksForIds({ ...message, ...more }, ME));
  });
});
