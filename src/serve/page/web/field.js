// One field of a question: its label and control, what was entered, and what is wrong with it.
// The form around it is left to question.js.

import { el } from "./dom.js";
import { preview } from "./preview.js";
import { inline, prose } from "./text.js";
import { line, own, visible } from "./words.js";

/**
 * A control: `get` returns its value, or `undefined`; `set` takes one; `wrong` says what is wrong, as src/question/check.rs
 * does; `pick` chooses an option by its place.
 * @typedef {{node: Node, inputs: HTMLElement[], get: function, set: function, wrong: function, pick?: function,
 *   other?: HTMLTextAreaElement, hint?: string}} Control
 */

/** Returns a field as it is shown. `place` is its place in the form; `titled` an ID, where a heading is its label. */
export function createField(field, place, { titled, hasNotes, isOnly }) {
  const id = `f${place}`;
  const control = own(KINDS, field.kind)?.(field, id) ?? unknown(field);
  const error = el("p", { class: "error", id: `${id}-error`, hidden: true });
  const note = el("textarea", { "aria-label": `Note on ${line(field.header || field.label)}`, rows: "2", class: "note" });
  const notes = el("details", null, el("summary", null, "Add a note"), note);
  const isGroup = control.inputs.length != 1 || control.pick;
  const hints = [field.help && prose(field.help), control.hint && el("p", { dir: "auto" }, control.hint)].filter(Boolean);
  const hint = hints.length > 0 && el("div", { class: "hint", id: `${id}-hint` }, hints);
  const mark = field.required ? !isOnly && "required" : "optional";
  const label = el(isGroup ? "legend" : "label", { for: !isGroup && id, class: titled ? "vh" : "label", dir: "auto" }, [
    field.header && !isOnly && el("span", { class: "chip" }, line(field.header)),
    inline(field.label),
  ]);
  const described = [hint && hint.id, error.id].filter(Boolean).join(" ");
  const node = el(isGroup ? "fieldset" : "div", { class: "field", "aria-describedby": isGroup && described }, [
    label,
    mark && el("p", { class: "mark" }, mark),
    hint,
    error,
    control.node,
    hasNotes && control.inputs.length > 0 && notes,
  ]);
  if (!isGroup) describe(control.inputs[0], described, field);
  return {
    ...control,
    field,
    node,
    id,
    note: () => note.value,
    setNote(text = "") {
      note.value = text;
      notes.open = text != "";
    },
    fail(message) {
      error.hidden = !message;
      error.replaceChildren(message ? `This field ${visible(message)}` : "");
      node.classList.toggle("wrong", !!message);
      for (const input of isGroup ? [] : control.inputs) input.setAttribute("aria-invalid", String(!!message));
    },
    focus: () => (control.inputs.find((input) => input.checked) ?? control.inputs[0])?.focus(),
    lock(isLocked) {
      // A text stays in focus, so that what is still being typed does not become commands of the page.
      for (const input of node.querySelectorAll("textarea, input")) {
        if (/radio|checkbox/.test(input.type)) input.disabled = isLocked;
        else input.readOnly = isLocked;
      }
      for (const button of node.querySelectorAll(".do")) button.hidden = isLocked;
    },
  };
}

function describe(input, described, field) {
  input.setAttribute("aria-describedby", described);
  if (field.required) input.setAttribute("aria-required", "true");
}

const KINDS = {
  text,
  number,
  choice: (field, id) => (Array.isArray(field.options) ? choices(field, id, field.options, false) : null),
  choices: (field, id) => (Array.isArray(field.options) ? choices(field, id, field.options, true) : null),
  boolean: (field, id) => choices(field, id, yesOrNo("Yes", "No"), false),
  confirm: (field, id) => choices(field, id, yesOrNo(field.yes, field.no), false),
};

const yesOrNo = (yes, no) => [{ value: true, label: yes }, { value: false, label: no }];
const plural = (count, one, many = `${one}s`) => `${count} ${count == 1 ? one : many}`;

/** A field of a later version cannot be filled in. */
function unknown(field) {
  const way = field.required ? "Update askbridge, answer in the agent's own client, or skip the question." : "You can leave it out.";
  const node = el("p", { class: "notice" }, `This page does not know the kind of this field (${line(field.kind ?? "none")}). ${way}`);
  const wrong = () => field.required && "cannot be answered here";
  return { node, inputs: [], get: () => undefined, set() {}, wrong };
}

// Native inputs of these formats; a default that one does not take is shown as text.
const TYPES = { date: "date", time: "time", "date-time": "datetime-local", email: "email", uri: "url" };

