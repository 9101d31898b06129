// How one field is answered in a chat: by buttons, or by a typed text. Whether a value fits, the inbox says.

import type { Field, FieldOption, Value } from "@askbridge/client";

import { type FormField, printable } from "./card.js";

/** One choice of a field, as a button has it. */
export interface Choice {
  label: string;
  value: Value;
  option?: FieldOption;
}

/** Returns what can be chosen for a field; nothing if it takes a text. */
export function choicesOf(field: Field): Choice[] {
  if (field.kind === "choice" || field.kind === "choices") {
    return field.options.map(option => ({ label: option.label || option.value, value: option.value, option }));
  }
  if (field.kind === "boolean") return [{ label: "Yes", value: true }, { label: "No", value: false }];
  if (field.kind === "confirm") return [{ label: field.yes, value: true }, { label: field.no, value: false }];
  return [];
}

/** Whether a text in reply can be the value of a field. */
export const takesText = (field: Field): boolean => field.kind !== "unknown" && !field.secret;

/** Says what a text in reply may be. */
export function hintFor(field: Field, hasButtons: boolean): string {
  if (!hasButtons && choicesOf(field).length) return `Reply to this message with the number of ${field.kind === "choices" ? "each option, with commas between them" : "an option"}.`;
  switch (field.kind) {
    case "choice":
      return field.other ? "Or reply to this message with a text of your own." : "";
    case "choices":
      return field.other ? "Reply to this message to add a text of your own." : "";
    case "texts":
      return "Reply to this message, with each text on a line of its own.";
    case "number":
      return "Reply to this message with a number.";
    case "json":
      return "Reply to this message with JSON.";
    case "text":
      return "Reply to this message with your answer.";
    default:
      return "";
  }
}

/** What a typed text means. */
export type Typed = { value: Value } | { error: string };

/** Reads a typed text as the value of a field. */
export function readTyped(field: Field, typed: string): Typed {
  const words = typed.replace(/\r\n?/g, "\n").trim();
  switch (field.kind) {
    case "choice":
      return readChoice(field, words);
    case "choices":
      return readChoices(field, words);
    case "boolean":
    case "confirm": {
      const found = findChoice(choicesOf(field), words);
      if (found) return { value: found.value };
      if (/^(yes|y|true)$/i.test(words)) return { value: true };
      return /^(no|n|false)$/i.test(words) ? { value: false } : { error: "It takes yes or no." };
    }
    case "number": {
      const number = Number(words.replace(/^([+-]?\d+),(\d+)$/, "$1.$2"));
      return words !== "" && Number.isFinite(number) ? { value: number } : { error: "It takes a number." };
    }
    case "texts":
      return { value: words.split("\n").map(line => line.trim()).filter(Boolean) };
    case "unknown":
      return { error: "It cannot be answered here." };
    default:
      return { value: words };
  }
}

function readChoice(field: Field & { kind: "choice" }, words: string): Typed {
  const found = findChoice(choicesOf(field), words);
  if (found) return { value: found.value };
  return field.other ? { value: words } : { error: "It takes one of the options." };
}

function readChoices(field: Field & { kind: "choices" }, words: string): Typed {
  const choices = choicesOf(field);
  const whole = findChoice(choices, words);
  if (whole) return { value: [whole.value as string] };
  const parts = words.split(/[,\n]/).map(part => part.trim()).filter(Boolean);
  const found = parts.map(part => findChoice(choices, part)?.value as string | undefined);
  if (parts.length && found.every(value => value !== undefined)) return { value: found as string[] };
  return field.other ? { value: [words] } : { error: "It takes options, with commas between them." };
}

/** Returns the choice that a text names: by its value, its label or its number, where that is one alone. */
function findChoice(choices: Choice[], words: string): Choice | undefined {
  const exact = choices.filter(({ label, value }) => label === words || value === words);
  if (exact.length) return exact.length === 1 ? exact[0] : undefined;
  const folded = choices.filter(({ label }) => printable(label).toLowerCase() === words.toLowerCase());
  if (folded.length) return folded.length === 1 ? folded[0] : undefined;
  return /^\d{1,3}$/.test(words) ? choices[Number(words) - 1] : undefined;
}

/** The name of an option in a form: its own value may be longer than a chat takes. */
const placeName = (place: number): string => `#${place}`;

/** Returns a field for the form of a chat; nothing if the chat's forms cannot have it. */
export function formFieldOf(field: Field, value: Value | undefined): FormField | undefined {
  if (field.secret || field.kind === "unknown") return undefined;
  const choices = choicesOf(field);
  const takesMore = (field.kind === "choice" || field.kind === "choices") && field.other;
  const kind = !choices.length || takesMore ? "text" : field.kind === "choices" ? "choices" : "choice";
  const places = new Map(choices.map((choice, place) => [choice.value, placeName(place)]));
  const one = (part: Value) => (kind === "text" ? undefined : places.get(part)) ?? String(part);
  const shown = value === undefined || value === null ? undefined : Array.isArray(value) ? value.map(one) : one(value);
  return {
    name: field.name,
    label: printable(field.label || field.name),
    ...(field.help && { help: printable(field.help) }),
    kind,
    options: kind === "text" ? [] : choices.map(({ label }, place) => ({ value: placeName(place), label: printable(label) })),
    required: !!field.required,
    multiline: (field.kind === "text" && !!field.multiline) || field.kind === "json" || field.kind === "texts",
    ...(shown !== undefined && { value: shown }),
  };
}

/** Reads what came from the form of a chat: names of options, or what was typed where the chat could not show them. */
export function readForm(field: Field, filled: string | string[]): Typed {
  // Where one option is chosen, a chat may send a list of one.
  const given = Array.isArray(filled) && field.kind !== "choices" ? (filled[0] ?? "") : filled;
  const choices = choicesOf(field);
  const isTyped = "other" in field && field.other;
  const named = (word: string) => (!isTyped && /^#\d+$/.test(word) ? choices[Number(word.slice(1))]?.value : undefined);
  if (Array.isArray(given)) {
    const values = given.map(named);
    return values.every(value => value !== undefined) ? { value: values as string[] } : { error: "It takes options." };
  }
  const value = named(given);
  if (value === undefined) return readTyped(field, given);
  return { value: field.kind === "choices" ? [value as string] : value };
}
