// One field of a question: its label and control, and what was entered. Whether it matches its pattern is left to the
// server, whose words are shown here; the form around it is left to question.js.

import { button, el } from "./dom.js";
import { prose } from "./markdown.js";
import { preview } from "./preview.js";
import { inline } from "./text.js";
import { line, nameOf, own, twin, visible } from "./words.js";

/**
 * Returns a field with its control: `get` returns the value or `undefined`, `take` takes an answer or a draft, `wrong` says why the value
 * cannot be sent, `pick` chooses an option by its place; `typed` is what text is typed into, if there is something.
 * @param {Object} field
 * @param {number} place its place in the form
 * @param {{isTitled: boolean, isOnly: boolean, hasNotes: boolean}} context whether a heading has the same text
 */
export function createField(field, place, { isTitled, isOnly, hasNotes }) {
  const { name, header, help, nullable } = field;
  const id = `f${place}`;
  // One that takes null may be left blank.
  const required = field.required && !nullable;
  const control = own(KINDS, field.kind)?.({ ...field, required }, id) ?? unknown(field);
  const { inputs, pick } = control;
  const [input] = inputs;
  const blank = field.required ? "Blank stands for null" : "Optional";
  // To leave a field out is not the same as null.
  const none = nullable && !field.required && el("input", { id: `${id}-null`, type: "checkbox" });
  const hint = sentences(required ? !isOnly && "Required" : blank, control.hint);
  const about = (help || hint) && el("div.hint", { id: `${id}-about` }, help && prose(help), hint && el("p", hint));
  const error = el("p.error", { id: `${id}-error`, hidden: true });
  const note = el("textarea.note", { id: `${id}-note`, ariaLabel: `Note on ${line(header || field.label)}` });
  const notes = input && hasNotes && el("details", el("summary", "Add a note"), note);
  const chip = header && !isOnly && header != field.label && [el("span.chip", line(header)), " "];
  const look = { for: input?.id, class: isTitled ? "vh" : "label", dir: "auto" };
  const label = el(pick ? "legend" : "label", look, chip, inline(field.label));
  const oninput = ({ target }) => {
    if (target == none) none.checked && control.set();
    else if (none && target != note) none.checked = false;
  };
  const node = el(pick ? "fieldset.field" : "div.field", { oninput }, label, about, error, control.node, none && el("label.null", none, "No value (null)"), notes);
  (pick ? node : input)?.setAttribute("aria-describedby", `${id}-about ${id}-error`);
  return {
    ...control,
    field,
    node,
    get: () => (none?.checked ? null : control.get()),
    wrong: () => control.wrong?.() || (required && control.get() === undefined && "is required"),
    note: () => note.value,
    take({ values, notes: texts, others } = {}) {
      const value = own(values, name);
      if (none) none.checked = value === null;
      control.set(value ?? undefined);
      if (control.text) control.text.value ||= own(others, name) ?? "";
      note.value = own(texts, name) ?? "";
      if (notes) notes.open = note.value != "";
    },
    fail(message) {
      error.hidden = !message;
      error.textContent = message ? `This ${visible(message)}` : "";
      node.classList.toggle("wrong", !!message);
      if (input && !pick) input.ariaInvalid = !!message;
    },
    focus: () => (inputs.find(input => input.checked) ?? input)?.focus(),
  };
}

/** Returns what fields have, by their names. A name may be that of a member of every object. */
const pairs = (fields, get) =>
  Object.fromEntries(fields.map(it => [it.field.name, get(it)]).filter(([, value]) => value !== undefined && value !== ""));

/** Returns what stands in "Other", also where another option is chosen. */
export const others = fields => pairs(fields, it => it.text?.value);

/** Returns the answer that fields have. */
export const entries = fields => ({ values: pairs(fields, it => it.get()), notes: pairs(fields, it => it.note()) });

const KINDS = {
  text,
  texts,
  number,
  json,
  choice: (field, id) => field.options && choices(field, id, field.options),
  choices: (field, id) => field.options && choices(field, id, field.options, true),
  boolean: (field, id) => choices(field, id, either("Yes", "No")),
  confirm: (field, id) => choices(field, id, either(field.yes, field.no)),
};

const either = (yes, no) => [{ value: true, label: yes }, { value: false, label: no }];

/** Returns texts as sentences. */
export const sentences = (...parts) => parts.filter(Boolean).map(part => part[0].toUpperCase() + part.slice(1)).join(". ");

/** A field of a later version cannot be filled in. */
function unknown({ kind = "none", required }) {
  const way = required ? "Update askbridge, answer it elsewhere, or reject it." : "You can leave it out.";
  const node = el("p.notice", `This version cannot show fields of the kind ${line(kind)}. ${way}`);
  return { node, inputs: [], get() {}, set() {}, wrong: () => required && "cannot be answered here" };
}