function text(field, id) {
  const { minLength, maxLength, pattern, placeholder, multiline, secret, format } = field;
  const isLong = multiline && !secret && !own(TYPES, format);
  const type = secret ? "password" : own(TYPES, format) ?? "text";
  const input = el(isLong ? "textarea" : "input", { id, placeholder: placeholder && line(placeholder), autocomplete: "off", dir: "auto" });
  if (isLong) input.rows = 3;
  else input.type = type;
  const isMoment = type == "datetime-local";
  const set = (value = "") => {
    const shown = isMoment && value ? local(value) : value;
    input.value = shown;
    if (input.value == "" && shown != "") Object.assign(input, { type: "text", value });
  };
  set(field.default ?? "");
  const get = () => (input.type == "datetime-local" && input.value ? zoned(input.value) : input.value) || undefined;
  const wrong = () => {
    const { length } = [...input.value];
    if (input.validity.badInput) return `must be a ${format}`;
    if (!length) return field.required && "is required";
    if (length < minLength) return `must have at least ${plural(minLength, "character")}, has ${length}`;
    if (length > (maxLength ?? Infinity)) return `must have at most ${plural(maxLength, "character")}, has ${length}`;
    return input.validity.typeMismatch && `must be ${format == "uri" ? "an address, such as https://example.com" : "an email address"}`;
  };
  // The server alone matches patterns: one of an agent could keep the page busy for ever.
  const hint = [range(minLength, maxLength, "character"), pattern && `Must match ${visible(pattern)}`].filter(Boolean).join(". ");
  return { node: secret ? el("div", { class: "joined" }, input, reveal(input)) : input, inputs: [input], get, set, wrong, hint };
}

function reveal(input) {
  const toggle = () => {
    const isShown = input.type == "password";
    input.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  };
  const button = el("button", { type: "button", "aria-pressed": "false", onclick: toggle }, "Show");
  return button;
}

const two = (number) => String(number).padStart(2, "0");

