// What is of Slack alone: its connections, forms, scopes and files, and how texts are written.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { text } from "../dist/core/card.js";
import { Slack as Adapter } from "../dist/slack/adapter.js";
import { modal } from "../dist/slack/form.js";
import { asksForIds, readSubmission } from "../dist/slack/hear.js";
import { limits, render, unescape } from "../dist/slack/render.js";
import { converse } from "./conversations.js";
import { until } from "./machine.js";
import { png } from "./multipart.js";
import { APP_TOKEN, BOT_TOKEN, Slack } from "./slack.js";
import { cardFor } from "./world.js";

function alone(slack, { machine, seen, shown }) {
  test("a form has the inputs of Slack, and a second message stands in the channel too", () => {
    const types = slack.forms.at(-1).blocks.map(({ element }) => element.type);
    assert.deepEqual(types, ["static_select", "checkboxes", "plain_text_input"]);
    assert.ok(slack.calls.some(({ method, params }) => method === "chat.postMessage" && params.thread_ts && params.reply_broadcast === true));
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
}

function trouble(slack, on) {
  const { machine, shown, newest, told, doctor } = on;

  test("a form that does not open is told", async () => {
    await on.start();
    slack.next = [["views.open", "expired_trigger_id"]];
    machine.agent("free question");
    const asked = await newest("Write …");
    await told("ben", slack.tap("ben", asked, "Write …"), "The form did not open");
    slack.tap("ben", asked, "Reject");
    await machine.stopBot(on.bot);
  });

  test("doctor names what the app lacks", async () => {
    slack.isOut = true;
    assert.match(await doctor(1), /problem +the bot is not in #team \(C0TEAM\): write \/invite/);
    slack.isOut = false;
    slack.troubles.set("C0TEAM", ["missing_scope", { needed: "channels:read", provided: "chat:write" }]);
    assert.match(await doctor(1), /problem +the app has no scope channels:read/);
    slack.troubles.clear();
    slack.scopes = [];
    assert.match(await doctor(1), /problem +the app has no scope chat:write: add it.*\n.*ok +the app has no scope files:write: images are not shown.*\n.*ok +the app has no scope channels:history: replies/);
    slack.scopes = new Slack().scopes;
  });

  test("where a person deleted the message, a second step stands alone", async () => {
    await on.start();
    const agent = machine.agent("dangerous");
    const message = await shown("rm -rf build");
    slack.messages.delete(`C0TEAM:${message.ts}`);
    slack.tap("ben", message, "Allow once");
    const second = await shown("Read all of it first.");
    assert.equal(second.thread_ts, undefined);
    slack.tap("ben", second, "Yes: Allow once");
    await on.answers(agent, /Permission: selected allow-once/);
    await until("the end", () => slack.all().filter(one => slack.shown(one).includes("Allowed by Ben")).length === 1, on.seen);
    await machine.stopBot(on.bot);
  });

  test("a revoked app-token ends the bot with a clear sentence", async () => {
    await on.start();
    slack.appToken = "another";
    slack.disconnect("link_disabled");
    assert.equal(await on.bot.ended, 1);
    assert.match(on.bot.said, /Slack refuses the app-token \(invalid_auth\): make one with connections:write/);
    slack.appToken = APP_TOKEN;
  });
}

converse(() => new Slack(), alone, trouble);

describe("what is written", () => {
  const cardOf = cardFor("Slack", limits);

  test("no text of an agent is markup, mentions somebody or is a link", () => {
    const { text: short, blocks } = render(cardOf("hostile"));
    const types = JSON.stringify(blocks).match(/"type":"\w+"/g);
    assert.deepEqual([...new Set(types)].sort(), ["actions", "button", "plain_text", "rich_text", "rich_text_preformatted", "rich_text_quote", "rich_text_section", "text"].map(type => `"type":"${type}"`).sort());
    const words = blocks[0].elements.flatMap(one => one.elements.map(part => part.text)).join("");
    for (const part of ["@everyone <!channel> <@U1>", "bank (http://evil.example)", "<b>raw</b>", "``` out of it?"]) assert.ok(words.includes(part), words);
    assert.ok(!/[<>]/.test(short), short);
  });

  test("a change that is too long is a file in the thread, no token goes where it is stored, and persons are mentioned", async () => {
    const slack = await new Slack().start();
    const adapter = new Adapter({ botToken: BOT_TOKEN, appToken: APP_TOKEN, apiRoot: `${slack.url}/api` });
    const diffs = [{ path: "/src/big.rs", line: 1, old: "a\n".repeat(9_000), new: "b\n".repeat(9_000) }];
    const card = cardOf("bigEdit", { subject: { kind: "edit", diffs } });
    const ref = await adapter.post({ chat: "C0TEAM", card, once: "1" });
    const [file] = slack.images;
    assert.match(file.bytes.toString(), /\+b\n/);
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

  test("an image is uploaded and then shown in the thread; each failure has its kind", async () => {
    const slack = await new Slack().start();
    const adapter = new Adapter({ botToken: BOT_TOKEN, appToken: APP_TOKEN, apiRoot: `${slack.url}/api` });
    const above = await adapter.post({ chat: "C0TEAM", card: { blocks: [text("a")], rows: [] }, once: "1" });
    const attach = (to = above) => adapter.attach({ chat: "C0TEAM", above: to, once: "i", caption: "Image 1: <!channel>", bytes: new Uint8Array(png(2, 3)), image: { name: "image-1.png", type: "image/png", width: 2, height: 3 } });
    const ref = await attach();
    assert.deepEqual(slack.images.map(({ id, name, title, above: to, authorization }) => [id, name, title, to, authorization]), [[ref, "image-1.png", "Image 1: <!channel>", above, undefined]]);
    for (const [method, error, storage, kind, to] of [
      ["files.getUploadURLExternal", "missing_scope", 200, "forbidden"],
      ["files.getUploadURLExternal", 429, 200, "rate"],
      ["files.completeUploadExternal", "file_uploads_disabled", 200, "refused"],
      ["chat.update", "unused", 500, "passing"],
      ["chat.update", "unused", 413, "refused"],
      ["chat.update", "unused", 200, "gone", "1.1"],
    ]) {
      Object.assign(slack, { next: [[method, error]], storage });
      assert.equal((await attach(to).catch(caught => caught)).kind, kind, `${method} ${error} ${storage}`);
    }
    await adapter.detach("C0TEAM", ref);
    assert.deepEqual(slack.images, []);
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
