// Tables of what the pure parts return: whose texts leave the machine, when it is quiet, what a typed text means, how texts
// are written, what is wrong with settings.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "smol-toml";

import { Secrets } from "../dist/adapter.js";
import { CHATS } from "../dist/chats.js";
import { cut, cutToFit, plain, printable, printableLine } from "../dist/core/card.js";
import { describe, diffText } from "../dist/core/describe.js";
import { dataOf, keyOf, readData, readSlot, slotOf } from "../dist/core/entry.js";
import { readTyped } from "../dist/core/fields.js";
import { markdown } from "../dist/core/markdown.js";
import { disclosureOf, quietFor } from "../dist/core/policy.js";
import { Bucket } from "../dist/courier.js";
import { settingsOf, SettingsError } from "../dist/settings.js";
import * as discord from "../dist/discord/render.js";
import * as matrix from "../dist/matrix/render.js";
import * as slack from "../dist/slack/render.js";
import * as telegram from "../dist/telegram/render.js";
import { edited, KEYS, keyFor, limits as matrixLimits, render as renderMatrix } from "../dist/matrix/render.js";
import { isPhoto, limits, render } from "../dist/telegram/render.js";
import { record, SAMPLES } from "./samples.js";
import { cardFor, policy } from "./world.js";

test("when it is quiet", () => {
  const at = text => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
  const span = text => ({ from: at(text.slice(0, 5)), to: at(text.slice(6)) });
  for (const [spans, now, wanted] of [
    [[], "12:00", 0],
    [["22:00-07:00"], "21:59", 0],
    [["22:00-07:00"], "22:00", 540],
    [["22:00-07:00"], "23:59", 421],
    [["22:00-07:00"], "06:59", 1],
    [["22:00-07:00"], "07:00", 0],
    [["12:00-13:00"], "12:30", 30],
    [["12:00-13:00", "13:00-14:00"], "12:30", 90],
    [["00:00-00:00"], "05:00", 1440],
  ]) {
    assert.equal(quietFor(spans.map(span), at(now)), wanted, `${spans} ${now}`);
  }
});

test("what leaves the machine", () => {
  const shop = { folder: "/src/shop", text: "all" };
  for (const [rules, question, id, wanted] of [
    [[], {}, "a-1", "none"],
    [[shop], {}, "a-1", "all"],
    [[shop], { project: "/src/shop/web" }, "a-1", "all"],
    [[shop], { project: "/src/shopping" }, "a-1", "none"],
    [[shop], { project: "/src/shop/../bank" }, "a-1", "none"],
    [[shop], { project: undefined }, "a-1", "none"],
    [[shop], {}, "box/a-1", "none"],
    [[{ ...shop, machine: "box" }], {}, "box/a-1", "all"],
    [[{ text: "title" }], {}, "box/a-1", "title"],
    [[{ kinds: ["permission"], text: "all" }], {}, "a-1", "none"],
    [[{ kinds: ["question"], text: "all" }], {}, "a-1", "all"],
    [[{ kinds: ["execute"], text: "all" }], SAMPLES.dangerous, "a-1", "all"],
    [[{ kinds: ["execute"], text: "all" }], SAMPLES.edit, "a-1", "none"],
    [[{ kinds: ["execute"], text: "none" }, shop], SAMPLES.dangerous, "a-1", "none"],
    // A question cannot say that it is of a kind.
    [[{ kinds: ["read"], text: "all" }], { subject: { kind: "read" } }, "a-1", "none"],
  ]) {
    const asked = record("choice", id, { question });
    assert.equal(disclosureOf(policy({ text: "none", rules }), asked), wanted, JSON.stringify([rules, question, id]));
  }
});

