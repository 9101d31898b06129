// The bot as a program, with the real inbox, mock agents, and a stand-in for Slack.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { text } from "../dist/core/card.js";
import { Slack as Adapter } from "../dist/slack/adapter.js";
import { modal } from "../dist/slack/form.js";
import { asksForIds, readSubmission } from "../dist/slack/hear.js";
import { limits, render, unescape } from "../dist/slack/render.js";
import { Machine, until } from "./machine.js";
import { SAMPLES } from "./samples.js";
import { APP_TOKEN, BOT_TOKEN, Slack } from "./slack.js";
import { policy, World } from "./world.js";

const settings = ({ url }, more = "", chats = '["C0TEAM"]') => `text = "all"
${more}
[slack]
bot-token = "${BOT_TOKEN}"
app-token = "${APP_TOKEN}"
api-root = "${url}/api"
pace = "0"
chats = ${chats}
users = { "U01BEN" = "Ben", "U02ADA" = "Ada" }
`;

describe("in a channel", () => {
  const machine = new Machine();
  const slack = new Slack();
  let bot;
  before(async () => {
    await Promise.all([machine.start(), slack.start()]);
    machine.set(settings(slack));
    bot = await machine.connected("slack");
  });
  after(async () => {
    await machine.end();
    slack.end();
  });
  const seen = () => [[...slack.messages.values()].map(message => slack.shown(message)), slack.calls.slice(-3), bot.said];
  const shown = words => until(words, () => slack.find(words), seen);
  const told = (who, words) => until(`what ${who} is told`, () => slack.told(who).find(text => text.includes(words)), () => [slack.told(who), bot.said]);

  test("a question is answered by a tap, and a late tap is told so", async () => {
    const child = machine.ask("Which **database**?", ["SQLite", "Postgres"]);
    const message = await shown("Which database?");
    assert.deepEqual(slack.buttons(message), ["SQLite", "Postgres", "Reject", "I answer this"]);
    const late = { ...message };
    slack.tap("ben", message, "Postgres");
    assert.equal(await child.ended, 0);
    assert.match(child.said, /Postgres/);
    await told("ben", "Sent.");
    await shown("Answered by Ben in Slack: Postgres");
    assert.deepEqual(slack.buttons(message), []);
    slack.tap("ada", late, "SQLite");
    await told("ada", "Too late. Answered by Ben in Slack");
    assert.match(await machine.history(), /answered by JSON-RPC \(Ben in Slack\): Postgres/);
  });

  test("who is not in the list is told no, and nothing happens", async () => {
    const child = machine.ask("Who asks?", ["a"]);
    const message = await shown("Who asks?");
    slack.tap("eve", message, "a");
    await told("eve", "You may not answer here.");
    assert.ok(slack.buttons(message).includes("a"));
    await until("a line in the log", () => /user U09EVE in chat C0TEAM/.test(bot.said), () => bot.said);
    slack.tap("ben", message, "Reject");
    assert.notEqual(await child.ended, 0);
  });

  test("what is dangerous takes a second message, which the channel sees", async () => {
    const agent = machine.agent("dangerous");
    const message = await shown("rm -rf build");
    slack.tap("ben", message, "Allow once");
    const second = await shown("Allow once? Read all of it first.");
    assert.equal(second.thread_ts, message.ts);
    const { params } = slack.calls.findLast(({ method }) => method === "chat.postMessage");
    assert.equal(params.reply_broadcast, true);
    for (const words of ["rm -rf build", "Remove the build folder", "This can do harm"]) assert.ok(slack.shown(second).includes(words), slack.shown(second));
    await until("who answers", () => slack.shown(message).includes("Ben is answering."), seen);
    slack.tap("ada", second, "Yes: Allow once");
    await told("ada", "Ben is answering.");
    assert.ok(!/Permission: selected/.test(agent.said));
    slack.tap("ben", second, "Yes: Allow once");
    await until("the answer", () => /Permission: selected allow-once/.test(agent.said), () => agent.said);
    await until("no buttons", () => [message, second].every(one => !slack.buttons(one).length), seen);
  });

  test("a text in the thread, and by the form of a button", async () => {
    const free = machine.agent("free question");
    const asked = await until("the question", () => [...slack.messages.values()].find(message => slack.buttons(message).includes("Write …")), seen);
    slack.write("ben", "C0TEAM", "Ship it &lt;b&gt;now&lt;/b&gt; &amp; see <https://a.example/x|a.example/x>", asked);
    await until("the answer", () => free.said.includes("Ship it <b>now</b> & see a.example/x"), () => [free.said, slack.told("ben")]);

    const again = machine.agent("free question");
    const other = await until("the question", () => [...slack.messages.values()].find(message => message !== asked && slack.buttons(message).includes("Write …")), seen);
    slack.tap("ben", other, "Write …");
    const view = await until("the form", () => slack.views.at(-1), seen);
    slack.fill("ben", { [view.blocks[0].block_id]: "By the form" });
    await until("the answer", () => again.said.includes("By the form"), () => [again.said, slack.told("ben")]);
  });

  test("a form is a modal", async () => {
    const agent = machine.agent("fields question");
    const message = await until("the form", () => [...slack.messages.values()].find(one => slack.buttons(one).includes("Fill in …")), seen);
    const count = slack.views.length;
    slack.tap("ben", message, "Fill in …");
    const { blocks } = await until("the form", () => slack.views[count], seen);
    assert.deepEqual(blocks.map(({ element }) => element.type), ["static_select", "checkboxes", "plain_text_input"]);
    const [where, what, note] = blocks.map(({ block_id: name }) => name);
    slack.fill("ben", { [where]: "Postgres", [what]: ["Auth"], [note]: "With care" });
    await until("the answer", () => /With care/.test(agent.said), () => [agent.said, slack.told("ben")]);
    assert.match(agent.said, /Postgres/i);
    assert.match(agent.said, /auth/i);
  });

  test("several choices are toggles; what comes twice, or late, counts once", async () => {
    const child = machine.ask("Twice?", ["a", "b"], ["--many"]);
    const message = await shown("Twice?");
    slack.tap("ben", message, "☐ a");
    const tap = slack.sent.at(-1);
    await until("the mark", () => slack.buttons(message).includes("☑ a"), seen);
    slack.push("interactive", tap);
    slack.tap("ben", message, "☐ b");
    await until("the other mark", () => slack.buttons(message).includes("☑ b"), seen);
    slack.push("interactive", tap);
    slack.tap("ben", message, "Send");
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
    assert.deepEqual(slack.buttons(message), []);
    await child.ended;

    const withdrawn = machine.ask("Withdrawn?", ["a"]);
    const other = await shown("Withdrawn?");
    withdrawn.kill("SIGINT");
    await until("the end", () => /took it back/.test(slack.shown(other)), seen);
  });

  test("the IDs that the settings need are told", async () => {
    slack.write("eve", "D0EVE", "id");
    await shown("Your ID is U09EVE. The ID of this chat is D0EVE.");
    slack.write("eve", "C0NEW", "<@U0BOT> id");
    await shown("Your ID is U09EVE. The ID of this chat is C0NEW.");
  });

  test("connections that Slack ends, and that are lost, are made again", async () => {
    for (const reason of ["warning", undefined, "refresh_requested"]) {
      const count = slack.connections;
      slack.disconnect(reason);
      await until("a connection", () => slack.connections > count && slack.sockets.size === 1, seen);
      const child = machine.ask(`After ${reason}?`, ["a"]);
      slack.tap("ben", await shown(`After ${reason}?`), "a");
      assert.equal(await child.ended, 0);
    }
  });

  test("the bot and the inbox start again, and nothing is posted twice", async () => {
    const inbox = machine.client();
    const posted = () => slack.calls.filter(({ method }) => method === "chat.postMessage").length;
    const fields = [{ name: "q0", label: "Still there?", kind: "boolean", required: true }];
    const kept = await inbox.keepQuestion({ fields, message: "" }, { key: "kept" });
    const gone = await inbox.keepQuestion({ fields: [{ ...fields[0], label: "Gone soon?" }] }, { key: "gone" });
    const [first, second] = [await shown("Still there?"), await shown("Gone soon?")];
    await until("its name", () => machine.state("slack").questions.filter(({ over }) => over === undefined).length === 2);
    const count = posted();
    bot.kill("SIGKILL");
    await bot.ended;
    await inbox.rejectQuestion(gone.id);
    bot = await machine.connected("slack");
    await until("the end", () => /Rejected over HTTP/.test(slack.shown(second)), seen);
    slack.tap("ben", first, "Yes");
    assert.deepEqual(await inbox.waitFor(kept.id), { status: "answered", values: { q0: true } });
    assert.equal(posted(), count);
    await until("the end", () => /Answered by Ben/.test(slack.shown(first)), seen);
  });

  test("all that was sent has the published types and was acknowledged, and no token is in the log", async () => {
    const count = await slack.check();
    assert.ok(count > 30, `${count} values`);
    for (const { said } of machine.bots) assert.ok(!/xoxb-|xapp-|ticket=/.test(said), said);
  });
});