/** Returns a range in words: "1 to 3 characters". */
function range(min, max, noun) {
  const count = number => (noun ? `${number} ${noun}${number == 1 ? "" : "s"}` : `${number}`);
  if (max == null) return min == null ? "" : `at least ${count(min)}`;
  return min == null ? `at most ${count(max)}` : `${min} to ${count(max)}`;
}

/** Returns what is wrong with a size, if something is. */
const outside = (size, min, max, noun) => (size < min || size > max) && `must ${noun ? "have" : "be"} ${range(min, max, noun)}`;

const TYPES = { date: "date", time: "time", "date-time": "datetime-local", email: "email", uri: "url" };

function text({ minLength, maxLength, pattern, placeholder, multiline, secret, format, required, default: initial }, id) {
  const type = secret ? "password" : (own(TYPES, format) ?? "text");
  const input = el(multiline && type == "text" ? "textarea" : "input", { id, autocomplete: "off", dir: "auto", required });
  if (input.localName == "input") input.type = type;
  if (placeholder) input.placeholder = line(placeholder);
  const set = (value = "") => {
    input.value = type == "datetime-local" ? local(value) : value;
    // What a native input does not take is shown as text.
    if (value && !input.value) Object.assign(input, { type: "text", value });
  };
  set(initial);
  const get = () => (input.value && input.type == "datetime-local" ? new Date(input.value).toISOString() : input.value) || undefined;
  const wrong = () => {
    const { badInput, typeMismatch } = input.validity;
    if (badInput || typeMismatch) return `must be ${format == "email" ? "an email address" : `a complete ${format}`}`;
    return input.value && outside([...input.value].length, minLength, maxLength, "character");
  };
  const hint = sentences(range(minLength, maxLength, "character"), pattern && `Must match ${visible(pattern)}`);
  const show = button("", () => {
    const isShown = input.type == "text";
    input.type = isShown ? "password" : "text";
    show.ariaPressed = !isShown;
  }, "Show");
  show.ariaPressed = false;
  return { node: secret ? el("div.joined", input, show) : input, inputs: [input], typed: input, get, set, wrong, hint };
}

/** Several texts, one a line. */
function texts({ min, max, minLength, maxLength, pattern, required, default: initial }, id) {
  const input = el("textarea", { id, autocomplete: "off", dir: "auto", required });
  const set = (value = []) => (input.value = [value].flat().join("\n"));
  set(initial);
  const lines = () => input.value.split("\n").map(text => text.trim()).filter(Boolean);
  const get = () => (lines().length ? lines() : undefined);
  const wrong = () => {
    const sizes = lines().map(text => outside([...text].length, minLength, maxLength, "character"));
    return get() && (outside(lines().length, min, max, "line") || sizes.find(Boolean));
  };
  const each = range(minLength, maxLength, "character");
  const hint = sentences("one text a line", range(min, max, "line"), each && `${each} each`, pattern && `Each must match ${visible(pattern)}`);
  return { node: input, inputs: [input], typed: input, get, set, wrong, hint };
}

/** JSON that fits a schema, which is shown. Whether it fits is left to the server. */
function json({ schema, secret, required }, id) {
  const input = el(secret ? "input" : "textarea.json", { id, autocomplete: "off", dir: "ltr", required, spellcheck: false });
  if (secret) input.type = "password";
  const set = (value = "") => (input.value = value);
  const get = () => (input.value.trim() ? input.value : undefined);
  const wrong = () => {
    try {
      get() && JSON.parse(input.value);
    } catch {
      return "must be JSON: a text needs quotes";
    }
  };
  const shown = el("details", { open: true }, el("summary", "Schema"), el("pre.schema", { tabIndex: 0 }, JSON.stringify(schema, null, 2)));
  return { node: el("div", shown, input), inputs: [input], typed: input, get, set, wrong, hint: "JSON that fits the schema" };
}