/** Returns a moment as the input takes it, in the time of this computer; empty if it is none. */
function local(moment) {
  const date = new Date(moment);
  if (isNaN(date)) return "";
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns a local time with its distance from UTC, without which it is no `date-time`. */
function zoned(text) {
  const minutes = -new Date(text).getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${text}${text.length == 16 ? ":00" : ""}${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Returns a range in words: "1 to 3 characters". */
function range(min, max, one, many = `${one}s`) {
  if (min != null && max != null) return min == max ? plural(min, one, many) : `${min} to ${plural(max, one, many)}`;
  if (max != null) return `At most ${plural(max, one, many)}`;
  return min ? `At least ${plural(min, one, many)}` : "";
}

function number(field, id) {
  const { min, max, step, integer, required } = field;
  const input = el("input", { id, role: "spinbutton", inputmode: integer && !(min < 0) ? "numeric" : "decimal", autocomplete: "off", "aria-valuemin": min, "aria-valuemax": max });
  const parse = () => (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(input.value.trim()) ? Number(input.value) : NaN);
  const set = (value) => {
    input.value = value ?? "";
    said();
  };
  const said = () => input.setAttribute("aria-valuenow", String(parse() || 0));
  const move = (direction) => {
    const by = step > 0 ? step : 1;
    // The nearest multiple on the way; rounded, since 3 * 0.1 is 0.30000000000000004.
    const steps = (parse() || 0) / by + direction;
    const to = step > 0 ? Number((direction > 0 ? Math.floor(steps + 1e-9) : Math.ceil(steps - 1e-9)) * by).toPrecision(12) : steps;
    set(Math.min(max ?? Infinity, Math.max(min ?? -Infinity, Number(to))));
    input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  };
  input.addEventListener("input", said);
  input.addEventListener("keydown", (event) => {
    const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!direction || input.readOnly) return;
    event.preventDefault();
    move(direction);
  });
  set(field.default);
  const get = () => (input.value.trim() ? (isNaN(parse()) ? input.value : parse()) : undefined);
  const wrong = () => {
    const value = get();
    if (value === undefined) return required && "is required";
    if (typeof value == "string" || !isFinite(value)) return integer ? "must be a whole number" : "must be a number";
    if (integer && value % 1) return `must be a whole number, is ${value}`;
    if (value % 1 == 0 && !Number.isSafeInteger(value)) return "is too large to be sent exactly";
    if (value < min) return `must be at least ${min}, is ${value}`;
    if (value > (max ?? Infinity)) return `must be at most ${max}, is ${value}`;
    const quotient = value / step;
    return step > 0 && Math.abs(quotient - Math.round(quotient)) > 1e-9 && `must be a multiple of ${step}, is ${value}`;
  };
  const button = (sign, name, direction) =>
    el("button", { type: "button", class: "do", tabindex: "-1", "aria-label": name, onclick: () => move(direction) }, sign);
  const bounds = min != null && max != null ? `${min} to ${max}` : max != null ? `At most ${max}` : min != null ? `At least ${min}` : "";
  const hint = [bounds, integer && !step && "A whole number", step && `In steps of ${step}`].filter(Boolean).join(". ");
  const node = el("div", { class: "joined number" }, input, button("−", "Less", -1), button("+", "More", 1));
  return { node, inputs: [input], get, set, wrong, hint };
}

/** A choice of one or of many options, each a card. */
function choices(field, id, options, isMany) {
  const { required, min, max } = field;
  const initial = [field.default ?? []].flat();
  const type = isMany ? "checkbox" : "radio";
  const cards = options.map((option, place) => card(option, place, { id, type, isDefault: initial.includes(option.value) }));
  const other = field.other ? otherCard(options.length, { id, type }) : null;
  const inputs = [...cards, ...(other ? [other] : [])].map(({ input }) => input);
  const picked = () => {
    const values = options.filter((_, place) => inputs[place].checked).map(({ value }) => value);
    return other?.input.checked && other.text.value.trim() ? [...new Set([...values, other.text.value])] : values;
  };
  const get = () => {
    const values = picked();
    if (!isMany) return values[0];
    // None of them is an answer where the agent proposed some.
    return values.length || initial.length ? values : undefined;
  };
  const set = (value) => {
    const values = [value ?? []].flat();
    options.forEach((option, place) => (inputs[place].checked = values.includes(option.value)));
    const own = values.find((value) => !options.some((option) => option.value === value));
    if (other) [other.input.checked, other.text.value] = [own !== undefined, own ?? ""];
    shown();
  };
  const shown = () => {
    cards.forEach(({ input, details }) => details && (details.open = input.checked));
    if (clear) clear.hidden = !inputs.some((input) => input.checked);
  };
  const wrong = () => {
    const { length } = picked();
    if (other?.input.checked && !other.text.value.trim()) return "needs your own answer, or another option";
    if (!length && required) return "is required";
    if (!isMany || !length) return "";
    if (length < min) return `must have at least ${plural(min, "entry", "entries")}, has ${length}`;
    return length > (max ?? Infinity) && `must have at most ${plural(max, "entry", "entries")}, has ${length}`;
  };
  const pick = (place) => {
    const input = inputs[place];
    if (!input || input.disabled) return false;
    input.checked = isMany ? !input.checked : true;
    input.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    (input == other?.input && input.checked ? other.text : input).focus();
    return true;
  };
  const undo = () => {
    set();
    inputs[0].dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    inputs[0].focus();
  };
  const clear = !isMany && !required ? el("button", { type: "button", class: "link do", onclick: undo }, "Clear the choice") : null;
  const node = el("div", { class: "cards", oninput: shown }, [...cards, other].map((card) => card?.node), clear);
  set(field.default);
  const hint = isMany ? range(min, max, "option") || "Choose any number" : "";
  return { node, inputs, get, set, wrong, pick, hint, other: other?.text };
}

const digit = (place) => (place < 9 ? el("kbd", { "aria-hidden": "true" }, String(place + 1)) : null);

function card(option, place, { id, type, isDefault }) {
  const key = `${id}-${place}`;
  const input = el("input", { type, name: id, "aria-labelledby": `${key}-l`, "aria-describedby": `${key}-d` });
  const label = el("label", null, input, [
    el("span", { class: "what" }, [
      el("bdi", { id: `${key}-l` }, inline(String(option.label))),
      el("span", { id: `${key}-d`, class: "about" }, [isDefault && el("span", { class: "chip" }, "Default"), option.description && prose(option.description)]),
    ]),
    digit(place),
  ]);
  const details = option.preview && el("details", { ontoggle: () => fill() }, el("summary", null, "Preview"));
  const fill = () => details.open && !details.children[1] && details.append(preview(option.preview));
  return { input, details, node: el("div", { class: "card" }, label, details) };
}

function otherCard(place, { id, type }) {
  const input = el("input", { type, name: id, onclick: () => input.checked && text.focus() });
  const choose = () => (input.checked = text.value != "" || input.checked);
  const text = el("textarea", { "aria-label": "Your own answer", placeholder: "Your own answer", rows: "1", dir: "auto", class: "own", oninput: choose });
  const label = el("label", null, input, el("span", { class: "what" }, "Other"), digit(place));
  return { input, text, node: el("div", { class: "card" }, label, text) };
}
