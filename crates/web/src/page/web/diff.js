// Shows the change of a file line by line. A style shows it inline or side by side.

import { button, el } from "./dom.js";
import { codeOf } from "./markdown.js";
import { line as oneLine, within } from "./words.js";

// More pairs to compare, or rows to lay out at once, would take too long.
const PAIRS = 1_000_000;
const ROWS = 300;
/** Unchanged lines that are shown around a change. More are folded where that hides at least two rows. */
const AROUND = 3;

/** Returns the changes of files, and how much they are together. @param {object[]} changes @param {string} [folder] of the session */
export function diffs(changes, folder) {
  const figures = changes.map(change => diff(change, folder));
  const sum = name => figures.reduce((sum, figure) => sum + Number(figure.querySelector(name).textContent.slice(1)), 0);
  const all = () => el("p.fact", `${figures.length} files `, el("ins", `+${sum("ins")}`), " ", el("del", `−${sum("del")}`));
  return [figures.length > 1 && all(), figures];
}

/** Returns the change of one file. @param {{path: string, line: number, old?: string, new: string}} change @param {string} [folder] */
export function diff({ path, line, old, new: text, replaces }, folder) {
  const changes = compare(lines(old ?? ""), lines(text));
  const count = sign => sign + changes.filter(change => change[0] == sign).length;
  const split = el("label.toggle", el("input", { type: "checkbox" }), "Side by side");
  const about = [el("ins", count("+")), el("del", count("−")), replaces ? el("span.chip.danger", "Replaces the file: what is there is not shown") : old == null ? el("span.chip", "New file") : split];
  return el("figure.diff", el("figcaption", el("bdi.path", oneLine(within(folder, path))), about), rows(changes, line ?? 1, colours({ old: { path, text: old }, new: { path, text } })));
}