test("what a typed text means", () => {
  const options = [["pg", "Postgres"], ["lite", "SQLite"], ["3", "Three"]].map(([value, label]) => ({ value, label }));
  const choice = { kind: "choice", options, other: false };
  const choices = { kind: "choices", options, other: false };
  for (const [field, text, wanted] of [
    [choice, "pg", "pg"],
    [choice, " postgres ", "pg"],
    [choice, "2", "lite"],
    [choice, "3", "3"],
    [choice, "4", undefined],
    [choice, "0", undefined],
    [{ ...choice, other: true }, "4", "4"],
    [{ ...choice, other: true }, "Maria", "Maria"],
    [{ kind: "choice", other: false, options: [{ value: "a", label: "Same" }, { value: "b", label: "Same" }] }, "Same", undefined],
    [choices, "1, SQLite", ["pg", "lite"]],
    [choices, "pg, nothing", undefined],
    [{ ...choices, other: true }, "pg, nothing", ["pg, nothing"]],
    [{ kind: "number" }, "8080", 8080],
    [{ kind: "number" }, "2,5", 2.5],
    [{ kind: "number" }, "", undefined],
    [{ kind: "number" }, "Infinity", undefined],
    [{ kind: "boolean" }, "YES", true],
    [{ kind: "boolean" }, "maybe", undefined],
    [{ kind: "confirm", yes: "Deploy", no: "Wait" }, "wait", false],
    [{ kind: "texts" }, "a\r\n\n b ", ["a", "b"]],
    [{ kind: "text" }, " as it is ", "as it is"],
    [{ kind: "json" }, '{"a":1}', '{"a":1}'],
    [{ kind: "unknown" }, "a", undefined],
  ]) {
    const read = readTyped({ name: "q", label: "", ...field }, text);
    assert.deepEqual(read.value, wanted, JSON.stringify([field, text]));
    assert.equal("error" in read, wanted === undefined);
  }
});

test("nothing of a text is out of sight", () => {
  for (const [text, wanted] of [
    ["a\u202eb", "a\\u{202e}b"],
    ["a\u0000\u001b[31m", "a\\u{0}\\u{1b}[31m"],
    ["a\r\nb\rc\td", "a\nb\nc\td"],
    ["\u{e0041}", "\\u{e0041}"],
    ["\ud800", "\ufffd"],
    ["👩‍💻 ü 中", "👩‍💻 ü 中"],
  ]) {
    assert.equal(printable(text), wanted);
  }
  assert.equal(printableLine("a\nb\tc"), "a␊b␉c");
  assert.equal(cut("abcdef", 4), "abc…");
  // Every letter of a text in Markdown is in what is shown of it, but for its markup.
  const shown = plain(markdown("# H\n\n*a* **b** ~~c~~ `d<e` [x](http://e.example 't') ![i](u) <i>raw</i> &amp; \\* <!-- note -->\n\n- [x] one\n  1. two\n\n> q\n\n|a|b|\n|-|-|\n|1|2|\n\n```js\ncode\n```\n\n[r]: http://def.example\n"));
  for (const part of ["H", "a", "b", "c", "d<e", "x (http://e.example \"t\")", "i (u)", "<i>raw</i>", "&amp;", "*", "<!-- note -->", "☑ one", "1. two", "> q", "a │ b", "code", "http://def.example"]) {
    assert.ok(shown.includes(part), `${part} in ${shown}`);
  }
  const deep = `${"> ".repeat(200)}end`;
  assert.ok(plain(markdown(deep)).includes("end"));
});

test("a change, and what is not shown whole", () => {
  assert.equal(diffText("a\nb\nc\n", "a\nx\nc\n"), " a\n-b\n+x\n c");
  assert.equal(diffText(undefined, "new\n"), "+new");
  assert.equal(diffText("a\n", ""), "-a");
  const none = { coming: 0, missing: 0 };
  for (const [name, absent, isWhole] of [["edit", none, true], ["cut", none, false], ["image", none, true], ["image", { coming: 1, missing: 0 }, false], ["image", { coming: 0, missing: 1 }, false], ["recording", none, false], ["dangerous", none, true]]) {
    assert.equal(describe(record(name, "a-1"), absent).isWhole, isWhole, name);
  }
  const [folded] = describe(record("bigEdit", "a-1"), none).blocks.filter(({ kind }) => kind === "code");
  const [open] = describe(record("edit", "a-1"), none).blocks.filter(({ kind }) => kind === "code");
  assert.deepEqual([folded.folded, open.folded], [true, undefined]);
});

