// One field of a question: its label and control, what was entered, and what is wrong with it, in the words of
// src/question/check.rs. The form around it is left to question.js.

import { el } from "./dom.js";
import { preview } from "./preview.js";
import { inline, prose } from "./text.js";
import { line, own, visible } from "./words.js";

/**
 * Returns a field with its control: `get` returns the value or `undefined`, `set` takes one, `wrong` says what is wrong,
 * `pick` chooses an option by its place.
 * @param {Object} field
 * @param {number} place its place in the form
 * @param {{isTitled: boolean, isOnly: boolean, hasNotes: boolean}} context whether a heading has the same text
 */
export function createField(field, place, { isTitled, isOnly, hasNotes }) {
  const id = `f${place}`;
  const control = own(KINDS, field.kind)?.(field, id) ?? unknown(field);
  const [input] = control.inputs;
  const hint = sentences(field.required ? !isOnly && "Required" : "Optional", control.hint);
  const about = el("div.hint", { id: `${id}-about` }, field.help && prose(field.help), hint && el("p", hint));
  const error = el("p.error", { id: `${id}-error`, hidden: true });
  const note = el("textarea.note", { id: `${id}-note`, "aria-label": `Note on ${line(field.header || field.label)}` });
  const notes = input && hasNotes && el("details", el("summary", "Add a note"), note);
  const label = el(control.pick ? "legend" : "label", { for: input?.id, class: isTitled ? "vh" : "label", dir: "auto" });
  if (field.header && !isOnly && field.header != field.label) label.append(el("span.chip", line(field.header)), " ");
  label.append(...inline(field.label));
  const parts = [label, about.hasChildNodes() && about, error, control.node, notes];
  const node = el(control.pick ? "fieldset.field" : "div.field", parts);
  const described = control.pick ? node : input;
  described?.setAttribute("aria-describedby", `${about.id} ${error.id}`);
  return {
    ...control,
    field,
    node,
    note: () => note.value,
    setNote(text = "") {
      note.value = text;
      if (notes) notes.open = text != "";
    },
    fail(message) {
      error.hidden = !message;
      error.textContent = message ? `This ${visible(message)}` : "";
      node.classList.toggle("wrong", !!message);
      if (!control.pick) input?.setAttribute("aria-invalid", !!message);
    },
    focus: () => (control.inputs.find((input) => input.checked) ?? input)?.focus(),
    lock(isLocked) {
      // A text keeps the focus, so that what is still being typed is no command of the page.
      for (const input of node.querySelectorAll("textarea, input")) {
        input[/radio|checkbox/.test(input.type) ? "disabled" : "readOnly"] = isLocked;
      }
    },
  };
}

/** Returns what fields have, by their names. A name may be that of a member of every object. */
export const pairs = (fields, get) =>
  Object.fromEntries(fields.map((it) => [it.field.name, get(it)]).filter(([, value]) => (value ?? "") !== ""));

/** Returns the answer that fields have. */
export function entries(fields) {
  return { values: pairs(fields, (it) => it.get()), notes: pairs(fields, (it) => it.note()) };
}

const KINDS = {
  text,
  number,
  choice: (field, id) => field.options && choices(field, id, field.options, false),
  choices: (field, id) => field.options && choices(field, id, field.options, true),
  boolean: (field, id) => choices(field, id, either("Yes", "No"), false),
  confirm: (field, id) => choices(field, id, either(field.yes, field.no), false),
};

const either = (yes, no) => [{ value: true, label: yes }, { value: false, label: no }];

const sentences = (...parts) => parts.filter(Boolean).join(". ");

/** A field of a later version cannot be filled in. */
function unknown({ kind = "none", required }) {
  const way = required ? "Update askbridge, answer it in the agent's client, or skip it." : "You can leave it out.";
  const node = el("p.notice", `This version cannot show fields of the kind ${line(kind)}. ${way}`);
  return { node, inputs: [], get() {}, set() {}, wrong: () => required && "cannot be answered here" };
}

