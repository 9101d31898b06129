// Shows texts of agents, as prose and as code. Whatever they say, they end in text nodes.

import { button, el } from "./dom.js";
import { visible } from "./words.js";

// Characters that are shown at once: laying out a mebibyte takes the browser about a second.
const AT_ONCE = 20_000;

/** Returns a short text; what stands between backticks is code. @param {string} text */
export const inline = text => visible(text).split(/`([^`\n]+)`/).map((part, place) => (place % 2 ? el("code", part) : part));

/** Returns a text as paragraphs; what stands between fences is code. @param {string} text */
export const prose = text =>
  folded(text, shown => {
    const parts = shown.split(/^ *(?:`{3}|~~~).*\n?/m).map(part => part.replace(/^\n+|\s+$/g, ""));
    const show = (part, place) => part && (place % 2 ? block(part) : el("p", { dir: "auto" }, inline(part)));
    return el("div.prose", parts.map(show));
  });

/** Returns a text as code, in which each character counts. @param {string} text @param {string} [name] its class */
export const code = (text, name = "") => folded(text, shown => block(shown, name));

const block = (text, name = "") => el(`pre.code.${name}`, { dir: "ltr", tabIndex: name == "drawn" ? 0 : null }, el("code", visible(text)));

function folded(text, show) {
  if (text.length <= AT_ONCE) return show(text);
  const all = () => box.replaceChildren(show(text));
  const box = el("div", show(text.slice(0, AT_ONCE)), button("link.rest", all, `Show all ${Math.ceil(text.length / 1024)} KB`));
  return box;
}

/** Returns the heading and the rest of a text: its first line, unless that is code. @param {string} text */
export function headed(text) {
  const [first, ...rest] = text.trim().split("\n");
  const isCode = /^ *(`{3}|~~~)/.test(first);
  return isCode ? ["Question", text] : [first, rest.join("\n").trim()];
}

/** Returns the direction of a text by its first letter: Hebrew, Arabic and the like, or another. @param {string} text */
export const direction = text => (/^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u.test(text) ? "rtl" : "ltr");
