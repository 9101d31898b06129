// The keys of the inbox: what each does, and when it does nothing because the person types. index.html lists them.

const ACTIONS = { j: "next", k: "previous", g: "first", G: "last", "/": "search", r: "reject", "?": "help" };
const IN_LIST = { ArrowDown: "next", ArrowUp: "previous" };
const TYPED = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])";

/** Returns what a key does, or undefined where it is left to the browser. @param {KeyboardEvent} event */
export function action(event, inbox) {
  const { key, altKey, repeat } = event;
  const [target, ...around] = event.composedPath();
  // The keys of other parts of the page are none of ours; those of the page itself are.
  const isOurs = around.includes(inbox) || target == document.body || target == document.documentElement;
  if (!isOurs || event.defaultPrevented || event.isComposing || altKey) return;
  if (event.ctrlKey || event.metaKey) return key == "Enter" && !repeat ? "submit" : undefined;
  if (key == "Escape") return "leave";
  if (target.matches(TYPED)) return;
  if (key == "Enter") return repeat || target.closest("a, button, input, summary") ? undefined : "focusFirst";
  if (target.matches(".row") && IN_LIST[key]) return IN_LIST[key];
  const isDigit = /^[1-9]$/.test(key);
  return isDigit ? "choose" : ACTIONS[key];
}
