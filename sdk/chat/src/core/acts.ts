// What becomes of what a person does in the chat: taps, replies and forms. Each is checked against who may answer, what the
// person has seen, and what takes a second step.

import type { Field, Value } from "@askbridge/client";

import { printable } from "./card.js";
import { type Entry, keyOf, readData, slotOf } from "./entry.js";
import type { Act, BoardEvent, Decision, Effect, Filled, Refusal, Reply, Tap } from "./events.js";
import { choicesOf, formFieldOf, readForm, readTyped, takesText } from "./fields.js";
import { disclosureOf } from "./policy.js";
import { choiceOf, questionCard, type Scene, secondFits, takesSecond } from "./view.js";

/** What the board lends for one event. */
export interface Hand {
  now: number;
  scene: Scene;
  isKnown: boolean;
  find(key: string): Entry | undefined;
  findByMessage(chat: string, ref: string): Entry | undefined;
  /** Whether it comes for the first time. */
  isNew(id: string): boolean;
  show(entry: Entry): Effect[];
}

export type Doing = Extract<BoardEvent, { type: "tap" | "reply" | "filled" | "decided" }>;

const OVER = "Too late: this question is over.";
const CHANGED = "This has changed since: read it again.";

/** Takes what a person did, or what came of it. */
export function acts(event: Doing, hand: Hand): Effect[] {
  switch (event.type) {
    case "tap":
      return tapped(event.tap, hand);
    case "reply":
      return replied(event.reply, hand);
    case "filled":
      return filled(event.filled, hand);
    case "decided":
      return decided(event.id, event.act, event.refusal, hand);
  }
}

const tell = (act: Act, text: string): Effect => ({ do: "tell", act, text });

/** Says why a person may not answer a question now; nothing if the person may. */
function stopped(act: Act, entry: Entry, { scene, now }: Hand): string | undefined {
  if (!scene.policy.users.has(act.user)) return "You may not answer here.";
  if (entry.over !== undefined) return `Too late. ${entry.over}`;
  if (!entry.record) return "The bot has just started: try again in a moment.";
  if (entry.claim && entry.claim.user !== act.user && now < entry.claim.until) return `${nameOf(entry.claim.user, scene)} is answering.`;
  if (entry.sending !== undefined) return `${nameOf(entry.sending, scene)} has just answered.`;
  return undefined;
}

const nameOf = (user: string, { policy }: Scene): string => policy.users.get(user) ?? user;

function tapped(tap: Tap, hand: Hand): Effect[] {
  if (!hand.isNew(tap.id)) return [];
  const read = readData(tap.data);
  const entry = read && hand.find(read.key);
  if (!read || !entry) return unknownTap(tap, hand);
  const why = stopped(tap, entry, hand);
  if (why) return [tell(tap, why), ...(entry.over !== undefined ? hand.show(entry) : []), ...stray(tap, entry, entry.over !== undefined)];
  if (read.edition !== entry.edition) return [tell(tap, CHANGED), ...hand.show(entry), ...stray(tap, entry, true)];
  // What leaves the machine may have become less meanwhile, and a message without the text has no buttons that answer.
  if (!/^[crb]$/.test(read.act) && !isOffered(entry, tap.data, hand)) return [tell(tap, "That is not possible any more."), ...hand.show(entry)];
  return [...act(tap, entry, read.act, hand), ...stray(tap, entry, isSecondCopy(tap, entry))];
}

/** Whether another message shows the question in this chat: a bot that was killed while it posted has posted it again. */
const isSecondCopy = ({ chat, ref }: Tap, { key, slots }: Entry): boolean => {
  const shown = slots[slotOf(key, "question", chat)];
  return shown !== undefined && shown.ref !== ref;
};

