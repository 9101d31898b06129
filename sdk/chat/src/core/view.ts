// What each message of a question shows. The same entry always gives the same card.

import type { Field, QuestionBody, QuestionRecord } from "@askbridge/client";

import { type Block, bold, type Button, type Card, cut, cutToFit, type Limits, printableLine, text } from "./card.js";
import { changeFile, describe, elsewhere, headline, isListed, listed, waits } from "./describe.js";
import { dataOf, type Entry } from "./entry.js";
import { choicesOf, formFieldOf, hintFor, type Choice } from "./fields.js";
import { type Absent, absentIn, NONE_ABSENT } from "./images.js";
import { markdown } from "./markdown.js";
import { type Disclosure, disclosureOf, type Policy } from "./policy.js";
import { shownValue } from "./words.js";

/** The most buttons of a message besides those of the options: Send, a form, Skip, Reject, and who answers. */
const OTHER_BUTTONS = 5;

/** What the views need besides the entry. `chat` is the one that the message is in. */
export interface Scene {
  chat: string;
  policy: Policy;
  limits: Limits;
}

/** Returns the message of a question. */
export function questionCard(entry: Entry, scene: Scene): Card {
  const { record } = entry;
  if (!record) return { blocks: [text(entry.over ?? "It is not known here what became of this.")], rows: [] };
  const disclosure = entry.isRefused ? "none" : disclosureOf(scene.policy, record);
  if (entry.over !== undefined) return overCard(record, entry.over, disclosure, scene);
  if (disclosure !== "all") return curtCard(entry, record, disclosure, scene);
  const { card: bare, isWhole } = fullCard(entry, record, scene);
  const card = { ...bare, blocks: [...bare.blocks, ...status(entry, scene)] };
  if (isWhole && scene.limits.fits(card)) return card;
  return rejectableCard(entry, record, scene);
}

/** Returns a message that discloses no question, or its headline alone. */
function curtCard(entry: Entry, record: QuestionRecord, disclosure: Disclosure, scene: Scene): Card {
  const blocks = [waits(record)];
  if (disclosure === "title") blocks.push(text(headline(record.question)));
  blocks.push(text(...elsewhere(record)), ...status(entry, scene));
  return { blocks, rows: [claimRow(entry, scene)].filter(row => row.length) };
}

/** Returns a message that has less than the whole question: it can be rejected, and nothing else. */
function rejectableCard(entry: Entry, record: QuestionRecord, scene: Scene): Card {
  const waitsForImages = isComing(entry, record, scene);
  const why = waitsForImages
    ? text({ text: "It can be answered here then.", italic: true })
    : text(bold("This is too long to be answered here, or not all of it can be shown. "), ...elsewhere(record));
  const end = [why, ...status(entry, scene)];
  const row = [rejectButton(entry)];
  const { blocks } = fullCard(entry, record, scene).card;
  const rows = [row, claimRow(entry, scene)].filter(one => one.length);
  const withEnd = (body: Block[]): Card => ({ blocks: [...body, ...end], rows });
  const limits: Limits = { ...scene.limits, fits: card => scene.limits.fits(withEnd(card.blocks)) };
  const body = limits.fits({ blocks, rows }) ? blocks : cutToFit({ blocks, rows }, limits).blocks;
  const file = waitsForImages ? undefined : changeFile(record);
  return { ...withEnd(body), ...(file && { file }) };
}

/** Whether a question lacks nothing but images that are on their way. */
function isComing(entry: Entry, record: QuestionRecord, scene: Scene): boolean {
  const { coming, missing } = absentIn(entry, scene.chat);
  if (!coming || missing) return false;
  const { card, isWhole } = fullCard(entry, record, scene, NONE_ABSENT);
  return isWhole && scene.limits.fits(card);
}

