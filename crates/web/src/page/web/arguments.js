// Takes changed arguments of what a program asks to be allowed: JSON, and below it the change that the person makes, line
// by line. Whether the JSON fits its schema is left to the server.

import { diff } from "./diff.js";
import { el, fill } from "./dom.js";
import { createField } from "./field.js";

const pretty = json => JSON.stringify(json, null, 2);

/**
 * Returns the field for changed arguments, which has no value while they are as they were. Returns nothing where the
 * program takes none.
 * @param {Object} question
 */
export function createArguments({ action, fields = [] }) {
  const place = action ? fields.findIndex(({ name }) => name == "arguments") : -1;
  if (place < 0) return [];
  // The arguments stand in the field already, so that the help for a blank one says nothing here.
  const field = createField({ ...fields[place], help: undefined }, place, { isOnly: false, isTitled: true, hasNotes: false });
  for (const schema of field.node.querySelectorAll("details")) schema.open = false;
  const before = pretty(action.request.arguments);
  const get = () => {
    const text = field.get();
    // What is no JSON is no change yet.
    if (field.wrong()) return text;
    return text && pretty(JSON.parse(text)) != before ? text : undefined;
  };
  const change = el("div");
  const node = el("details.arguments", el("summary", "Change the arguments"), field.node, change);
  const show = () => {
    const text = field.wrong() ? undefined : get();
    fill(change, text && diff({ path: "Your change", line: 1, old: before + "\n", new: pretty(JSON.parse(text)) + "\n" }));
  };
  const take = answer => {
    field.take(answer);
    if (!field.get()) field.set(before);
    node.open ||= get() !== undefined;
    show();
  };
  node.oninput = show;
  take();
  return [{ ...field, node, get, take }];
}