/** Takes the buttons from a message of a question that the board does not know as such, where they are no use. */
function stray(tap: Tap, entry: Entry, isUseless: boolean): Effect[] {
  const isKnown = Object.values(entry.slots).some(({ ref }) => ref === tap.ref);
  return isUseless && !isKnown && tap.ref ? [{ do: "clear", chat: tap.chat, ref: tap.ref }] : [];
}

function unknownTap(tap: Tap, { isKnown, scene }: Hand): Effect[] {
  if (!scene.policy.users.has(tap.user)) return [tell(tap, "You may not answer here.")];
  if (!isKnown) return [tell(tap, "The bot has just started: try again in a moment.")];
  return [tell(tap, OVER), ...(tap.ref ? [{ do: "clear", chat: tap.chat, ref: tap.ref } as const] : [])];
}

/** Whether a message of the question has this button now. */
function isOffered(entry: Entry, data: string, { scene }: Hand): boolean {
  const act = readData(data)!.act;
  if (act.startsWith("!")) {
    const isAll = disclosureOf(scene.policy, entry.record!) === "all" && !entry.isRefused;
    return isAll && entry.second?.act === act.slice(1) && secondFits(entry, entry.second.act, scene);
  }
  const { rows } = questionCard(entry, scene);
  return rows.some(row => row.some(button => button.data === data));
}

/** Carries out what a button stands for. */
function act(tap: Tap, entry: Entry, name: string, hand: Hand): Effect[] {
  delete entry.note;
  const at = Number(/^\w(\d+)/.exec(name)?.[1] ?? -1);
  switch (name[0]) {
    case "c":
      return claimed(tap, entry, hand, "You answer this.");
    case "r":
      delete entry.claim;
      delete entry.second;
      return [tell(tap, "Left to the others."), ...hand.show(entry)];
    case "b":
      delete entry.second;
      return [tell(tap, "Nothing was decided."), ...hand.show(entry)];
    case "x":
      return decide(tap, entry, { kind: "reject" }, hand);
    case "a":
      Object.assign(entry, { draft: {}, at: 0 });
      return [tell(tap, "From the beginning."), ...hand.show(entry)];
    case "k":
      return next(tap, entry, undefined, hand);
    case "w":
      begin(tap, entry, hand);
      // The form first: chats open it only within seconds of the tap.
      return [...opened(tap, entry, name), ...hand.show(entry)];
    case "o":
      return chosen(tap, entry, name, hand);
    case "d":
      return done(tap, entry, at, hand);
    case "z":
      return finish(tap, entry, "z", hand);
    case "!":
      return decide(tap, entry, answerOf(entry, name.slice(1)), hand);
    default:
      return [tell(tap, "That is not possible any more.")];
  }
}

/** Keeps the question from the others, where there are others: this person has begun to answer it. */
function begin({ user }: Act, entry: Entry, { scene, now }: Hand): void {
  if (scene.policy.users.size > 1) entry.claim = { user, until: now + scene.policy.claimMs };
}

function claimed(tap: Act, entry: Entry, hand: Hand, text: string): Effect[] {
  begin(tap, entry, hand);
  return [tell(tap, text), ...hand.show(entry)];
}

/** An option was tapped. */
function chosen(tap: Tap, entry: Entry, name: string, hand: Hand): Effect[] {
  const choice = choiceOf(entry, name);
  const field = entry.record!.question.fields[entry.at];
  if (!choice || !field) return [tell(tap, CHANGED), ...hand.show(entry)];
  if (field.kind === "choices") {
    const before = entry.draft[field.name];
    const values = Array.isArray(before) ? before : [];
    const value = choice.value as string;
    entry.draft[field.name] = values.includes(value) ? values.filter(one => one !== value) : [...values, value];
    // A second message that is there shows other values.
    delete entry.second;
    return claimed(tap, entry, hand, "");
  }
  if (entry.record!.question.fields.length > 1) return next(tap, entry, choice.value, hand);
  return finish(tap, entry, name, hand);
}