/** Returns the message of a question that is over. */
function overCard(record: QuestionRecord, over: string, disclosure: Disclosure, { limits }: Scene): Card {
  const end = text(bold(over));
  const body = [waits(record)];
  if (disclosure === "title") body.push(text(headline(record.question)));
  if (disclosure === "all") body.push(...describe(record, NONE_ABSENT).blocks, ...labels(record));
  const card = { blocks: [...body, end], rows: [] };
  if (limits.fits(card)) return card;
  const withEnd: Limits = { ...limits, fits: one => limits.fits({ ...one, blocks: [...one.blocks, end] }) };
  return { blocks: [...cutToFit({ blocks: body, rows: [] }, withEnd).blocks, end], rows: [] };
}

/** Returns the questions that the fields ask. */
function labels({ question }: QuestionRecord): Block[] {
  return question.fields.filter(field => field.label !== question.message).flatMap(field => markdown(field.label));
}

/** Returns the whole question with its buttons, but for its status, and whether all that an answer would permit is in it. */
function fullCard(entry: Entry, record: QuestionRecord, scene: Scene, absent: Absent = absentIn(entry, scene.chat)): { card: Card; isWhole: boolean } {
  const { fields } = record.question;
  const about = describe(record, absent);
  const blocks = [waits(record), ...about.blocks];
  const field = fields[entry.at];
  if (fields.some(one => one.secret)) {
    blocks.push(...labels(record), text("A secret is not for a chat. ", ...elsewhere(record)));
    return { card: { blocks, rows: [[rejectButton(entry)]] }, isWhole: true };
  }
  if (fields.length > 1) blocks.push(...progress(entry, record));
  if (field) blocks.push(...fieldBlocks(field, record.question, scene));
  const takesText = !!field && record.question.purpose !== "permission";
  const rows = [...(field ? fieldRows(entry, field, scene) : reviewRows(entry)), endRow(entry, record, scene), claimRow(entry, scene)];
  return { card: { blocks, rows: rows.filter(row => row.length), takesText }, isWhole: about.isWhole };
}

/** Says what was answered so far, and which field comes next. */
function progress({ draft, at }: Entry, record: QuestionRecord): Block[] {
  const { fields } = record.question;
  const done = fields.flatMap(field => {
    const value = draft[field.name];
    if (value === undefined || field === fields[at]) return [];
    return [text(bold(`${cut(printableLine(field.label), 60)}: `), cut(shownValue(record, field.name, value), 200))];
  });
  return [...done, text({ text: at < fields.length ? `${at + 1} of ${fields.length}` : "Send it?", italic: true })];
}

/** Whether there are enough buttons for the options. With fewer, a number in reply chooses. */
const hasButtons = (choices: Choice[], { limits }: Scene): boolean => choices.length + OTHER_BUTTONS <= limits.buttons;

function fieldBlocks(field: Field, { message, fields }: QuestionBody, scene: Scene): Block[] {
  const isOneOfSeveral = fields.length > 1;
  const blocks: Block[] = [];
  if (field.label && field.label !== message) blocks.push(...markdown(field.label));
  if (isOneOfSeveral && !field.required) blocks.push(text({ text: "It may be left out.", italic: true }));
  if (field.help) blocks.push(text(printableLine(field.help)));
  const choices = choicesOf(field);
  if (isListed(choices) || !hasButtons(choices, scene)) blocks.push(...listed(choices));
  const hint = hintFor(field, hasButtons(choices, scene));
  if (hint) blocks.push(text({ text: hint, italic: true }));
  return blocks;
}

function fieldRows(entry: Entry, field: Field, scene: Scene): Button[][] {
  const choices = choicesOf(field);
  const rows: Button[][] = [];
  if (hasButtons(choices, scene)) {
    const isPermission = entry.record!.question.purpose === "permission";
    choices.forEach((choice, place) => {
      const act = `o${entry.at}.${place}`;
      if (isPermission && !refuses(choice) && !canChoose(entry, act, scene)) return;
      rows.push([choiceButton(entry, field, choices, place, act, scene)]);
    });
  }
  if (field.kind === "choices" && hasButtons(choices, scene)) rows.push([{ data: dataOf(entry, `d${entry.at}`), label: entry.record!.question.fields.length > 1 ? "Done" : "Send", style: "good" }]);
  const form = formRow(entry, field, scene);
  if (form) rows.push([form]);
  return rows;
}

