// The bot as a program, with the real inbox, mock agents, and a stand-in for Discord.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { text } from "../dist/core/card.js";
import { Discord as Adapter } from "../dist/discord/adapter.js";
import { modal } from "../dist/discord/form.js";
import { asksForIds, readReply } from "../dist/discord/hear.js";
import { escape, limits, render } from "../dist/discord/render.js";
import { Discord, ME, PEOPLE, read, TEAM, TOKEN } from "./discord.js";
import { Machine, until } from "./machine.js";
import { SAMPLES } from "./samples.js";
import { policy, World } from "./world.js";

const settings = ({ url }, chats = [TEAM]) => `text = "all"
[discord]
token = "${TOKEN}"
api-root = "${url}/api"
pace = "0"
chats = ${JSON.stringify(chats)}
users = { "${PEOPLE.ben.id}" = "Ben", "${PEOPLE.ada.id}" = "Ada" }
`;
const parts = TOKEN.split(".");

describe("in a channel", () => {
  const machine = new Machine();
  const discord = new Discord();
  let bot;
  before(async () => {
    await Promise.all([machine.start(), discord.start()]);
    machine.set(settings(discord));
    bot = await machine.connected("discord");
  });
  after(async () => {
    await machine.end();
    discord.end();
  });
  const seen = () => [[...discord.messages.values()].map(({ content }) => content), discord.calls.slice(-3), bot.said];
  const shown = words => until(words, () => discord.find(words), seen);
  const told = (tap, words) => until(`a response with ${words}`, () => discord.told(tap).find(said => said.includes(words)), () => [discord.told(tap), bot.said]);
  const newest = (label, not) => until(label, () => [...discord.messages.values()].find(one => one !== not && discord.buttons(one).includes(label)), seen);

  test("a question is answered by a tap, and a late tap is told so", async () => {
    const child = machine.ask("Which **database**?", ["SQLite", "Postgres"]);
    const message = await shown("Which database?");
    assert.deepEqual(discord.buttons(message), ["SQLite", "Postgres", "Reject", "I answer this"]);
    const late = structuredClone(message);
    const tap = discord.tap("ben", message, "Postgres");
    assert.equal(await child.ended, 0);
    assert.match(child.said, /Postgres/);
    assert.equal(await told(tap, "Sent."), "Sent.");
    await shown("Answered by Ben in Discord: Postgres");
    assert.deepEqual(discord.buttons(message), []);
    await told(discord.tap("ada", late, "SQLite"), "Too late. Answered by Ben in Discord");
    assert.match(await machine.history(), /answered by JSON-RPC \(Ben in Discord\): Postgres/);
  });

  test("who is not in the list is told no, and nothing happens", async () => {
    const child = machine.ask("Who asks?", ["a"]);
    const message = await shown("Who asks?");
    await told(discord.tap("eve", message, "a"), "You may not answer here.");
    assert.ok(discord.buttons(message).includes("a"));
    await until("a line in the log", () => bot.said.includes(`user ${PEOPLE.eve.id} in chat ${TEAM}`), () => bot.said);
    discord.tap("ben", message, "Reject");
    assert.notEqual(await child.ended, 0);
  });

  test("what is dangerous takes a second message", async () => {
    const agent = machine.agent("dangerous");
    const message = await shown("rm -rf build");
    discord.tap("ben", message, "Allow once");
    const second = await shown("Allow once? Read all of it first.");
    assert.equal(second.message_reference.message_id, message.id);
    for (const words of ["rm -rf build", "Remove the build folder", "This can do harm"]) assert.ok(discord.shown(second).includes(words), second.content);
    await until("who answers", () => discord.shown(message).includes("Ben is answering."), seen);
    await told(discord.tap("ada", second, "Yes: Allow once"), "Ben is answering.");
    assert.ok(!/Permission: selected/.test(agent.said));
    discord.tap("ben", second, "Yes: Allow once");
    await until("the answer", () => /Permission: selected allow-once/.test(agent.said), () => agent.said);
    await until("no buttons", () => [message, second].every(one => !discord.buttons(one).length), seen);
  });

  test("a text in reply, and by the form of a button", async () => {
    const free = machine.agent("free question");
    const asked = await newest("Write …");
    discord.write("ben", TEAM, "", asked);
    await shown("I cannot read this: reply with the mention on");
    discord.write("ben", TEAM, `<@${ME}> Ship it <b>now</b>`, asked);
    await until("the answer", () => free.said.includes("Ship it <b>now</b>"), () => free.said);

    const again = machine.agent("free question");
    const other = await newest("Write …", asked);
    discord.tap("ben", other, "Write …");
    await until("the form", () => discord.modals.length, seen);
    discord.fill("ben", ["By the form"]);
    await until("the answer", () => again.said.includes("By the form"), () => again.said);
  });

  test("a form is a modal", async () => {
    const agent = machine.agent("fields question");
    const message = await newest("Fill in …");
    const count = discord.modals.length;
    discord.tap("ben", message, "Fill in …");
    const { components } = await until("the form", () => discord.modals[count], seen);
    assert.deepEqual(components.map(({ component }) => component.type), [3, 3, 4]);
    discord.fill("ben", ["Postgres", ["Auth"], "With care"]);
    await until("the answer", () => /With care/.test(agent.said), () => [agent.said, seen()]);
    assert.match(agent.said, /Postgres/i);
    assert.match(agent.said, /auth/i);
  });

  test("several choices are toggles; what comes twice, or late, counts once", async () => {
    const child = machine.ask("Twice?", ["a", "b"], ["--many"]);
    const message = await shown("Twice?");
    const tap = discord.tap("ben", message, "☐ a");
    await until("the mark", () => discord.buttons(message).includes("☑ a"), seen);
    discord.push("INTERACTION_CREATE", tap);
    discord.tap("ben", message, "☐ b");
    await until("the other mark", () => discord.buttons(message).includes("☑ b"), seen);
    discord.push("INTERACTION_CREATE", tap);
    discord.tap("ben", message, "Send");
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
    assert.deepEqual(discord.buttons(message), []);
    await child.ended;

    const withdrawn = machine.ask("Withdrawn?", ["a"]);
    const other = await shown("Withdrawn?");
    withdrawn.kill("SIGINT");
    await until("the end", () => /took it back/.test(discord.shown(other)), seen);
  });

  test("the IDs that the settings need are told", async () => {
    const alone = "100000000000000099";
    discord.write("eve", alone, "id");
    await shown(`Your ID is ${PEOPLE.eve.id}. The ID of this chat is ${alone}.`);
    discord.write("eve", TEAM, `<@${ME}> id`);
    await shown(`Your ID is ${PEOPLE.eve.id}. The ID of this chat is ${TEAM}.`);
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

  test("the bot and the inbox start again, and nothing is posted twice", async () => {
    const inbox = machine.client();
    const posted = () => discord.messages.size;
    const fields = [{ name: "q0", label: "Still there?", kind: "boolean", required: true }];
    const kept = await inbox.keepQuestion({ fields, message: "" }, { key: "kept" });
    const gone = await inbox.keepQuestion({ fields: [{ ...fields[0], label: "Gone soon?" }] }, { key: "gone" });
    const [first, second] = [await shown("Still there?"), await shown("Gone soon?")];
    await until("its name", () => machine.state("discord").questions.filter(({ over }) => over === undefined).length === 2);
    const count = posted();
    bot.kill("SIGKILL");
    await bot.ended;
    await inbox.rejectQuestion(gone.id);
    bot = await machine.connected("discord");
    await until("the end", () => /Rejected over HTTP/.test(discord.shown(second)), seen);
    discord.tap("ben", first, "Yes");
    assert.deepEqual(await inbox.waitFor(kept.id), { status: "answered", values: { q0: true } });
    assert.equal(posted(), count);
    await until("the end", () => /Answered by Ben/.test(discord.shown(first)), seen);
  });

  test("a tap that takes long is heard within 3 s, and told later", async () => {
    const inbox = machine.client();
    const kept = await inbox.keepQuestion({ fields: [{ name: "q0", label: "Slow?", kind: "boolean", required: true }], message: "" }, { key: "slow" });
    const message = await shown("Slow?");
    await until("its name", () => machine.state("discord").questions.some(({ over }) => over === undefined));
    await machine.stopBot(bot);
    await machine.kill();
    bot = await machine.connected("discord");
    const tap = discord.tap("ben", message, "Yes");
    const { response } = await until("a response", () => discord.interactions.get(tap.id).response && discord.interactions.get(tap.id), seen);
    assert.equal(response.type, 6);
    await machine.start();
    await told(tap, "Sent.");
    assert.deepEqual(await machine.client().waitFor(kept.id), { status: "answered", values: { q0: true } });
  });

  test("all that was sent has the published types and came in time, and no token is in the log", async () => {
    const count = await discord.check();
    assert.ok(count > 30, `${count} values`);
    for (const { said } of machine.bots) for (const part of parts.slice(1)) assert.ok(!said.includes(part), said);
    for (const { path, authorization } of discord.calls) if (/^\/(interactions|webhooks)/.test(path)) assert.equal(authorization, undefined);
    assert.equal(discord.intents, (1 << 9) | (1 << 12));
  });
});

describe("in trouble", () => {
  const machine = new Machine();
  let discord;
  before(async () => {
    await machine.start();
    discord = await new Discord().start();
    machine.set(settings(discord));
  });
  after(async () => {
    await machine.end();
    discord.end();
  });
  const says = (bot, words) => until(words, () => bot.said.includes(words), () => bot.said);
  const post = `POST /channels/${TEAM}/messages`;

  test("429, full buckets, a failure of the server and a message that is refused lose no question", async () => {
    const bot = await machine.connected("discord");
    discord.next = [[post, [429, 0, "You are being rate limited.", { retry_after: 1, global: false }]], [post, [502, 0, "Bad Gateway"]]];
    const child = machine.ask("Busy?", ["a"]);
    const message = await until("the message", () => discord.find("Busy?"), () => bot.said);
    await says(bot, "Discord has a problem (502); trying again");
    const times = discord.calls.filter(({ method, path }) => post === `${method} ${path}`).map(({ at }) => at);
    assert.ok(times[1] - times[0] >= 950, `${times}`);
    discord.tap("ben", message, "a");
    assert.equal(await child.ended, 0);

    Object.assign(discord, { limit: 2, window: 400 });
    const many = ["One?", "Two?", "Three?", "Four?", "Five?"].map(label => machine.ask(label, ["a"]));
    for (const label of ["One?", "Two?", "Three?", "Four?", "Five?"]) discord.tap("ben", await until(label, () => discord.find(label), () => bot.said), "a");
    for (const one of many) assert.equal(await one.ended, 0);
    // The library learns of a bucket by its first response, and waits by itself from then on.
    assert.ok(discord.tooMany <= 2, `${discord.tooMany} requests were too many`);
    discord.limit = Infinity;

    discord.next = [[post, [400, 50035, "Invalid Form Body"]]];
    const long = machine.ask("Too long?", ["a"]);
    const less = await until("less", () => discord.find("Decide at a computer"), () => bot.said);
    assert.deepEqual(discord.buttons(less).filter(label => label !== "I answer this"), []);
    await says(bot, "Discord does not take a message (50035)");
    long.kill("SIGINT");
    await machine.stopBot(bot);
  });

  test("a bot that was put out of the channel, or lacks a permission, says so and loses nothing", async () => {
    discord.troubles.set(TEAM, [403, 50001, "Missing Access"]);
    const bot = await machine.connected("discord");
    const child = machine.ask("Kicked?", ["a"]);
    await says(bot, "the bot may not see its channel");
    const doctor = async code => {
      const found = machine.bot(["doctor", "discord"]);
      assert.equal(await found.ended, code, found.said);
      return found.said;
    };
    assert.match(await doctor(1), /problem +the bot may not see its channel: let it see the channel/);
    discord.troubles.clear();
    discord.permissions = String(1 << 10);
    assert.match(await doctor(1), /problem +the bot lacks Send Messages, Read Message History, Attach Files in #team/);
    discord.permissions = new Discord().permissions;
    discord.overwrites = [{ id: "100000000000000060", type: 0, allow: "0", deny: String(1 << 11) }];
    assert.match(await doctor(1), /problem +the bot lacks Send Messages in #team/);
    discord.overwrites.push({ id: ME, type: 1, allow: String(1 << 11), deny: "0" });
    assert.match(await doctor(0), /ok +the bot may write in #team/);
    discord.overwrites = [];
    discord.permissions = String(1 << 3);
    assert.match(await doctor(0), /ok +the bot may write in #team/);
    discord.permissions = new Discord().permissions;
    await machine.stopBot(bot);
    const again = await machine.connected("discord");
    discord.tap("ben", await until("the message", () => discord.find("Kicked?"), () => again.said), "a");
    assert.equal(await child.ended, 0);
    await machine.stopBot(again);
  });

  test("a message that a person deleted is posted again while its question is open", async () => {
    const bot = await machine.connected("discord");
    const child = machine.ask("Deleted?", ["a"]);
    discord.delete(await until("the message", () => discord.find("Deleted?"), () => bot.said));
    discord.tap("ben", await until("another", () => discord.find("Deleted?"), () => bot.said), "a");
    assert.equal(await child.ended, 0);
    await machine.stopBot(bot);
  });

  test("a revoked token ends the bot with a clear sentence, and so do intents that are not allowed", async () => {
    const bot = await machine.connected("discord");
    discord.token = "another";
    const child = machine.ask("Revoked?", ["a"]);
    assert.equal(await bot.ended, 1);
    assert.match(bot.said, /Discord refuses the token: make a new one/);
    const doctor = machine.bot("doctor");
    assert.equal(await doctor.ended, 1);
    assert.match(doctor.said, /discord +problem +Discord refuses the token/);
    discord.token = TOKEN;
    const again = await machine.connected("discord");
    discord.tap("ben", await until("the message", () => discord.find("Revoked?"), () => again.said), "a");
    assert.equal(await child.ended, 0);
    discord.disconnect(4004);
    assert.equal(await again.ended, 1);
    assert.match(again.said, /Discord refuses the token/);

    discord.closes = 4014;
    const third = machine.bot("discord");
    assert.equal(await third.ended, 1);
    assert.match(third.said, /Discord refuses the connection \(Used disallowed intents\)/);
    discord.closes = undefined;
    for (const { said } of machine.bots) for (const part of parts.slice(1)) assert.ok(!said.includes(part), said);
  });

  test("a second bot is refused, and doctor finds nothing wrong, also in a chat with one person", async () => {
    machine.set(settings(discord, [TEAM, "100000000000000099"]));
    const bot = await machine.connected("discord");
    const second = machine.bot("discord");
    assert.equal(await second.ended, 1);
    assert.match(second.said, /another askbridge-chat runs already/);
    const doctor = machine.bot("doctor");
    assert.equal(await doctor.ended, 0, doctor.said);
    assert.match(doctor.said, /ok +the token is that of @inbox\n.*ok +the bot may write in #team\n.*ok +the bot may write in the chat 100000000000000099 with one person/);
    assert.equal(await machine.stopBot(bot), 0);
  });

  test("all that was sent has the published types", async () => {
    assert.ok((await discord.check()) > 10);
  });
});

describe("what is written", () => {
  const cardOf = (name, question = {}) => {
    const world = new World(policy({ chat: "Discord" }), limits);
    world.open(name, "q-1", { question });
    return [...world.messages.values()][0].card;
  };

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

  test("each sample fits, or can only be rejected", () => {
    for (const name of Object.keys(SAMPLES)) {
      const card = cardOf(name);
      assert.ok(limits.fits(card), name);
      assert.ok(render(card).content.length <= 2_000);
    }
    assert.deepEqual(cardOf("long").rows.flat().map(({ label }) => label), ["Reject"]);
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
    assert.match(discord.files[0].text, /\+b\n/);
    assert.equal(discord.files[0].message, ref);
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
