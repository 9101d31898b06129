// A card as a message of Matrix: HTML, and the same as plain text. Matrix has no buttons: a reaction, or a short reply, is the
// tap. What each stands for is in the message itself, where the adapter reads it again.

import type { Block, Button, Card, Inline, Limits } from "../core/card.js";
import { plain } from "../core/card.js";
import { readData } from "../core/entry.js";

/** A button as the message has it. */
export interface Key {
  /** The reaction. Empty if there is none, since numbers end at ten. */
  key: string;
  label: string;
  data: string;
}

/** The member of the content that has the buttons. */
export const KEYS = "dev.askbridge.keys";

/** The content of `m.room.message`. */
export interface Content {
  msgtype: "m.text";
  body: string;
  format: "org.matrix.custom.html";
  formatted_body: string;
  "m.mentions": { user_ids?: string[] };
  [KEYS]?: Key[];
}

/** An event has 65,536 bytes, and an edit has the content twice. */
const EVENT = 60_000;
const BUTTONS = 100;

export const limits: Limits = {
  buttons: BUTTONS,
  label: 80,
  formFields: 0,
  fits: card => Buffer.byteLength(JSON.stringify(edited("$", render(card)))) <= EVENT && card.rows.flat().length <= BUTTONS,
};

const SIGNS: Record<string, string> = { d: "📨", z: "📨", "!": "✅", b: "↩️", x: "❌", c: "✋", r: "👋", k: "⏭️", a: "🔄" };

function keyOf({ label, data }: Button): Key {
  const act = readData(data)?.act ?? "";
  const [, place] = /^o\d+\.(\d+)$/.exec(act) ?? [];
  const number = place === undefined ? undefined : Number(place) + 1;
  const key = number === undefined ? (SIGNS[act[0]!] ?? "") : number < 10 ? `${number}\ufe0f\u20e3` : number === 10 ? "🔟" : "";
  return { key, label, data };
}

/** Writes a card. */
export function render({ blocks, rows, mentions }: Card): Content {
  const keys = rows.flat().map(keyOf);
  const shown = keys.map(({ key, label }) => `${key} ${label}`.trim());
  const how = keys.length ? "React with one of these, or reply with its number or its name." : "";
  const html = [...blocks.map(htmlOf), ...(keys.length ? [`<p>${shown.map(escape).join("<br>")}<br><em>${how}</em></p>`] : [])];
  return {
    msgtype: "m.text",
    body: [plain(blocks), ...(keys.length ? ["", ...shown, how] : [])].join("\n"),
    format: "org.matrix.custom.html",
    formatted_body: html.join(""),
    // Nobody else is told, whatever the text says.
    "m.mentions": mentions?.length ? { user_ids: mentions } : {},
    ...(keys.length && { [KEYS]: keys }),
  };
}

/** Returns the content of an event that changes a message. */
export function edited(ref: string, content: Content): object {
  return {
    ...content,
    body: `* ${content.body}`,
    formatted_body: `* ${content.formatted_body}`,
    "m.mentions": {},
    "m.new_content": content,
    "m.relates_to": { rel_type: "m.replace", event_id: ref },
  };
}

export const escape = (text: string): string =>
  text.replace(/[&<>"]/g, char => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[char]!).replace(/\n/g, "<br>");

function htmlOf(block: Block): string {
  if (block.kind === "code") {
    const language = block.language ? ` class="language-${escape(block.language)}"` : "";
    // Lines of code are lines already.
    const code = `<pre><code${language}>${escape(block.text).replaceAll("<br>", "\n")}</code></pre>`;
    // A client that folds nothing shows all of it.
    return block.folded ? `<details><summary>${block.text.split("\n").length} lines</summary>${code}</details>` : code;
  }
  const words = "&nbsp;&nbsp;".repeat(block.depth ?? 0) + (block.marker ? `${escape(block.marker)} ` : "") + block.inlines.map(htmlOfInline).join("");
  return block.quote ? `<blockquote>${words}</blockquote>` : `<p>${words}</p>`;
}

function htmlOfInline({ text, bold, italic, strike, code }: Inline): string {
  let html = escape(text);
  if (code) html = `<code>${html}</code>`;
  if (bold) html = `<strong>${html}</strong>`;
  if (italic) html = `<em>${html}</em>`;
  if (strike) html = `<del>${html}</del>`;
  return html;
}

/** Words that mean a button without its label. */
const WORDS: Record<string, string> = { send: "dz", done: "d", yes: "!", back: "b", reject: "x", skip: "k" };

/** Returns the button that a reaction or a short reply stands for, if it is one alone. */
export function keyFor(keys: Key[], said: string): Key | undefined {
  const bare = (text: string) => text.replace(/\ufe0f/g, "").trim().toLowerCase();
  const words = bare(said);
  if (words === "") return undefined;
  const acts = (key: Key) => readData(key.data)?.act ?? "";
  const number = /^\d{1,3}$/.test(words) ? Number(words) : undefined;
  const kinds: ((key: Key) => boolean)[] = [
    ({ key }) => key !== "" && bare(key) === words,
    key => number !== undefined && new RegExp(`^o\\d+\\.${number - 1}$`).test(acts(key)),
    ({ label }) => bare(label) === words || bare(label.replace(/^[☐☑] /, "").replace(/^\d+\. /, "")) === words,
    key => (WORDS[words] ?? "").includes(acts(key)[0] ?? "?"),
  ];
  for (const fits of kinds) {
    const found = keys.filter(fits);
    if (found.length) return found.length === 1 ? found[0] : undefined;
  }
  return undefined;
}