describe("in trouble", () => {
  const machine = new Machine();
  let slack;
  before(async () => {
    await machine.start();
    slack = await new Slack().start();
    machine.set(settings(slack));
  });
  after(async () => {
    await machine.end();
    slack.end();
  });
  const says = (bot, words) => until(words, () => bot.said.includes(words), () => bot.said);

  test("429, a failure of the server and a message that is refused lose no question", async () => {
    const bot = await machine.connected("slack");
    slack.next = [["chat.postMessage", 429], ["chat.postMessage", 503]];
    const child = machine.ask("Busy?", ["a"]);
    const message = await until("the message", () => slack.find("Busy?"), () => bot.said);
    await says(bot, "Slack has a problem (503); trying again");
    const times = slack.calls.filter(({ method }) => method === "chat.postMessage").map(({ at }) => at);
    assert.ok(times[1] - times[0] >= 950, `${times}`);
    slack.tap("ben", message, "a");
    assert.equal(await child.ended, 0);

    slack.next = [["chat.postMessage", "msg_blocks_too_long"]];
    const long = machine.ask("Too long?", ["a"]);
    const less = await until("less", () => slack.find("Decide at a computer"), () => bot.said);
    assert.deepEqual(slack.buttons(less).filter(label => label !== "I answer this"), []);
    await says(bot, "Slack does not take a message (msg_blocks_too_long)");
    long.kill("SIGINT");

    slack.next = [["views.open", "expired_trigger_id"]];
    machine.agent("free question");
    const asked = await until("the question", () => [...slack.messages.values()].find(one => slack.buttons(one).includes("Write …")), () => bot.said);
    slack.tap("ben", asked, "Write …");
    await until("what Ben is told", () => slack.told("ben").some(text => /The form did not open/.test(text)), () => slack.told("ben"));
    slack.tap("ben", asked, "Reject");
    await machine.stopBot(bot);
  });

  test("a bot that was put out of the channel, or that lacks a scope, says so and loses nothing", async () => {
    slack.troubles.set("C0TEAM", "not_in_channel");
    slack.isOut = true;
    const bot = await machine.connected("slack");
    const child = machine.ask("Kicked?", ["a"]);
    await says(bot, "the bot is not in its channel");
    const doctor = async () => {
      const found = machine.bot(["doctor", "slack"]);
      assert.equal(await found.ended, 1);
      return found.said;
    };
    assert.match(await doctor(), /problem +the bot is not in its channel: invite it there/);
    slack.troubles.clear();
    assert.match(await doctor(), /problem +the bot is not in #team \(C0TEAM\): write \/invite/);
    slack.isOut = false;
    slack.troubles.set("C0TEAM", ["missing_scope", { needed: "channels:read", provided: "chat:write" }]);
    assert.match(await doctor(), /problem +the app has no scope channels:read/);
    slack.troubles.clear();
    slack.scopes = ["files:write"];
    assert.match(await doctor(), /problem +the app has no scope chat:write: add it.*\n.*ok +the app has no scope channels:history: replies/);
    slack.scopes = new Slack().scopes;
    await machine.stopBot(bot);
    const again = await machine.connected("slack");
    slack.tap("ben", await until("the message", () => slack.find("Kicked?"), () => again.said), "a");
    assert.equal(await child.ended, 0);
    await machine.stopBot(again);
  });

  test("a message that a person deleted is posted again, and a second step stands alone then", async () => {
    const bot = await machine.connected("slack");
    const agent = machine.agent("dangerous");
    const message = await until("the message", () => slack.find("rm -rf build"), () => bot.said);
    slack.messages.delete(`C0TEAM:${message.ts}`);
    slack.tap("ben", message, "Allow once");
    const second = await until("the second", () => slack.find("Read all of it first."), () => [bot.said, slack.calls.slice(-3)]);
    assert.equal(second.thread_ts, undefined);
    slack.tap("ben", second, "Yes: Allow once");
    await until("the answer", () => /Permission: selected allow-once/.test(agent.said), () => agent.said);
    await until("the end", () => [...slack.messages.values()].filter(one => slack.shown(one).includes("Allowed by Ben")).length === 1, () => bot.said);

    const child = machine.ask("Deleted?", ["a"]);
    slack.delete(await until("the message", () => slack.find("Deleted?"), () => bot.said));
    slack.tap("ben", await until("another", () => slack.find("Deleted?"), () => bot.said), "a");
    assert.equal(await child.ended, 0);
    await machine.stopBot(bot);
  });

  test("a revoked token ends the bot with a clear sentence", async () => {
    const bot = await machine.connected("slack");
    slack.token = "another";
    const child = machine.ask("Revoked?", ["a"]);
    assert.equal(await bot.ended, 1);
    assert.match(bot.said, /Slack refuses the bot-token \(invalid_auth\): install the app again/);
    const doctor = machine.bot("doctor");
    assert.equal(await doctor.ended, 1);
    assert.match(doctor.said, /slack +problem +Slack refuses the bot-token/);
    slack.token = BOT_TOKEN;
    const again = await machine.connected("slack");
    slack.tap("ben", await until("the message", () => slack.find("Revoked?"), () => again.said), "a");
    assert.equal(await child.ended, 0);

    slack.appToken = "another";
    slack.disconnect("link_disabled");
    assert.equal(await again.ended, 1);
    assert.match(again.said, /Slack refuses the app-token \(invalid_auth\): make one with connections:write/);
    slack.appToken = APP_TOKEN;
    for (const { said } of machine.bots) assert.ok(!/xoxb-|xapp-/.test(said.replaceAll("(xoxb-…)", "").replaceAll("(xapp-…)", "")), said);
  });

  test("a second bot is refused, and doctor finds nothing wrong", async () => {
    const bot = await machine.connected("slack");
    const second = machine.bot("slack");
    assert.equal(await second.ended, 1);
    assert.match(second.said, /another askbridge-chat runs already/);
    const doctor = machine.bot("doctor");
    assert.equal(await doctor.ended, 0, doctor.said);
    assert.match(doctor.said, /ok +the bot-token is that of @inbox in Team\n.*ok +the app-token opens connections\n.*ok +the bot may write in #team/);
    assert.equal(await machine.stopBot(bot), 0);
  });

  test("all that was sent has the published types", async () => {
    assert.ok((await slack.check()) > 10);
  });
});

describe("what is written", () => {
  const cardOf = (name, question = {}) => {
    const world = new World(policy({ chat: "Slack" }), limits);
    world.open(name, "q-1", { question });
    return [...world.messages.values()][0].card;
  };

  test("no text of an agent is markup, mentions somebody or is a link", () => {
    const { text: short, blocks } = render(cardOf("hostile"));
    const types = JSON.stringify(blocks).match(/"type":"\w+"/g);
    assert.deepEqual([...new Set(types)].sort(), ["actions", "button", "plain_text", "rich_text", "rich_text_preformatted", "rich_text_quote", "rich_text_section", "text"].map(type => `"type":"${type}"`).sort());
    const words = blocks[0].elements.flatMap(one => one.elements.map(part => part.text)).join("");
    for (const part of ["@everyone <!channel> <@U1>", "bank (http://evil.example)", "<b>raw</b>", "``` out of it?"]) assert.ok(words.includes(part), words);
    assert.ok(!/[<>]/.test(short), short);
  });

  test("each sample fits, or can only be rejected", () => {
    for (const name of Object.keys(SAMPLES)) {
      const card = cardOf(name);
      assert.ok(limits.fits(card), name);
      for (const { text: label } of render(card).blocks.flatMap(({ elements, type }) => (type === "actions" ? elements : []))) assert.ok(label.text.length <= 75);
    }
  });

  test("a change that is too long is a file in the thread, no token goes where it is stored, and persons are mentioned", async () => {
    const slack = await new Slack().start();
    const adapter = new Adapter({ botToken: BOT_TOKEN, appToken: APP_TOKEN, apiRoot: `${slack.url}/api` });
    const diffs = [{ path: "/src/big.rs", line: 1, old: "a\n".repeat(9_000), new: "b\n".repeat(9_000) }];
    const card = cardOf("bigEdit", { subject: { kind: "edit", diffs } });
    const ref = await adapter.post({ chat: "C0TEAM", card, once: "1" });
    const [file] = slack.files;
    assert.match(file.body, /\+b\n/);
    assert.equal(file.authorization, undefined);
    const { params } = slack.calls.find(({ method }) => method === "files.completeUploadExternal");
    assert.deepEqual([params.channel_id, params.thread_ts], ["C0TEAM", ref]);

    slack.next = [["files.getUploadURLExternal", "missing_scope"]];
    assert.ok(await adapter.post({ chat: "C0TEAM", card, once: "2" }), "the message is posted without its file");
    await adapter.post({ chat: "C0TEAM", card: { blocks: [text("Ada: this still waits.")], rows: [], mentions: ["U02ADA"] }, once: "3", above: ref });
    assert.ok(slack.find("@U02ADA Ada: this still waits."));
    await slack.check();
    slack.end();
  });

  const texts = [
    ["a &lt;b&gt; &amp;amp;", "a <b> &amp;"],
    ["<https://a.example|a.example>", "a.example"],
    ["<https://evil.example|bank>", "https://evil.example"],
    ["<https://a.example/x?y=1&amp;z=2>", "https://a.example/x?y=1&z=2"],
    ["<mailto:a@b.example|a@b.example>", "a@b.example"],
    ["<#C1|general> <@U1> <!here>", "general @U1 !here"],
    ["1 < 2", "1 < 2"],
  ];
  for (const [written, wanted] of texts) test(`a person wrote ${wanted}`, () => assert.equal(unescape(written), wanted));

  test("the limits of a form", () => {
    const long = "🙂".repeat(3_000);
    const options = count => Array.from({ length: count }, (_, place) => ({ value: `#${place}`, label: long }));
    const field = (name, kind, count, more = {}) => ({ name, label: long, help: long, kind, options: options(count), required: false, multiline: false, ...more });
    const fields = [field("a", "choice", 100, { value: "#2" }), field("b", "choices", 10, { value: ["#1"] }), field("c", "choices", 11), field("d", "choice", 101, { value: "#3" }), field("e", "text", 0, { value: long })];
    const { title, blocks } = modal({ data: "d", title: long, fields }, "C1");
    assert.ok(title.text.length <= 24);
    assert.deepEqual(blocks.map(({ element }) => element.type), ["static_select", "checkboxes", "multi_static_select", "plain_text_input", "plain_text_input"]);
    assert.deepEqual(blocks.map(({ element }) => element.initial_option?.value ?? element.initial_options?.[0].value ?? element.initial_value), ["#2", "#1", undefined, undefined, undefined]);
    for (const { label, hint, element } of blocks) {
      assert.ok(label.text.length <= 2_000 && hint.text.length <= 2_000);
      for (const { text: shown } of element.options ?? []) assert.ok(shown.text.length <= 75);
    }
  });

  test("what has another shape is not heard", () => {
    const view = { id: "V1", private_metadata: "", state: { values: {} } };
    assert.equal(readSubmission({ user: { id: "U1" }, view }), undefined);
    assert.equal(readSubmission({ user: { id: "U1" }, view: { ...view, private_metadata: "{}" } }), undefined);
    assert.ok(!asksForIds({ channel_type: "channel", text: "id" }, "U0BOT"));
    assert.ok(!asksForIds({ channel_type: "im", text: "no idea" }, "U0BOT"));
    assert.ok(!asksForIds({ channel_type: "channel", text: "<@U0OTHER> id" }, "U0BOT"));
  });
});