/** Returns a patch in the format of Git. @param {string} text */
export function patch(text) {
  const signs = { "+": "+", "-": "−" };
  // `---` and `+++` name the files.
  const change = (line, at) => (signs[line[0]] && !/^(---|\+\+\+)/.test(line) ? [signs[line[0]], line.slice(1), at] : [" ", line, at]);
  const code = { patch: text };
  return el("figure.diff", el("figcaption", "Patch"), rows(lines(text).map(change), undefined, colours({ old: code, new: code })));
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

/** Returns the same of texts that begin and end with different lines, or of words: as many as possible stay. */
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

const row = ({ kind, number, sign, text, parts = text }) => el(`div.row.${kind}`, number && el("i", `${number}`), el("b", sign), el(TAGS[kind] ?? "span", parts));

const WORDS = /[\p{Alphabetic}\p{N}_]+|\s+|./gsu;

const isWord = ([, word]) => /^[\p{Alphabetic}\p{N}_]/u.test(word);

/** Marks the words that differ between lines that are removed and those that replace them. Where less than half of the shorter ones stays, marks would say nothing. */
function mark(rows) {
  const words = rows.map(({ text }) => text.match(WORDS) ?? []);
  const of = kind => words.filter((_, place) => rows[place].kind == kind).flat();
  const all = differ(of("removed"), of("added"));
  const size = sign => all.reduce((sum, change) => sum + (change[0] == sign && isWord(change) ? change[1].length : 0), 0);
  if (size(" ") < Math.min(size("−"), size("+"))) return;
  const sides = { removed: all.filter(([sign]) => sign != "+"), added: all.filter(([sign]) => sign != "−") };
  rows.forEach((row, place) => {
    const own = sides[row.kind].splice(0, words[place].length);
    const differs = at => (own[at]?.[0] ?? " ") != " ";
    // A line of which no word stays is marked as a whole.
    if (own.every((change, at) => differs(at) || !isWord(change))) return;
    // A space between two words that differ does as well.
    const isMarked = ([, word], at) => differs(at) || (!word.trim() && differs(at - 1) && differs(at + 1));
    row.parts = own.map((it, at) => (isMarked(it, at) ? el("mark", it[1]) : it[1]));
  });
}

/** Returns what colours rows by the code of both sides, which comes later than they do. */
function colours(sides) {
  const [known, shown] = [{}, []];
  const paint = ({ element, side, at }) => known[side]?.[at] && colour(element.lastChild, known[side][at]);
  for (const [side, code] of Object.entries(sides)) {
    if (!(code.text ?? code.patch)) continue;
    codeOf(code, lines => {
      known[side] = lines;
      shown.filter(row => row.side == side).forEach(paint);
    });
  }
  return row => {
    shown.push(row);
    paint(row);
  };
}

/** Colours a line within its marks. What it says stays what it was, or it is not coloured. */
function colour(line, code) {
  const parts = code.map(([text, role]) => [shownLine(text), role]);
  const all = parts.map(([text]) => text).join("");
  // The sign of a line of a patch stands apart.
  if (all.slice(1) == line.textContent && all) parts[0][0] = parts[0][0].slice(1);
  else if (all != line.textContent) return;
  if (!parts.some(([, role]) => role)) return;
  // The words between two marks are one text.
  line.normalize();
  const texts = [...line.childNodes].map(node => node.firstChild ?? node);
  let [text, role] = parts.shift();
  for (const node of texts) {
    const pieces = [];
    for (let rest = node.data; rest; ) {
      if (!text) [text, role] = parts.shift();
      const piece = rest.slice(0, text.length);
      pieces.push(role ? el("span", { "data-role": role }, piece) : piece);
      [rest, text] = [rest.slice(piece.length), text.slice(piece.length)];
    }
    node.replaceWith(...pieces);
  }
}

const shownLine = text => oneLine(text.replaceAll("\t", "    "));

/** Returns rows in parts: side by side, what was added stands beside what was removed in the same part. A line that stays has a row for each side. */
function parts(changes, [before, after], first, paint) {
  const all = [];
  let wasSame = true;
  for (const [sign, text, at] of changes) {
    const isSame = sign == " ";
    const shown = shownLine(text.replace(/\n$/, ""));
    if (isSame || wasSame) all.push([]);
    if (sign != "+") all.at(-1).push({ kind: isSame ? "before" : "removed", number: before && before++, sign, text: shown, at });
    if (sign != "−") all.at(-1).push({ kind: isSame ? "after" : "added", number: after && after++, sign, text: shown, at });
    wasSame = isSame;
  }
  for (const rows of all) if (rows.length > 1 && rows[0].sign != " ") mark(rows);
  const built = it => {
    const element = row(it);
    paint?.({ element, side: /removed|before/.test(it.kind) ? "old" : "new", at: it.at ?? it.number - first });
    return element;
  };
  return all.map(rows => el("div.part", rows.map(built)));
}

/** Returns rows, with their numbers where the first one is known. Long runs of unchanged lines are folded. */
function rows(changes, first, paint) {
  const numbers = [first, first];
  const body = el("div.lines", { dir: "ltr" });
  const count = (changes, sign) => changes.filter(change => change[0] != sign).length;
  const put = (changes, fold) => {
    const from = [...numbers];
    if (first) [numbers[0], numbers[1]] = [from[0] + count(changes, "+"), from[1] + count(changes, "−")];
    const built = () => parts(changes, from, first, paint);
    if (!fold) return body.append(...built());
    const more = button("link.fold", () => more.replaceWith(...built()), `${changes.length} unchanged lines`);
    body.append(more);
  };
  const show = (changes, isEnd) => {
    let at = 0;
    while (at < changes.length) {
      const isSame = changes[at][0] == " ";
      let end = at;
      while (end < changes.length && (changes[end][0] == " ") == isSame) end++;
      const [head, tail] = [at || !first ? AROUND : 0, end < changes.length || !isEnd ? AROUND : 0];
      const isFolded = isSame && end - at > head + tail + 1;
      if (isFolded) {
        put(changes.slice(at, at + head));
        put(changes.slice(at + head, end - tail), true);
        put(changes.slice(end - tail, end));
      } else put(changes.slice(at, end));
      at = end;
    }
  };
  show(changes.slice(0, ROWS), changes.length <= ROWS);
  const rest = button("link.rest", () => (rest.remove(), show(changes.slice(ROWS), true)), `Show all ${changes.length} lines`);
  return changes.length > ROWS ? [body, rest] : body;
}