test("the names of messages and buttons", () => {
  for (const id of ["k3f9q2-1", "sandbox.vm-ikydr7/ed3q4y-1", `${"x".repeat(500)}-1`]) {
    const key = keyOf(id);
    const data = dataOf({ key, edition: 4_294_967_295 }, "!o31.63");
    assert.ok(Buffer.byteLength(data) <= 64, data);
    assert.deepEqual(readData(data), { key, edition: 4_294_967_295, act: "!o31.63" });
    for (const kind of ["question", "second", "escalation", "image"]) assert.deepEqual(readSlot(slotOf(key, kind, "-100/2!@", kind === "image" ? "x".repeat(16) : "")), { key, kind, chat: "-100/2!@" });
  }
  for (const data of ["", "x", "AAAAAAAAAAAA.0.", "AAAAAAAAAAAA.-1.x", "AAAAAAAAAAA!.0.x", `AAAAAAAAAAAA.0.${"x".repeat(41)}`]) assert.equal(readData(data), undefined, data);
});

test("a card as a message of Telegram", () => {
  const at = ({ text, entities }) => entities.map(({ type, offset, length }) => `${type}: ${text.slice(offset, offset + length)}`);
  const card = blocks => ({ blocks, rows: [] });
  const written = render(card(markdown("Hi **bold *both*** `a<b` 👩‍💻 *it*\n\n```js\n1 < 2\n```\n\n> quoted\n\n- one\n- two")));
  assert.equal(written.text, "Hi bold both a<b 👩‍💻 it\n\n1 < 2\n\nquoted\n\n• one\n• two");
  assert.deepEqual(at(written), ["bold: bold ", "bold: both", "italic: both", "code: a<b", "italic: it", "pre: 1 < 2", "blockquote: quoted"]);
  assert.equal(render(card([{ kind: "text", inlines: [{ text: "  \n a \n" }] }])).text, "a");
  assert.deepEqual(at(render(card([{ kind: "code", text: "-a\n+b", language: "diff", folded: true }]))), ["expandable_blockquote: -a\n+b"]);
  for (const [type, width, height, bytes, wanted] of [
    ["image/png", 2_560, 1_440, 1_000, true],
    ["image/webp", 100, 2_000, 1_000, true],
    ["image/png", 2_561, 1_440, 1_000, false],
    ["image/png", 99, 2_000, 1_000, false],
    ["image/png", 100, 100, 10_000_001, false],
    ["image/gif", 100, 100, 1_000, false],
    ["image/png", 0, 100, 1_000, false],
  ]) {
    assert.equal(isPhoto({ type, width, height }, bytes), wanted, `${type} ${width}×${height}`);
  }
  const long = card([{ kind: "text", inlines: [{ text: "x".repeat(4_096) }] }]);
  assert.ok(limits.fits(long));
  long.blocks.push({ kind: "code", text: "👩‍💻".repeat(50) });
  assert.ok(!limits.fits(long));
  const less = cutToFit(long, limits);
  assert.ok(limits.fits(less));
  assert.ok(render(less).text.endsWith("does not fit here."));
  const mention = render({ blocks: [{ kind: "text", inlines: [{ text: "Ada: look" }] }], rows: [], mentions: ["2"] });
  assert.deepEqual(mention.entities.map(({ type, length, user }) => [type, length, user.id]), [["text_mention", 3, 2]]);
});