function choiceButton(entry: Entry, field: Field, choices: Choice[], place: number, act: string, { limits }: Scene): Button {
  const { label, value, option } = choices[place]!;
  const number = isListed(choices) ? `${place + 1}. ` : "";
  const chosen = entry.draft[field.name];
  const mark = field.kind !== "choices" ? "" : Array.isArray(chosen) && chosen.includes(value as string) ? "☑ " : "☐ ";
  const role = option?.role ?? "";
  const style = role.startsWith("reject") ? "bad" : role === "allow_once" ? "good" : undefined;
  return { data: dataOf(entry, act), label: cut(mark + number + printableLine(label), limits.label), ...(style && { style }) };
}

/** Returns the button that opens the form of a chat that has forms: for all fields, or for one that takes a text. */
function formRow(entry: Entry, field: Field, { limits }: Scene): Button | undefined {
  const { fields, purpose } = entry.record!.question;
  if (!limits.formFields || purpose === "permission") return undefined;
  if (fields.length > 1 && fields.length <= limits.formFields && fields.every(one => formFieldOf(one, undefined))) {
    return { data: dataOf(entry, "w"), label: "Fill in …" };
  }
  const takesText = !choicesOf(field).length || ("other" in field && field.other);
  return takesText && formFieldOf(field, undefined) ? { data: dataOf(entry, `w${entry.at}`), label: "Write …" } : undefined;
}

const reviewRows = (entry: Entry): Button[][] => [
  [{ data: dataOf(entry, "z"), label: "Send", style: "good" }, { data: dataOf(entry, "a"), label: "Start again" }],
];

const rejectButton = (entry: Entry): Button => ({ data: dataOf(entry, "x"), label: "Reject", style: "bad" });

/** Skip, where the field may be left out; Reject, where no option rejects. */
function endRow(entry: Entry, { question }: QuestionRecord, scene: Scene): Button[] {
  const field = question.fields[entry.at];
  const row: Button[] = [];
  if (field && !field.required && question.fields.length > 1) row.push({ data: dataOf(entry, `k${entry.at}`), label: "Skip" });
  const choices = field ? choicesOf(field) : [];
  const hasReject = question.purpose === "permission" && choices.some(refuses) && hasButtons(choices, scene);
  if (!hasReject) row.push(rejectButton(entry));
  return row;
}

function claimRow(entry: Entry, { policy }: Scene): Button[] {
  if (policy.users.size < 2) return [];
  return [entry.claim ? { data: dataOf(entry, "r"), label: "Leave it to others" } : { data: dataOf(entry, "c"), label: "I answer this" }];
}

/** Says who answers, and what went wrong. */
function status({ claim, note, record }: Entry, { policy }: Scene): Block[] {
  const name = claim && (policy.users.get(claim.user) ?? claim.user);
  return [
    ...(record?.turnOver ? [text({ text: "The turn that asked this is over: the agent may not read the answer.", italic: true })] : []),
    ...(name && policy.users.size > 1 ? [text({ text: `${printableLine(name)} is answering.`, italic: true })] : []),
    ...(note ? [text({ text: printableLine(note), bold: true })] : []),
  ];
}

/** Whether choosing it refuses, which does no harm. */
export const refuses = ({ option }: Choice): boolean => option?.role === "reject_once" || option?.role === "reject_always";