const PLURALS = { character: "characters", option: "options", entry: "entries" };
const count = (number, noun) => (noun ? `${number} ${number == 1 ? noun : PLURALS[noun]}` : number);

/** Returns what is wrong with a number, or with how many there are of something. */
function beyond(value, min, max, noun) {
  const [must, is] = noun ? ["must have", "has"] : ["must be", "is"];
  if (value < (min ?? -Infinity)) return `${must} at least ${count(min, noun)}, ${is} ${value}`;
  return value > (max ?? Infinity) && `${must} at most ${count(max, noun)}, ${is} ${value}`;
}

/** Returns a range in words: "1 to 3 characters". */
function range(min, max, noun) {
  if (max == null) return min == null ? "" : `At least ${count(min, noun)}`;
  return min == null ? `At most ${count(max, noun)}` : `${min} to ${count(max, noun)}`;
}

const TYPES = { date: "date", time: "time", "date-time": "datetime-local", email: "email", uri: "url" };

function text(field, id) {
  const { minLength, maxLength, pattern, placeholder, multiline, secret, format, required } = field;
  const type = secret ? "password" : (own(TYPES, format) ?? "text");
  const input = el(multiline && type == "text" ? "textarea" : "input", { id, autocomplete: "off", dir: "auto" });
  if (input.localName == "input") input.type = type;
  if (placeholder) input.placeholder = line(placeholder);
  input.required = required;
  const isMoment = type == "datetime-local";
  const set = (value = "") => {
    input.value = isMoment ? local(value) : value;
    // What a native input does not take is shown as text.
    if (value && !input.value) Object.assign(input, { type: "text", value });
  };
  set(field.default);
  const get = () => {
    const { type, value } = input;
    return (type == "datetime-local" && value ? new Date(value).toISOString() : value) || undefined;
  };
  const wrong = () => {
    const { badInput, typeMismatch } = input.validity;
    if (badInput || typeMismatch) return `must be ${format == "email" ? "an email address" : `a complete ${format}`}`;
    if (!input.value) return required && "is required";
    return beyond([...input.value].length, minLength, maxLength, "character");
  };
  // The server alone matches patterns: one of an agent could keep the page busy for ever.
  const hint = sentences(range(minLength, maxLength, "character"), pattern && `Must match ${visible(pattern)}`);
  const node = secret ? el("div.joined", input, reveal(input)) : input;
  return { node, inputs: [input], get, set, wrong, hint };
}

