// The keys of the inbox: what each does, and when it does nothing because the person types. index.html lists them.

import { on } from "./dom.js";

const ACTIONS = { j: "next", k: "previous", g: "first", G: "last", "/": "search", c: "comment", r: "reject", u: "undo", a: "together", m: "rule", l: "later", "?": "help" };
const IN_LIST = { ArrowDown: "next", ArrowUp: "previous" };
const TYPED = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])";

/** Keys that follow each other faster than this are one burst: a text that somebody types, perhaps for another window. */
const QUIET = 300;

/** The latest burst: how many keys it has, when the last of them came, and where the first was pressed. */
const burst = { count: 0, at: -Infinity, origin: null };

/** Returns whether a key is a part of a text. */
export const isText = ({ key, ctrlKey, metaKey, altKey }) => key.length == 1 && !ctrlKey && !metaKey && !altKey;

on(
  window,
  "keydown",
  event => {
    if (!isText(event) && (event.key != "Enter" || event.ctrlKey || event.metaKey)) return;
    const isLate = Math.abs(Date.now() - burst.at) >= QUIET;
    if (isLate) Object.assign(burst, { count: 0, origin: event.composedPath()[0] });
    burst.count++;
    burst.at = Date.now();
  },
  true,
);

/** Returns whether the key that is pressed is one of its own, with no other shortly before it: only such a key decides. */
export const isAlone = () => burst.count < 2 || Math.abs(Date.now() - burst.at) >= QUIET;

/** Returns whether a key belongs to this field: it is one of its own, or a part of a text that began there. */
export const isMeantFor = field => isAlone() || burst.origin == field;

/** Lets what is being typed belong to a field. */
export const adopt = field => (burst.origin = field);

/** Returns whether text is typed into an element. */
export const takesText = element => element.matches(TYPED);

/** Returns what a key does, or undefined where it is left to the browser. @param {KeyboardEvent} event */
export function action(event, inbox) {
  const { key, altKey, repeat } = event;
  const [target, ...around] = event.composedPath();
  // The keys of other parts of the page are none of ours; those of the page itself are.
  const isOurs = around.includes(inbox) || target == document.body || target == document.documentElement;
  if (!isOurs || event.defaultPrevented || event.isComposing || altKey) return;
  if (event.ctrlKey || event.metaKey) return key == "Enter" && !repeat ? "submit" : undefined;
  if (key == "Escape") return "leave";
  if (key == "Enter" && target.matches(".search")) return "found";
  if (takesText(target)) return;
  if (key == "Enter") return repeat || !isAlone() || target.closest("a, button, input, summary") ? undefined : "focusFirst";
  if (/^[crul]$/.test(key) && !isAlone()) return;
  if (target.matches(".row") && IN_LIST[key]) return IN_LIST[key];
  const isDigit = /^[1-9]$/.test(key);
  return isDigit ? "choose" : ACTIONS[key];
}
