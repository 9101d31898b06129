// A form as a modal of Discord, and what comes back from it.

import {
  type APILabelComponent,
  type APIModalInteractionResponseCallbackData,
  type APIModalSubmission,
  type APIStringSelectComponent,
  type APITextInputComponent,
  ComponentType,
  TextInputStyle,
} from "discord-api-types/v10";

import { cut, type Form, type FormField } from "../core/card.js";

/** What Discord takes: characters of a title, a label, what is said below it, an option and a text, and options of a field. */
const TITLE = 45;
const HELP = 100;
const OPTION = 100;
const TEXT = 4_000;
const OPTIONS = 25;

/** Writes a form. */
export const modal = ({ title, fields, data }: Form): APIModalInteractionResponseCallbackData => ({
  custom_id: data,
  title: short(title, TITLE),
  components: fields.map(labelOf),
});

/** A character may be two units; a text must not be empty. */
function short(text: string, most: number): string {
  let words = cut(text.trim() || "…", most);
  for (let count = most - 1; words.length > most; count--) words = cut(text.trim(), count);
  return words;
}

/** A label that is too long goes on below. */
function labelOf(field: FormField): APILabelComponent {
  const label = short(field.label, TITLE);
  const rest = label === field.label.trim() ? "" : field.label;
  const help = [rest, field.help ?? ""].filter(Boolean).join(" – ");
  const isListed = field.kind !== "text" && field.options.length > 0 && field.options.length <= OPTIONS;
  return { type: ComponentType.Label, label, ...(help && { description: short(help, HELP) }), component: isListed ? selectOf(field) : inputOf(field) };
}

function selectOf({ name, kind, options, required, value }: FormField): APIStringSelectComponent {
  const chosen = [value].flat();
  return {
    type: ComponentType.StringSelect,
    custom_id: name,
    options: options.map(option => ({ value: option.value, label: short(option.label, OPTION), default: chosen.includes(option.value) })),
    min_values: required ? 1 : 0,
    max_values: kind === "choices" ? options.length : 1,
    required,
  };
}

function inputOf({ name, kind, multiline, required, value }: FormField): APITextInputComponent {
  // Names of options mean nothing to a person.
  const before = kind !== "text" || value === undefined ? "" : Array.isArray(value) ? value.join(multiline ? "\n" : ", ") : value;
  return {
    type: ComponentType.TextInput,
    custom_id: name,
    style: multiline ? TextInputStyle.Paragraph : TextInputStyle.Short,
    required,
    max_length: TEXT,
    ...(before && before.length <= TEXT && { value: before }),
  };
}

/** Reads what a person filled in. What was left out is not there. */
export function readValues({ components }: APIModalSubmission): Record<string, string | string[]> {
  const read: Record<string, string | string[]> = {};
  for (const part of components) {
    if (part.type !== ComponentType.Label) continue;
    const { component } = part;
    if (component.type === ComponentType.TextInput && component.value) read[component.custom_id] = component.value;
    if (component.type === ComponentType.StringSelect && component.values.length) read[component.custom_id] = component.values;
  }
  return read;
}