/** Whether an answer takes a second message, which repeats the whole text (I12). */
export function takesSecond({ record }: Entry, choice: Choice | undefined, { policy }: Scene): boolean {
  const { purpose, risk, dangerous, confirm } = record!.question;
  if (purpose !== "permission") return dangerous || (risk !== undefined && risk !== "plain") || !!choice?.option?.dangerous;
  if (choice && refuses(choice)) return false;
  const isOnce = choice?.option?.role === "allow_once" && !choice.option.dangerous && !choice.option.grants?.length;
  const isLow = risk === "plain" || (risk === "acts" && policy.oneTap === "acts");
  return !isOnce || !isLow || !!confirm;
}

/** Whether an option of a permission can be chosen here: where it takes a second message, the whole has to fit into it. */
function canChoose(entry: Entry, act: string, scene: Scene): boolean {
  const choice = choiceOf(entry, act);
  return !takesSecond(entry, choice, scene) || secondFits(entry, act, scene);
}

/** Returns the choice that an act names. */
export function choiceOf({ record }: Entry, act: string): Choice | undefined {
  const [, at, place] = /^o(\d+)\.(\d+)$/.exec(act) ?? [];
  const field = at === undefined ? undefined : record?.question.fields[Number(at)];
  return field && choicesOf(field)[Number(place)];
}

/** Whether the second message has room for the whole text. */
export const secondFits = (entry: Entry, act: string, scene: Scene): boolean =>
  describe(entry.record!, absentIn(entry, scene.chat)).isWhole && scene.limits.fits(secondCardOf(entry, act, scene));

/** Returns the message of the second step; one without buttons once the step is over. */
export function secondCard(entry: Entry, scene: Scene): Card {
  const { second, over, record } = entry;
  if (over === undefined && second?.chat === scene.chat && record) return secondCardOf(entry, second.act, scene);
  return { blocks: [text({ text: over === undefined ? "Nothing was decided by this." : "It is over: see above.", italic: true })], rows: [] };
}

function secondCardOf(entry: Entry, act: string, { chat, limits }: Scene): Card {
  const record = entry.record!;
  const choice = choiceOf(entry, act);
  const label = choice ? printableLine(choice.label) : "Send";
  const isPermission = record.question.purpose === "permission";
  const grants = choice?.option?.grants ?? [];
  const { fields, message } = record.question;
  const answers = fields.flatMap(field => {
    const value = choice && fields[0] === field ? choice.value : entry.draft[field.name];
    if (isPermission || value === undefined) return [];
    const name = field.label && field.label !== message ? printableLine(field.label) : "Answer";
    return [text(bold(`${name}: `), shownValue(record, field.name, value))];
  });
  const blocks = [
    text(bold(isPermission ? `${label}? Read all of it first.` : "Send this? Read all of it first.")),
    ...describe(record, absentIn(entry, chat)).blocks.map(unfolded),
    ...answers,
    ...(choice?.option?.description ? [text(`${label}: ${printableLine(choice.option.description)}`)] : []),
    ...grants.map(grant => text(`It also allows: ${printableLine(grant)}`)),
  ];
  const yes: Button = { data: dataOf(entry, `!${act}`), label: cut(`Yes: ${label}`, limits.label), style: "bad" };
  return { blocks, rows: [[yes], [{ data: dataOf(entry, "b"), label: "Back" }]] };
}

/** All of it is read before the second tap. */
function unfolded(block: Block): Block {
  if (block.kind === "text") return block;
  const { folded: _, ...open } = block;
  return open;
}

/** Returns the message that tells somebody else of a question. */
export function escalationCard(entry: Entry, { policy }: Scene): Card {
  const { escalate } = policy;
  if (entry.over !== undefined || !escalate) return { blocks: [text({ text: "It is over: see above.", italic: true })], rows: [] };
  const name = printableLine(policy.users.get(escalate.to) ?? escalate.to);
  return { blocks: [text(`${name}: this still waits, and nobody answers it.`)], rows: [], mentions: [escalate.to] };
}
