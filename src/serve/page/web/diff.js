// Shows the change of a file line by line. A style shows it inline or side by side.

import { button, el, fill } from "./dom.js";
import { line as oneLine } from "./words.js";

// More pairs to compare, or rows to lay out at once, would take too long.
const PAIRS = 1_000_000;
const ROWS = 300;

/** Returns the change of one file. @param {{path: string, line: number, old?: string, new: string}} change */
export function diff({ path, line, old, new: text }) {
  const changes = compare(lines(old ?? ""), lines(text));
  const count = sign => sign + changes.filter(change => change[0] == sign).length;
  const split = el("label.toggle", el("input", { type: "checkbox" }), "Side by side");
  const about = [el("ins", count("+")), el("del", count("−")), old == null ? el("span.chip", "New file") : split];
  return el("figure.diff", el("figcaption", el("bdi.path", oneLine(path)), about), rows(changes, line ?? 1));
}

/** Returns a patch in the format of Git. @param {string} text */
export function patch(text) {
  const signs = { "+": "+", "-": "−" };
  // `---` and `+++` name the files.
  const change = line => (signs[line[0]] && !/^(---|\+\+\+)/.test(line) ? [signs[line[0]], line.slice(1)] : [" ", line]);
  return el("figure.diff", el("figcaption", "Patch"), rows(lines(text).map(change)));
}

// With their ends, so that a missing one is seen as a change.
const lines = text => text.split(/(?<=\n)/).filter(Boolean);
const as = (sign, lines) => lines.map(line => [sign, line]);

/** Returns the lines of both texts in order, each after its sign: those that stay, are removed and are added. */
function compare(old, text) {
  const most = Math.min(old.length, text.length);
  let [start, end] = [0, 0];
  while (start < most && old[start] == text[start]) start++;
  while (end < most - start && old.at(-1 - end) == text.at(-1 - end)) end++;
  const middle = differ(old.slice(start, old.length - end), text.slice(start, text.length - end));
  return [...as(" ", old.slice(0, start)), ...middle, ...as(" ", old.slice(old.length - end))];
}

/** Returns the same of texts that begin and end with different lines: as many lines as possible stay. */
function differ(old, text) {
  const width = text.length + 1;
  if (old.length * width > PAIRS) return [...as("−", old), ...as("+", text)];
  // How many lines the rests of both texts have in common, by their beginnings.
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let at = i * width + text.length - 1; at >= i * width; at--) {
      const isSame = old[i] == text[at - i * width];
      common[at] = isSame ? common[at + width + 1] + 1 : Math.max(common[at + width], common[at + 1]);
    }
  }
  const changes = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < text.length) {
    const at = i * width + j;
    const isAdded = i == old.length || (j < text.length && common[at + 1] > common[at + width]);
    const sign = old[i] == text[j] ? " " : isAdded ? "+" : "−";
    changes.push([sign, sign == "+" ? text[j] : old[i]]);
    if (sign != "+") i++;
    if (sign != "−") j++;
  }
  return changes;
}

const TAGS = { removed: "del", added: "ins" };

function row(kind, number, sign, text) {
  const shown = oneLine(text.replace(/\n$/, "").replaceAll("\t", "    "));
  return el(`div.row.${kind}`, number && el("i", `${number}`), el("b", sign), el(TAGS[kind] ?? "span", shown));
}

/** Returns rows, with their numbers where the first one is known. A line that stays has one for each side. */
function rows(changes, first) {
  let [before, after] = [first, first];
  let [part, wasSame] = [null, true];
  const body = el("div.lines", { dir: "ltr" });
  const show = changes => {
    for (const [sign, text] of changes) {
      const isSame = sign == " ";
      // Side by side, what was added stands beside what was removed in the same part.
      if (isSame || wasSame) body.append((part = el("div.part")));
      if (sign != "+") part.append(row(isSame ? "before" : "removed", first && before++, sign, text));
      if (sign != "−") part.append(row(isSame ? "after" : "added", first && after++, sign, text));
      wasSame = isSame;
    }
  };
  show(changes.slice(0, ROWS));
  const rest = button("link", () => (rest.remove(), show(changes.slice(ROWS))), `Show all ${changes.length} lines`);
  return changes.length > ROWS ? [body, rest] : body;
}
