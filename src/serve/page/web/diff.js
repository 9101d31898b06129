// Shows the change of a file line by line, inline or side by side.

import { el } from "./dom.js";
import { more } from "./text.js";
import { line as oneLine } from "./words.js";

// Beyond this many pairs of lines, or rows, a comparison or its layout would take too long.
const PAIRS = 1_000_000;
const ROWS = 300;

/** Returns the change of one file. @param {{path: string, line: number, old?: string, new: string}} diff */
export function diff({ path, line = 1, old, new: text }) {
  const changes = compare(lines(old ?? ""), lines(text)).map(numbered(line));
  const count = (sign) => changes.filter((change) => change.sign == sign).length;
  const body = el("div", { class: "lines", dir: "ltr" });
  const show = (isSplit) => {
    body.classList.toggle("split", isSplit);
    fill(body, isSplit ? sides(changes) : changes.map(row));
  };
  const toggle = el("input", { type: "checkbox", onchange: () => show(toggle.checked) });
  show(false);
  return el(
    "figure",
    { class: "diff" },
    el(
      "figcaption",
      null,
      el("bdi", { class: "path" }, oneLine(path)),
      old == null && el("span", { class: "chip" }, "New file"),
      el("span", { class: "count" }, el("ins", null, `+${count("+")}`), " ", el("del", null, `−${count("−")}`)),
      old != null && el("label", { class: "toggle" }, toggle, "Side by side"),
    ),
    body,
  );
}

/** Returns a patch in the format of Git. @param {string} text */
export function patch(text) {
  const signs = { "+": "+", "-": "−" };
  const changes = lines(text).map((line) => ({ sign: signs[line[0]] ?? " ", text: signs[line[0]] ? line.slice(1) : line }));
  const body = el("div", { class: "lines", dir: "ltr" });
  fill(body, changes.map(row));
  return el("figure", { class: "diff" }, el("figcaption", null, "Patch"), body);
}

// With its end, so that a missing one is seen as a change.
const lines = (text) => text.split(/(?<=\n)/).filter(Boolean);

/** Returns the lines of both texts in order: those that stay, are removed and are added. */
function compare(old, text) {
  let start = 0;
  while (start < old.length && old[start] === text[start]) start++;
  let end = 0;
  const most = Math.min(old.length, text.length) - start;
  while (end < most && old.at(-1 - end) === text.at(-1 - end)) end++;
  const same = (part) => part.map((line) => ({ sign: " ", text: line }));
  const middle = between(old.slice(start, old.length - end), text.slice(start, text.length - end));
  return [...same(old.slice(0, start)), ...middle, ...same(end ? old.slice(-end) : [])];
}

/** Returns the changes by the longest common subsequence. */
function between(old, text) {
  const width = text.length + 1;
  const isSmall = old.length * text.length <= PAIRS;
  const common = new Uint16Array(isSmall ? (old.length + 1) * width : 0);
  for (let i = old.length - 1; isSmall && i >= 0; i--) {
    for (let j = text.length - 1; j >= 0; j--) {
      const at = i * width + j;
      common[at] = old[i] === text[j] ? common[at + width + 1] + 1 : Math.max(common[at + width], common[at + 1]);
    }
  }
  const changes = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < text.length) {
    if (isSmall && i < old.length && old[i] === text[j]) changes.push({ sign: " ", text: old[(j++, i++)] });
    else if (i < old.length && !(j < text.length && common[i * width + j + 1] > common[(i + 1) * width + j]))
      changes.push({ sign: "−", text: old[i++] });
    else changes.push({ sign: "+", text: text[j++] });
  }
  return changes;
}

/** Numbers the lines of both texts, which begin with the same one. */
function numbered(first) {
  let [before, after] = [first, first];
  return (change) => {
    const number = change.sign == "−" ? before : after;
    if (change.sign != "+") before++;
    if (change.sign != "−") after++;
    return { ...change, number, before: before - 1 };
  };
}

const KINDS = { "+": ["added", "ins"], "−": ["removed", "del"], " ": ["", "span"] };

function row({ sign, number, text }) {
  const [kind, tag] = KINDS[sign];
  const shown = oneLine(text.replace(/\n$/, "").replaceAll("\t", "    "));
  return el("div", { class: `row ${kind}` }, number && el("i", null, number), el("b", null, sign), el(tag, null, shown || " "));
}

/** Returns rows of two columns: a removed line stands beside the added one that takes its place. */
function sides(changes) {
  const rows = [];
  let [removed, added] = [[], []];
  const blank = () => el("div", { class: "row" });
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      rows.push([removed[at], added[at]].map((change) => (change ? row(change) : blank())));
    }
    [removed, added] = [[], []];
  };
  for (const change of changes) {
    if (change.sign != " ") (change.sign == "+" ? added : removed).push(change);
    else {
      flush();
      rows.push([row({ ...change, number: change.before }), row(change)]);
    }
  }
  flush();
  return rows;
}

function fill(body, rows) {
  const shown = rows.slice(0, ROWS).flat();
  const all = () => body.replaceChildren(...rows.flat());
  body.replaceChildren(...shown, ...(rows.length > ROWS ? [more(`Show all ${rows.length} lines`, all)] : []));
}
