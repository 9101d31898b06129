// Shows texts of agents as Markdown. The server reads them; each node of its tree becomes an element of ours, and each of
// its texts a text node. Until the tree is there, and where there is no server to ask, a text is shown as its source.

import { el, fill } from "./dom.js";
import { block, source } from "./text.js";
import { own, visible } from "./words.js";

/** Trees that are kept for texts that are shown again. */
const MOST = 200;
/** Bytes of the texts that are asked for at once: the server takes twice as many. */
const AT_MOST = 131_072;

/** What a text has that is more than paragraphs. */
const MARKS = /[*_`~[<>|\\]|^ *(#|[-+=]|\d+[.)])|https?:|\n {4}|&\w/m;

/** Each by what was asked for, as JSON. */
const trees = new Map();
/** Who waits for which. */
const wanted = new Map();
let ask = null;

/** Lets texts be read by this: it takes texts, and files as `{path, text}`, and promises `{documents}`. @param {function(Array): Promise<object>} call */
export const readBy = call => (ask = call);

/** Returns a text as it is meant: now, if its tree is known, and otherwise later, with the event `read`. @param {string} text */
export function prose(text) {
  const box = el("div.prose");
  const read = document => {
    show(box, document, text);
    box.dispatchEvent(new Event("read", { bubbles: true }));
  };
  show(box, MARKS.test(text) && tree(text, read), text);
  return box;
}

/** Tells the lines of code, each as a list of `[text, role]`: now, if they are known, and otherwise later. @param {{path: string, text: string}|{patch: string}} code @param {function(Array): void} then */
export function codeOf(code, then) {
  const lines = document => {
    const lines = [[]];
    for (const part of document.blocks?.[0]?.parts ?? []) {
      const { text, role } = part.role ? part : { text: part };
      text.split("\n").forEach((text, place) => {
        if (place) lines.push([]);
        if (text) lines.at(-1).push([text, role]);
      });
    }
    then(lines);
  };
  if (3 * (code.text ?? code.patch).length > AT_MOST) return;
  const known = tree(code, lines);
  if (known) lines(known);
}

function tree(it, then) {
  const key = JSON.stringify(it);
  if (trees.has(key) || !ask) return trees.get(key);
  if (!wanted.size) queueMicrotask(read);
  wanted.set(key, [...(wanted.get(key) ?? []), then]);
}

/** Asks for all that is wanted. */
function read() {
  let [batch, size] = [[], 0];
  const send = () => {
    if (batch.length) take(batch);
    [batch, size] = [[], 0];
  };
  for (const it of wanted) {
    const bytes = 3 * it[0].length;
    if (size + bytes > AT_MOST) send();
    batch.push(it);
    size += bytes;
  }
  send();
  wanted.clear();
}

async function take(batch) {
  // A server of an earlier version cannot read, and one that is out of reach is asked again for the next question.
  const { documents = [] } = await ask(batch.map(([key]) => JSON.parse(key))).catch(() => ({}));
  documents.forEach((document, place) => {
    const [key, waiting] = batch[place];
    trees.set(key, document);
    if (trees.size > MOST) trees.delete(trees.keys().next().value);
    for (const then of waiting) then(document);
  });
}

function show(box, document, text) {
  const why = document?.source;
  const note = why && el("p.hint", `Shown as it was written: ${visible(why)}.`);
  let shown;
  try {
    shown = document?.blocks && shownBlocks(document.blocks);
  } catch {
    // A later version has nodes that are not known here.
  }
  fill(box, note, shown ?? source(text));
}

/** Shows blocks. The headings begin below that of the question, and none is left out between two levels. */
function shownBlocks(blocks, levels = { last: 2 }) {
  return blocks.map(it => {
    const element = own(BLOCKS, it.kind)(it, levels);
    element.dataset.lines = it.lines.join("-");
    return element;
  });
}

const BLOCKS = {
  paragraph: ({ children }) => el("p", { dir: "auto" }, inlines(children)),
  heading: ({ level, children }, levels) => {
    levels.last = Math.min(level + 2, levels.last + 1, 6);
    return el(`h${levels.last}`, { dir: "auto" }, inlines(children));
  },
  list: ({ items }, levels) => el(items.some(({ number }) => number != null) ? "ol" : "ul", items.map(it => item(it, levels))),
  quote: ({ blocks }, levels) => el("blockquote", shownBlocks(blocks, levels)),
  code: ({ language, parts }) => el("div.block", language.trim() && el("p.language", visible(language)), block(parts.map(token))),
  table,
  rule: () => el("hr"),
};

const token = (part, place, { length }) => {
  const { text, role } = part.role ? part : { text: part };
  const shown = visible(place == length - 1 ? text.replace(/\n$/, "") : text);
  return role ? el("span", { "data-role": role }, shown) : shown;
};

function item({ lines, number, done, blocks }, levels) {
  const tick = done != null && el("span.tick", { role: "img", ariaLabel: done ? "Done" : "To do" }, done ? "☑" : "☐");
  const element = el(`li.${tick ? "task" : ""}`, tick, shownBlocks(blocks, levels));
  if (number != null) element.value = number;
  element.dataset.lines = lines.join("-");
  return element;
}

/** A row may have more cells than the head. Where a table has no room, its rows stand below each other, with the heads in each. */
function table({ alignments, head, rows }) {
  const heads = head.cells.map((cell, place) => el(`th.${alignments[place] ?? ""}`, { scope: "col", dir: "auto" }, inlines(cell)));
  const named = heads.map(it => it.textContent);
  const cell = (it, place) => el(`td.${alignments[place] ?? ""}`, { dir: "auto", "data-head": named[place] || null }, inlines(it));
  const row = ({ lines, cells }) => el("tr", { "data-lines": lines.join("-") }, cells.map(cell));
  const { length } = head.cells;
  return el(`table.${length > 6 ? "tall" : length > 3 ? "broad" : ""}`, el("thead", el("tr", { "data-lines": head.lines.join("-") }, heads)), el("tbody", rows.map(row)));
}

const inlines = parts => parts.map(part => (typeof part == "string" ? visible(part) : own(INLINES, part.kind)(part)));

const INLINES = {
  strong: ({ children }) => el("strong", inlines(children)),
  emphasis: ({ children }) => el("em", inlines(children)),
  struck: ({ children }) => el("s", inlines(children)),
  code: ({ text }) => el("code", visible(text)),
  break: () => "\n",
  link: ({ address, isAddress, children }) => {
    const opens = /^(https?|mailto):/i.test(address);
    const text = opens ? el("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, inlines(children)) : inlines(children);
    return [text, (!isAddress || !opens) && el("small.to", { dir: "ltr" }, ` (${visible(address)})`)];
  },
};