/** Returns a moment as an input takes it, in the time of this computer; empty if it is none. */
function local(moment) {
  const date = new Date(moment);
  return isNaN(date) ? "" : new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function reveal(input) {
  const onclick = () => {
    input.type = input.type == "password" ? "text" : "password";
    button.ariaPressed = String(input.type == "text");
  };
  const button = el("button", { type: "button", "aria-pressed": "false", onclick }, "Show");
  return button;
}

function number({ integer, min, max, step, required, default: initial }, id) {
  const by = step > 0 ? step : integer ? 1 : "any";
  // A browser counts steps from the minimum, an agent from zero.
  const least = step > 0 && min != null ? Math.ceil(min / step) * step : min;
  const shape = { id, type: "number", step: String(by), min: least, max, required, autocomplete: "off" };
  const input = el("input.number", shape);
  const set = (value) => (input.value = value ?? "");
  set(initial);
  const get = () => (input.value ? Number(input.value) : undefined);
  const wrong = () => {
    const value = get();
    if (input.validity.badInput || (integer && value % 1)) return `must be a ${integer ? "whole " : ""}number`;
    if (value === undefined) return required && "is required";
    if (value % 1 == 0 && !Number.isSafeInteger(value)) return "is too large to be sent exactly";
    const isBetween = step > 0 && Math.abs(value / step - Math.round(value / step)) > 1e-9;
    return beyond(value, min, max) || (isBetween && `must be a multiple of ${step}, is ${value}`);
  };
  const hint = sentences(range(min, max), integer && "A whole number", step && `In steps of ${step}`);
  return { node: input, inputs: [input], get, set, wrong, hint };
}

/** A choice of one or of many options, each a card. */
function choices(field, id, options, isMany) {
  const { required, min, max } = field;
  const proposed = [field.default ?? []].flat();
  // A browser calls a required choice invalid before anything is chosen: the error says it in its time.
  const shape = { name: id, type: isMany ? "checkbox" : "radio", required: required && !isMany, "aria-invalid": "false" };
  const cards = options.map((option, place) => card(option, place, shape, proposed.includes(option.value)));
  const other = field.other ? otherCard(options.length, shape) : null;
  const all = other ? [...cards, other] : cards;
  const inputs = all.map(({ input }) => input);
  const chosen = () => {
    const values = options.filter((_, place) => inputs[place].checked).map(({ value }) => value);
    return other?.input.checked && other.text.value.trim() ? [...new Set([...values, other.text.value])] : values;
  };
  // Where the agent proposed some, none of them is an answer.
  const get = () => (isMany ? (chosen().length || proposed.length ? chosen() : undefined) : chosen()[0]);
  const set = (value) => {
    const values = [value ?? []].flat();
    options.forEach((option, place) => (inputs[place].checked = values.includes(option.value)));
    const text = values.find((value) => !options.some((option) => option.value === value));
    if (other) [other.input.checked, other.text.value] = [text != null, text ?? ""];
    update();
  };
  const wrong = () => {
    const { length } = chosen();
    if (other?.input.checked && !other.text.value.trim()) return "needs your own answer, or another option";
    if (!length) return required && "is required";
    return isMany && beyond(length, min, max, "entry");
  };
  const entered = (input) => {
    input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    (input == other?.input && input.checked ? other.text : input).focus();
  };
  const pick = (place) => {
    const input = inputs[place];
    if (!input || input.disabled) return false;
    input.checked = !isMany || !input.checked;
    entered(input);
    return true;
  };
  const clear = el("button.link", { type: "button", onclick: () => (set(), entered(inputs[0])) }, "Clear the choice");
  const update = () => {
    for (const { input, details } of cards) if (details) details.open = input.checked;
    clear.hidden = isMany || required || !inputs.some((input) => input.checked);
  };
  const node = el("div.cards", { oninput: update }, all.map(({ node }) => node), clear);
  set(field.default);
  const hint = isMany && (range(min, max, "option") || "Choose any number");
  return { node, inputs, get, set, wrong, pick, hint, other: other?.text };
}

const digit = (place) => place < 9 && el("kbd", { "aria-hidden": "true" }, String(place + 1));

function card(option, place, shape, isProposed) {
  const key = `${shape.name}-${place}`;
  const described = `${key}-default ${key}-about`;
  const input = el("input", { ...shape, id: key, "aria-labelledby": `${key}-label`, "aria-describedby": described });
  const name = el("span", el("bdi", { id: `${key}-label` }, inline(String(option.label))));
  if (isProposed) name.append(" ", el("small.chip", { id: `${key}-default` }, "Default"));
  const about = option.description && el("div.about", { id: `${key}-about` }, prose(option.description));
  const label = el("label", input, el("div.what", name, about), digit(place));
  const show = () => details.open && !details.children[1] && details.append(preview(option.preview));
  const details = option.preview && el("details", { ontoggle: show }, el("summary", "Preview"));
  return { input, details, node: el("div.card", label, details) };
}

function otherCard(place, shape) {
  const id = shape.name;
  const input = el("input", { ...shape, id: `${id}-${place}`, onclick: () => input.checked && text.focus() });
  const oninput = () => (input.checked ||= text.value != "");
  const name = "Your own answer";
  const own = { id: `${id}-own`, "aria-label": name, placeholder: name, rows: "1", dir: "auto", oninput };
  const text = el("textarea.own", own);
  return { input, text, node: el("div.card", el("label", input, el("span.what", "Other"), digit(place)), text) };
}