/** The choices of a field are complete. */
function done(tap: Tap, entry: Entry, at: number, hand: Hand): Effect[] {
  const { fields } = entry.record!.question;
  const field = fields[at];
  if (field?.kind !== "choices" || at !== entry.at) return [tell(tap, CHANGED), ...hand.show(entry)];
  const given = entry.draft[field.name];
  const value = Array.isArray(given) ? inOrder(field, given) : [];
  const wrong = countError(field, value.length);
  if (wrong) return [tell(tap, wrong)];
  if (fields.length > 1) return next(tap, entry, value, hand);
  entry.draft[field.name] = value;
  return finish(tap, entry, "z", hand);
}

/** Returns the values in the order of the options; what was typed comes last. */
function inOrder(field: Field, values: string[]): string[] {
  const place = new Map(choicesOf(field).map(({ value }, at) => [value, at]));
  const rank = (value: string) => place.get(value) ?? place.size;
  return [...values].sort((a, b) => rank(a) - rank(b));
}

function countError(field: Field & { kind: "choices" }, count: number): string | undefined {
  const least = field.min ?? (field.required ? 1 : 0);
  if (count < least) return `Choose at least ${least}.`;
  return field.max !== undefined && count > field.max ? `Choose at most ${field.max}.` : undefined;
}

/** Takes the value of one field of several, and goes on to the next one. */
function next(act: Act, entry: Entry, value: Value | undefined, hand: Hand): Effect[] {
  const { fields } = entry.record!.question;
  const { name } = fields[entry.at]!;
  if (value === undefined) delete entry.draft[name];
  else entry.draft[name] = value;
  entry.at = Math.min(entry.at + 1, fields.length);
  delete entry.second;
  return claimed(act, entry, hand, "");
}

/** An answer is complete: it is sent, or asks for the second step. */
function finish(act: Act, entry: Entry, name: string, hand: Hand): Effect[] {
  const choice = choiceOf(entry, name);
  if (!takesSecond(entry, choice, hand.scene)) return decide(act, entry, answerOf(entry, name), hand);
  if (!secondFits(entry, name, hand.scene)) return [tell(act, "It is too long to be answered here: decide at a computer.")];
  entry.second = { act: name, chat: act.chat };
  begin(act, entry, hand);
  return [tell(act, "Read the next message, and answer there."), ...hand.show(entry), { do: "show", slot: slotOf(entry.key, "second", act.chat) }];
}

/** Returns the answer that an act stands for, to the edition that was shown. */
function answerOf(entry: Entry, name: string): Decision {
  const choice = choiceOf(entry, name);
  const [field] = entry.record!.question.fields;
  const values = choice && field ? { [field.name]: choice.value } : { ...entry.draft };
  return { kind: "answer", values, seen: entry.edition };
}

function decide(act: Act, entry: Entry, decision: Decision, { scene }: Hand): Effect[] {
  entry.sending = act.user;
  const by = `${nameOf(act.user, scene)} in ${scene.policy.chat}`;
  return [{ do: "decide", id: entry.id, act: bare(act), by, decision }];
}

/** What a person did, without what the person wrote: it may be kept while the answer is on its way. */
const bare = ({ id, chat, user, raw }: Act): Act => ({ id, chat, user, raw });

/** Tells what came of a decision. */
function decided(id: string, act: Act, refusal: Refusal | undefined, hand: Hand): Effect[] {
  const entry = hand.find(keyOf(id));
  if (entry) delete entry.sending;
  if (!refusal) return [tell(act, "Sent.")];
  if (!entry || entry.over !== undefined) return [tell(act, refusal.text)];
  delete entry.second;
  if (refusal.why === "wrong") entry.at = 0;
  if (refusal.why !== "late") entry.note = refusal.text;
  return [tell(act, refusal.text), ...hand.show(entry)];
}

