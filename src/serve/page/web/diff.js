// Shows the change of a file line by line, inline or side by side.

import { el } from "./dom.js";
import { more } from "./text.js";
import { line as oneLine } from "./words.js";

// More pairs to compare, or rows to lay out at once, would take too long.
const PAIRS = 1_000_000;
const ROWS = 300;
const KINDS = { "+": ["added", "ins"], "−": ["removed", "del"], " ": ["", "span"] };

/** Returns the change of one file. @param {{path: string, line: number, old?: string, new: string}} change */
export function diff({ path, line = 1, old, new: text }) {
  const changes = compare(lines(old ?? ""), lines(text), line);
  const count = (sign) => `${sign}${changes.filter((change) => change.sign == sign).length}`;
  const body = el("div.lines", { dir: "ltr" });
  const show = () => {
    body.classList.toggle("split", split.checked);
    fill(body, changes, split.checked ? sides : inline);
  };
  const split = el("input", { type: "checkbox", onchange: show });
  show();
  const counts = el("span", el("ins", count("+")), " ", el("del", count("−")));
  const about = old == null ? el("span.chip", "New file") : el("label.toggle", split, "Side by side");
  return el("figure.diff", el("figcaption", el("bdi.path", oneLine(path)), counts, about), body);
}

/** Returns a patch in the format of Git. @param {string} text */
export function patch(text) {
  const body = el("div.lines", { dir: "ltr" });
  const change = (text) => {
    // `---` and `+++` name the files.
    const sign = /^(?!---|\+\+\+)[-+]/.exec(text)?.[0] ?? "";
    return { sign: { "+": "+", "-": "−" }[sign] ?? " ", text: text.slice(sign.length) };
  };
  fill(body, lines(text).map(change), inline);
  return el("figure.diff", el("figcaption", "Patch"), body);
}

// With their ends, so that a missing one is seen as a change.
const lines = (text) => text.split(/(?<=\n)/).filter(Boolean);

/** Returns the lines of both texts in order, with their numbers: those that stay, are removed and are added. */
function compare(old, text, first) {
  const most = Math.min(old.length, text.length);
  let [start, end] = [0, 0];
  while (start < most && old[start] === text[start]) start++;
  while (end < most - start && old.at(-1 - end) === text.at(-1 - end)) end++;
  const [oldEnd, textEnd] = [old.length - end, text.length - end];
  const common = longest(old.slice(start, oldEnd), text.slice(start, textEnd));
  const changes = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < text.length) {
    const isMiddle = i >= start && (i < oldEnd || j < textEnd);
    const isSame = isMiddle ? common && i < oldEnd && j < textEnd && old[i] === text[j] : true;
    const isBetter = () => common?.(i - start, j + 1 - start) > common?.(i + 1 - start, j - start);
    const isAdded = j < textEnd && (i >= oldEnd || isBetter());
    if (isSame) changes.push({ sign: " ", text: text[j], before: first + i++, number: first + j++ });
    else if (isAdded) changes.push({ sign: "+", text: text[j], number: first + j++ });
    else changes.push({ sign: "−", text: old[i], number: first + i++ });
  }
  return changes;
}

/** Returns how many lines the rests of both texts have in common, by their beginnings; null if that takes too long. */
function longest(old, text) {
  const width = text.length + 1;
  if (old.length * width > PAIRS) return null;
  const common = new Uint16Array((old.length + 1) * width);
  for (let at = old.length * width - 1; at >= 0; at--) {
    const [i, j] = [Math.floor(at / width), at % width];
    if (j == text.length) continue;
    const longer = Math.max(common[at + width], common[at + 1]);
    common[at] = old[i] === text[j] ? common[at + width + 1] + 1 : longer;
  }
  return (i, j) => common[i * width + j];
}

function row({ sign, number, text }) {
  const [kind, tag] = KINDS[sign];
  const shown = oneLine(text.replace(/\n$/, "").replaceAll("\t", "    "));
  return el(`div.row.${kind}`, number && el("i", String(number)), el("b", sign), el(tag, shown));
}

const inline = (changes) => changes.map(row);

/** Returns rows of two columns: a removed line stands beside the added one that takes its place. */
function sides(changes) {
  const rows = [];
  let open = [];
  for (const change of changes) {
    if (change.sign == " ") {
      open = [];
      rows.push([row({ ...change, number: change.before }), row(change)]);
    } else {
      const side = change.sign == "+" ? 1 : 0;
      let pair = open.find((pair) => !pair[side].firstChild);
      if (!pair) rows.push((pair = [el("div.row"), el("div.row")])), open.push(pair);
      pair[side] = row(change);
    }
  }
  return rows.flat();
}

function fill(body, changes, show) {
  const all = () => body.replaceChildren(...show(changes));
  const rest = changes.length > ROWS ? [more(`Show all ${changes.length} lines`, all)] : [];
  body.replaceChildren(...show(changes.slice(0, ROWS)), ...rest);
}