test("each sample fits into a message of each chat, or can only be rejected", () => {
  for (const [chat, { limits: fits, render: write }, least] of [["Telegram", telegram, 1], ["Slack", slack, 0], ["Discord", discord, 1], ["Matrix", matrix, 0]]) {
    const cardOf = cardFor(chat, fits);
    for (const name of Object.keys(SAMPLES)) {
      const card = cardOf(name);
      assert.ok(fits.fits(card), `${name} in ${chat}`);
      assert.ok(card.rows.length > 0, `${name} in ${chat}`);
      for (const { label } of card.rows.flat()) assert.ok([...label].length <= fits.label, `${label} in ${chat}`);
      assert.ok(JSON.stringify(write(card)).length > 0);
    }
    if (least) assert.deepEqual(cardOf("long").rows.flat().map(({ label }) => label), ["Reject"], chat);
  }
  for (const name of Object.keys(SAMPLES)) {
    assert.ok(discord.render(cardFor("Discord", discord.limits)(name)).content.length <= 2_000, name);
    const rows = slack.render(cardFor("Slack", slack.limits)(name)).blocks.flatMap(({ elements, type }) => (type === "actions" ? elements : []));
    for (const { text: label } of rows) assert.ok(label.text.length <= 75, name);
  }
});

test("so many at once, and then one each so often", () => {
  const bucket = new Bucket({ burst: 2, everyMs: 1_000 });
  assert.deepEqual([0, 0, 0, 500, 1_000, 1_000].map(now => bucket.take(now)), [0, 0, 1_000, 500, 0, 1_000]);
  const free = new Bucket({ burst: 1, everyMs: 0 });
  assert.deepEqual([0, 0, 0].map(now => free.take(now)), [0, 0, 0]);
});

test("a token is in no text", () => {
  const secrets = new Secrets(["123:AAH-secret/x", ""]);
  assert.equal(secrets.hide("to /bot123:AAH-secret/x/send and 123%3AAAH-secret%2Fx"), "to /bot(token)/send and (token)");
});

test("settings", () => {
  const least = { telegram: { token: "t", chats: ["1"], users: { 1: "Ben" } } };
  const read = (more, environment = {}) => settingsOf("telegram", { ...least, ...more }, { HOME: "/h", ...environment });
  const { policy: set, stateFile, own, secrets } = read({ text: "all", delay: "5s", quiet: ["22:00-07:00"], texts: [{ folder: "/src", kinds: ["edit"], text: "none" }] });
  assert.deepEqual(
    [set.text, set.delayMs, set.quiet, set.rules, set.chats, [...set.users], set.chat, stateFile, own.token, secrets],
    ["all", 5_000, [{ from: 1320, to: 420 }], [{ folder: "/src", kinds: ["edit"], text: "none" }], ["1"], [["1", "Ben"]], "Telegram", "/h/.local/state/askbridge/chat-telegram.json", "t", ["t"]],
  );
  assert.equal(read({}).policy.text, "none");
  const environment = { ASKBRIDGE_CHAT_TELEGRAM_TOKEN: "e", ASKBRIDGE_CHAT_TELEGRAM_CHATS: "-1, 2", ASKBRIDGE_CHAT_TELEGRAM_USERS: "1=Ben,2=Ada", ASKBRIDGE_CHAT_TEXT: "title" };
  const over = settingsOf("telegram", {}, { HOME: "/h", ...environment });
  assert.deepEqual([over.own.token, over.policy.chats, [...over.policy.users], over.policy.text], ["e", ["-1", "2"], [["1", "Ben"], ["2", "Ada"]], "title"]);
  for (const [more, problem] of [
    [{ text: "everything" }, "text: must be none or title or all"],
    [{ txt: "all" }, "txt: there is no such setting"],
    [{ delay: "5" }, "delay: must be a time"],
    [{ quiet: ["22-7"] }, "quiet: must be hours"],
    [{ telegram: { ...least.telegram, users: {} } }, "telegram.users: needs at least one person"],
    [{ telegram: { ...least.telegram, users: { 1: "" } } }, "telegram.users: each ID needs a name"],
    [{ telegram: { ...least.telegram, chats: [] } }, "telegram.chats: needs the ID"],
    [{ telegram: { chats: ["1"], users: { 1: "Ben" } } }, "telegram.token: is missing: set it in the file, or ASKBRIDGE_CHAT_TELEGRAM_TOKEN"],
    [{ telegram: { ...least.telegram, escalate: { to: "5" } } }, "telegram.escalate.to: must be the ID of one of the users"],
    [{ texts: [{ folder: "shop", text: "all" }] }, "texts[0].folder: must be an absolute path"],
    [{ server: { url: "http://127.0.0.1:1" } }, "server: needs both"],
    [{ telegram: 5 }, "telegram: must be a table"],
  ]) {
    assert.throws(() => read(more), error => error instanceof SettingsError && error.problems.some(one => one.startsWith(problem)), problem);
  }
});

