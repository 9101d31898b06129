// A form as a modal of Slack, and what comes back from it.

import type { Checkboxes, InputBlock, ModalView, MultiStaticSelect, PlainTextElement, PlainTextInput, PlainTextOption, StaticSelect } from "@slack/types";

import { cut, type Form, type FormField } from "../core/card.js";

/** What Slack takes: characters of a title, a label, an option and a text that is there already, and options of each kind. */
const TITLE = 24;
const LABEL = 2000;
const OPTION = 75;
const INITIAL = 3000;
const CHECKBOXES = 10;
const OPTIONS = 100;

/** The one element of each input. */
const ACTION = "value";

/** What a form says of itself when it comes back. */
export interface FormOrigin {
  chat: string;
  data: string;
}

/** Writes a form. */
export function modal({ title, fields, data }: Form, chat: string): ModalView {
  const origin: FormOrigin = { chat, data };
  return {
    type: "modal",
    title: words(title, TITLE),
    submit: words("Send", TITLE),
    close: words("Cancel", TITLE),
    private_metadata: JSON.stringify(origin),
    blocks: fields.map(inputOf),
  };
}

/** Slack counts units, of which a character may have two; a text must not be empty. */
function words(text: string, most: number): PlainTextElement {
  let short = cut(text.trim() || "…", most);
  for (let count = most - 1; short.length > most; count--) short = cut(text, count);
  return { type: "plain_text", text: short, emoji: false };
}

function inputOf(field: FormField): InputBlock {
  return {
    type: "input",
    block_id: field.name,
    label: words(field.label, LABEL),
    optional: !field.required,
    ...(field.help && { hint: words(field.help, LABEL) }),
    element: elementOf(field),
  };
}

function elementOf(field: FormField): InputBlock["element"] {
  const isListed = field.kind !== "text" && field.options.length > 0 && field.options.length <= OPTIONS;
  if (!isListed) return textInput(field);
  const options = field.options.map(({ value, label }): PlainTextOption => ({ value, text: words(label, OPTION) }));
  const chosen = options.filter(({ value }) => [field.value].flat().includes(value!));
  if (field.kind === "choice") {
    return { type: "static_select", action_id: ACTION, options, ...(chosen[0] && { initial_option: chosen[0] }) } satisfies StaticSelect;
  }
  const initial = chosen.length ? { initial_options: chosen } : {};
  if (options.length <= CHECKBOXES) return { type: "checkboxes", action_id: ACTION, options, ...initial } satisfies Checkboxes;
  return { type: "multi_static_select", action_id: ACTION, options, ...initial } satisfies MultiStaticSelect;
}

function textInput({ multiline, value, kind }: FormField): PlainTextInput {
  // Names of options mean nothing to a person.
  const before = kind !== "text" || value === undefined ? "" : Array.isArray(value) ? value.join(multiline ? "\n" : ", ") : value;
  return { type: "plain_text_input", action_id: ACTION, multiline, ...(before && before.length <= INITIAL && { initial_value: before }) };
}

/** A value as Slack sends it: a text, an option, or several. */
interface SlackValue {
  value?: string | null;
  selected_option?: { value: string } | null;
  selected_options?: { value: string }[] | null;
}

/** Reads what a person filled in. What was left out is not there. */
export function readValues(values: Record<string, Record<string, SlackValue>>): Record<string, string | string[]> {
  const read: Record<string, string | string[]> = {};
  for (const [name, block] of Object.entries(values)) {
    const { value, selected_option: one, selected_options: several } = block[ACTION] ?? {};
    const given = several ? several.map(option => option.value) : (one?.value ?? value ?? "");
    if (given.length) read[name] = given;
  }
  return read;
}