/** Returns a moment as an input takes it, in the time of this computer; empty if it is none. */
function local(moment) {
  const date = new Date(moment);
  return isNaN(date) ? "" : new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function number({ integer, min, max, exclusiveMin, exclusiveMax, step, required, default: initial }, id) {
  const by = step > 0 ? step : integer ? 1 : "any";
  // A browser counts steps from the minimum, an agent from zero.
  const least = step > 0 && min != null ? Math.ceil(min / step) * step : min;
  const input = el("input.number", { id, type: "number", step: by, min: least, max, required, autocomplete: "off" });
  const set = value => (input.value = value ?? "");
  set(initial);
  const get = () => (input.value ? Number(input.value) : undefined);
  const wrong = () => {
    const value = get();
    const { badInput, stepMismatch } = input.validity;
    if (badInput) return "must be a number";
    if (stepMismatch) return step > 0 ? `must be a multiple of ${step}` : "must be a whole number";
    if (value % 1 == 0 && !Number.isSafeInteger(value)) return "is too large to be sent exactly";
    if (value <= exclusiveMin) return `must be more than ${exclusiveMin}`;
    if (value >= exclusiveMax) return `must be less than ${exclusiveMax}`;
    return outside(value, min, max);
  };
  const between = [exclusiveMin != null && `more than ${exclusiveMin}`, exclusiveMax != null && `less than ${exclusiveMax}`];
  const hint = sentences(range(min, max), ...between, integer && "a whole number", step && `in steps of ${step}`);
  return { node: input, inputs: [input], typed: input, get, set, wrong, hint };
}

/** A choice of one or of many options, each a card. */
function choices({ required, min, max, other: hasOther, default: initial }, id, options, isMany) {
  const proposed = [initial ?? []].flat();
  // Layouts to choose from are compared side by side.
  const isCompared = options.filter(({ preview }) => preview).length > 1;
  // A browser calls a required choice invalid before anything is chosen: the error says it in its time.
  const shape = { name: id, type: isMany ? "checkbox" : "radio", required: !!required && !isMany, ariaInvalid: false };
  const cards = options.map((option, place) => card(option, place, shape, proposed.includes(option.value), twin(option, options)));
  const inputs = cards.map(({ input }) => input);
  let own, text;
  if (hasOther) {
    const name = "Your own answer";
    const oninput = () => (own.checked ||= text.value != "");
    text = el("textarea.own", { id: `${id}-own`, ariaLabel: name, placeholder: name, rows: 1, dir: "auto", oninput });
    cards.push(card({ label: "Other" }, options.length, shape));
    cards.at(-1).node.append(text);
    inputs.push((own = cards.at(-1).input));
    own.onclick = () => own.checked && text.focus();
  }
  const typed = () => (own?.checked && text.value.trim() ? [text.value] : []);
  const chosen = () => [...new Set([...options.filter((_, place) => inputs[place].checked).map(({ value }) => value), ...typed()])];
  // Where the agent proposed some, none of them is an answer.
  const get = () => (isMany ? (chosen().length || (proposed.length && !required) ? chosen() : undefined) : chosen()[0]);
  const set = value => {
    const values = [value ?? []].flat();
    options.forEach((option, place) => (inputs[place].checked = values.includes(option.value)));
    const rest = values.find(value => !options.some(option => option.value === value));
    if (own) [own.checked, text.value] = [rest != null, rest ?? ""];
    update();
  };
  const wrong = () => {
    if (own?.checked && !typed().length) return "needs your own answer, or another option";
    return isMany && get() && outside(get().length, min, max, "option");
  };
  const pick = place => {
    inputs[place]?.focus();
    inputs[place]?.click();
    return !!inputs[place];
  };
  const clear = button("link", () => {
    set();
    inputs[0].dispatchEvent(new Event("input", { bubbles: true }));
    inputs[0].focus();
  }, "Clear the choice");
  const update = () => {
    for (const { input, details } of cards) if (details) details.open = isCompared || input.checked;
    clear.hidden = isMany || required || !inputs.some(input => input.checked);
  };
  set(initial);
  const node = el(`div.cards.${isCompared ? "compared" : ""}`, { oninput: update }, cards.map(({ node }) => node), clear);
  const hint = isMany && (range(min, max, "option") || "choose any number");
  return { node, inputs, typed: text, get, set, wrong, pick, hint, text };
}

function card(option, place, shape, isProposed, apart) {
  const { description, preview: shown } = option;
  const id = `${shape.name}-${place}`;
  const input = el("input", { ...shape, id, "aria-labelledby": `${id}-label`, "aria-describedby": `${id}-default ${id}-about` });
  const name = [el("bdi", { id: `${id}-label` }, inline(nameOf(option)), apart), isProposed && [" ", el("small.chip", { id: `${id}-default` }, "Default")]];
  const about = description && el("div.about", { id: `${id}-about` }, prose(description));
  const show = () => details.open && !details.children[1] && details.append(preview(shown));
  const details = shown && el("details", { ontoggle: show }, el("summary", "Preview"));
  return { input, details, node: el("div.card", el("label", input, el("div.what", el("span", name), about), digit(place)), details) };
}

/** Returns the key that chooses an option. */
export const digit = place => place < 9 && el("kbd", { ariaHidden: true }, `${place + 1}`);
