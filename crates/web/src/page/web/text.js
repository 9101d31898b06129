// Shows texts of agents: as lines, as code, and as they are written. Whatever they say, they end in text nodes. Markdown is
// left to markdown.js.

import { button, el } from "./dom.js";
import { visible } from "./words.js";

// Characters that are shown at once: laying out a mebibyte takes the browser about a second.
const AT_ONCE = 20_000;

/** Code, bold text, and links to pages within a line. Each is found in one pass over it. */
const MARKS = /`([^`\n]+)`|\*\*(?=\S)((?:(?!\*\*)[^\n])+)(?<=\S)\*\*|(?<!!)\[([^[\]\n]+)\]\((https?:[^()\s]+)\)/g;

function marked(text, code, strong) {
  const parts = [];
  let at = 0;
  for (const { 0: all, 1: isCode, 2: isStrong, 3: linked, 4: address, index } of text.matchAll(MARKS)) {
    parts.push(text.slice(at, index), isCode ? code(isCode) : isStrong ? strong(isStrong) : `${linked} (${address})`);
    at = index + all.length;
  }
  return [...parts, text.slice(at)];
}

/** Returns a short text: its code and its bold words, and where its links lead. @param {string} text */
export const inline = text => marked(visible(text), it => el("code", it), it => el("strong", inline(it)));

/** Returns a text without the signs of its source, for one line of a list. @param {string} text */
export function plain(text) {
  const lines = text.split("\n").filter(it => !/^\s*(`{3}|~~~|=+\s*$|[-|:][-|: ]*$)/.test(it));
  const words = lines.map(it => it.replace(/^\s*#{1,6}\s+/, "")).join("\n");
  const strip = it => marked(it, code => code, strip).join("");
  return strip(words);
}

/** Returns a text as it is written, in paragraphs; what stands between fences is code. @param {string} text */
export const source = text =>
  folded(text, shown => {
    const parts = shown.split(/^ *(?:`{3}|~~~).*\n?/m).map(part => part.replace(/^\n+|\s+$/g, ""));
    let count = 0;
    const paragraphs = part => part.split(/\n{2,}/).map(it => el("p", { dir: "auto", "data-lines": `p${++count}` }, inline(it)));
    const show = (part, place) => part && (place % 2 ? block(part) : paragraphs(part));
    return el("div.paragraphs", parts.map(show));
  });

/** Returns a text as code, in which each character counts. @param {string} text @param {string} [name] its class */
export const code = (text, name = "") => folded(text, shown => block(shown, name));

/** Returns a block of code. @param {string|Array} text or its parts, as they are shown @param {string} [name] its class */
export const block = (text, name = "") => el(`pre.code.${name}`, { dir: "ltr", tabIndex: name == "drawn" ? 0 : null }, el("code", text.map ? text : visible(text)));

function folded(text, show) {
  if (text.length <= AT_ONCE) return show(text);
  const all = () => box.replaceChildren(show(text));
  const box = el("div", show(text.slice(0, AT_ONCE)), button("link.rest", all, `Show all ${Math.ceil(text.length / 1024)} KB`));
  return box;
}

/** What begins more than a line of text: code, a table, a quote, a list. */
const BLOCK = /^ *(`{3}|~~~|[|>]|[-*+] |\d+[.)] )/;

/** Returns the heading and the rest of a text: its first line, unless that is a part of something longer. @param {string} text */
export function headed(text) {
  const [first, ...rest] = text.trim().split("\n");
  if (BLOCK.test(first) && (rest.length || /^ *[`~]/.test(first))) return ["Question", text];
  // A line of dashes below it makes it a heading, and says no more.
  if (/^(=+|-+)\s*$/.test(rest[0] ?? "")) rest.shift();
  return [first.replace(/^#{1,6}\s+(.*?)(\s+#+)?\s*$/, "$1"), rest.join("\n").trim()];
}

/** Returns the direction of a text by its first letter: Hebrew, Arabic and the like, or another. @param {string} text */
export const direction = text => (/^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u.test(text) ? "rtl" : "ltr");