test("a card as a message of Matrix", () => {
  const data = act => `AAAAAAAAAAAA.0.${act}`;
  const rows = [[{ data: data("o0.0"), label: "☐ 1. <b>Yes</b>" }], [{ data: data("o0.11"), label: "Twelfth" }], [{ data: data("d0"), label: "Send" }, { data: data("x"), label: "Reject" }]];
  const content = renderMatrix({ blocks: markdown("Hi **@room** <img src=x> `a&b`\n\n```js\n1 < 2\n```\n\n> q\n\n- one"), rows });
  assert.equal(content.formatted_body.split("<p>☐").length, 1);
  for (const part of ["<strong>@room</strong>", "&lt;img src=x&gt;", "<code>a&amp;b</code>", '<pre><code class="language-js">1 &lt; 2</code></pre>', "<blockquote>q</blockquote>", "• one", "1️⃣ ☐ 1. &lt;b&gt;Yes&lt;/b&gt;"]) {
    assert.ok(content.formatted_body.includes(part), `${part} in ${content.formatted_body}`);
  }
  assert.deepEqual(content["m.mentions"], {});
  const { formatted_body: folded } = renderMatrix({ blocks: [{ kind: "code", text: "-<a>\n+b", language: "diff", folded: true }], rows: [] });
  assert.equal(folded, '<details><summary>2 lines</summary><pre><code class="language-diff">-&lt;a&gt;\n+b</code></pre></details>');
  const keys = content[KEYS];
  for (const [said, wanted] of [["1", "o0.0"], ["1️⃣", "o0.0"], ["12", "o0.11"], ["twelfth", "o0.11"], ["<b>yes</b>", "o0.0"], ["send", "d0"], ["Reject", "x"], ["❌", "x"], ["2", undefined], ["", undefined], ["whatever", undefined]]) {
    assert.equal(keyFor(keys, said)?.data, wanted && data(wanted), said);
  }
  const change = edited("$1", content);
  assert.deepEqual([change["m.relates_to"], change["m.new_content"]], [{ rel_type: "m.replace", event_id: "$1" }, content]);
  const long = { blocks: [{ kind: "code", text: "<".repeat(20_000) }], rows: [] };
  assert.ok(!matrixLimits.fits(long) && matrixLimits.fits(cutToFit(long, matrixLimits)));
});

test("the settings in docs/chat.md are understood", () => {
  const page = readFileSync(new URL("../../../docs/chat.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/^( *)```toml\n([^]*?)```/gm)].map(([, indent, text]) => text.replaceAll(`\n${indent}`, "\n"));
  const kinds = new Set();
  for (const block of blocks) {
    const table = parse(block);
    const kind = Object.keys(CHATS).find(one => one in table) ?? "telegram";
    kinds.add(kind);
    settingsOf(kind, { telegram: { token: "t", chats: ["1"], users: { 1: "Ben" } }, ...table }, { HOME: "/h" });
  }
  // Each chat has its steps.
  assert.deepEqual([...kinds].sort(), Object.keys(CHATS).sort());
  const variables = [...page.matchAll(/ASKBRIDGE_CHAT_\w+/g)].map(([name]) => name);
  assert.ok(variables.length >= 4);
  const set = settingsOf("telegram", {}, Object.fromEntries([["HOME", "/h"], ...variables.map(name => [name, /USERS/.test(name) ? "1=Ben" : /TEXT/.test(name) ? "all" : "1"])]));
  assert.equal(set.policy.text, "all");
});