function replied(reply: Reply, hand: Hand): Effect[] {
  if (!hand.isNew(reply.id)) return [];
  const entry = hand.findByMessage(reply.chat, reply.to);
  // It may be a reply to anything.
  if (!entry) return [];
  const why = stopped(reply, entry, hand);
  if (why) return [tell(reply, why)];
  const { question } = entry.record!;
  if (disclosureOf(hand.scene.policy, entry.record!) !== "all") return [tell(reply, "It is not answered here: decide at a computer.")];
  const refusal = /^(?:no|reject)\s*[,:]\s*(.+)$/is.exec(reply.text.trim());
  const field = question.fields[entry.at];
  // “No, thanks” may be an option, or the text that is asked for.
  const isValue = field && question.purpose !== "permission" && !("error" in readTyped(field, reply.text));
  if (refusal && !isValue) return decide(reply, entry, { kind: "reject", reason: printable(refusal[1]!.trim()) }, hand);
  if (question.purpose === "permission") {
    return [tell(reply, "A text does not decide this. To reject it with a reason, reply “no, …”.")];
  }
  if (!questionCard(entry, hand.scene).takesText || !field || !takesText(field)) return [tell(reply, "It cannot be answered by a text here.")];
  return typed(reply, entry, field, reply.text, hand);
}

/** A text for the field that is next. */
function typed(act: Act, entry: Entry, field: Field, words: string, hand: Hand): Effect[] {
  delete entry.note;
  const read = readTyped(field, words);
  if ("error" in read) return [tell(act, read.error)];
  if (entry.record!.question.fields.length > 1) return next(act, entry, read.value, hand);
  entry.draft[field.name] = read.value;
  return finish(act, entry, "z", hand);
}

/** The name of a field in a form: its own one may be longer than a chat takes. */
const formName = (place: number): string => `f${place}`;

/** Opens the form of the chat: for the whole question, or for one field. */
function opened(tap: Tap, entry: Entry, name: string): Effect[] {
  const { fields, title, message } = entry.record!.question;
  const shown = fields.flatMap((field, place) => {
    if (name !== "w" && place !== entry.at) return [];
    const found = formFieldOf(field, entry.draft[field.name]);
    return found ? [{ ...found, name: formName(place) }] : [];
  });
  return [{ do: "form", act: tap, form: { data: tap.data, title: printable(title || message || "Answer"), fields: shown } }];
}

function filled(form: Filled, hand: Hand): Effect[] {
  if (!hand.isNew(form.id)) return [];
  const read = readData(form.data);
  const entry = read && hand.find(read.key);
  if (!read || !entry) return [tell(form, OVER)];
  const why = stopped(form, entry, hand);
  if (why) return [tell(form, why)];
  if (read.edition !== entry.edition) return [tell(form, CHANGED), ...hand.show(entry)];
  if (!isOffered(entry, form.data, hand)) return [tell(form, "That is not possible any more.")];
  const { fields } = entry.record!.question;
  if (read.act !== "w") {
    const field = fields[entry.at]!;
    const given = form.values[formName(entry.at)] ?? "";
    return typed(form, entry, field, Array.isArray(given) ? given.join(", ") : given, hand);
  }
  return filledAll(form, entry, fields, hand);
}

function filledAll(form: Filled, entry: Entry, fields: Field[], hand: Hand): Effect[] {
  const errors: string[] = [];
  const draft: Record<string, Value> = {};
  for (const [place, field] of fields.entries()) {
    const given = form.values[formName(place)];
    if (given === undefined || given.length === 0) {
      if (field.required) errors.push(`${field.label}: it needs an answer.`);
      continue;
    }
    const value = readForm(field, given);
    if ("error" in value) errors.push(`${field.label}: ${value.error}`);
    else draft[field.name] = value.value;
  }
  Object.assign(entry, { draft, at: errors.length ? 0 : fields.length });
  if (errors.length) {
    entry.note = errors.join(" ");
    return [tell(form, errors.join(" ")), ...hand.show(entry)];
  }
  return finish(form, entry, "z", hand);
}
