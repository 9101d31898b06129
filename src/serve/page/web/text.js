// Shows texts of agents, as prose and as code. Whatever they say, they end in text nodes.

import { el } from "./dom.js";
import { visible } from "./words.js";

// Characters that are shown at once: laying out a mebibyte takes the browser about a second.
const AT_ONCE = 20_000;

/** Returns the text of one line or paragraph, with what stands between backticks as code. @param {string} text */
export function inline(text) {
  return visible(text)
    .split(/`([^`\n]+)`/)
    .map((part, place) => (place % 2 ? el("code", null, part) : part));
}

/** Returns a text as paragraphs; what stands between fences is code. @param {string} text @returns {HTMLElement} */
export function prose(text) {
  return folded(text, (shown) => {
    const parts = shown.split(/^ *(?:```|~~~).*\n?/m);
    const blocks = parts.map((part, place) => {
      const trimmed = part.replace(/^\n+|\s+$/g, "");
      if (!trimmed) return null;
      return place % 2 ? block(trimmed) : el("p", { dir: "auto" }, inline(trimmed));
    });
    return el("div", { class: "prose" }, blocks);
  });
}

/** Returns a text as code, in which each character counts. @param {string} text @param {string} [name] a class */
export function code(text, name = "") {
  return folded(text, (shown) => block(shown, name));
}

const block = (text, name = "") => el("pre", { class: `code ${name}`, dir: "ltr" }, el("code", null, visible(text)));

function folded(text, show) {
  if (text.length <= AT_ONCE) return show(text);
  const size = Math.ceil(text.length / 1024);
  const all = () => box.replaceChildren(show(text));
  const box = el("div", null, show(text.slice(0, AT_ONCE)), more(`Show all ${size} KB`, all));
  return box;
}

/** Returns a button that shows what was left out. @param {string} text @param {function} onclick */
export function more(text, onclick) {
  return el("button", { type: "button", class: "link", onclick }, text);
}
