// What a message says of a question: its project, its agent, and all that an answer would permit.

import type { QuestionBody, QuestionRecord, Subject } from "@askbridge/client";

import { type Block, bold, code, cut, printable, printableLine, text } from "./card.js";
import { choicesOf } from "./fields.js";
import { type Absent, absence, captionOf } from "./images.js";
import { markdown } from "./markdown.js";
import { machineOf } from "./policy.js";

/** The most characters of a name, of a headline, and of the label of an option that has no list in the text. */
const NAME = 60;
const HEADLINE = 200;
const SHORT_LABEL = 30;
/** From so many lines on, a change is folded: it would fill the screen of a phone. */
const FOLDED = 16;

/** What is said of a question, and whether that is all that an answer would permit. */
export interface Description {
  blocks: Block[];
  isWhole: boolean;
}

/** Says that a question waits, and where. It tells nothing else. */
export function waits(record: QuestionRecord): Block {
  const { purpose, project } = record.question;
  const what = purpose === "permission" ? "A permission" : "A question";
  const folder = project?.replace(/\/+$/, "").split("/").pop();
  const place = folder ? ` in ${cut(printableLine(folder), NAME)}` : "";
  const machine = machineOf(record);
  return text(bold(`${what} waits${place}${machine && ` on ${cut(printableLine(machine), NAME)}`}`));
}

/** Says where to decide what cannot be decided here. */
export const elsewhere = ({ id }: QuestionRecord): (string | ReturnType<typeof code>)[] => ["Decide at a computer: ", code(`askbridge open ${printableLine(id)}`)];

/** Returns the headline of a question: its title, or what it asks, on one line. */
export function headline({ title, message, fields }: QuestionBody): string {
  const words = title || message || fields[0]?.label || "";
  return cut(printableLine(words.trim().replace(/\s*\n\s*/g, " ")), HEADLINE);
}

/** Says everything of a question that its responder has to know. `absent` says which of its images the chat lacks. */
export function describe(record: QuestionRecord, absent: Absent): Description {
  const { question } = record;
  const blocks: Block[] = [];
  let isWhole = !question.fields.some(field => field.kind === "unknown");
  if (question.agent) blocks.push(text(`From ${cut(printableLine(question.agent), NAME)}`));
  if (question.title && question.title !== question.message) blocks.push(text(bold(printableLine(question.title))));
  const asked = question.message || (question.fields.length === 1 ? "" : (question.title ?? ""));
  const isSaid = asked === question.title || asked === question.subject?.command;
  if (asked && !isSaid) blocks.push(...(question.purpose === "permission" ? [text(printable(asked))] : markdown(asked)));
  if (question.subject) {
    const about = describeSubject(question.subject, asked);
    blocks.push(...about.blocks);
    isWhole &&= about.isWhole;
  }
  for (const { url, host } of question.links ?? []) blocks.push(text(`Page to open (${printableLine(host)}): `, code(printableLine(url))));
  for (const line of question.unshown ?? []) blocks.push(text({ text: `${printableLine(line)}.`, italic: true }));
  blocks.push(...(question.images ?? []).map((image, place) => text(captionOf(image, place + 1))), ...absence(absent));
  isWhole &&= !question.unshown?.length && !absent.coming && !absent.missing;
  if (question.purpose === "permission" ? question.risk !== "plain" : question.dangerous) blocks.push(risk(question));
  return { blocks, isWhole: isWhole && !blocks.some(isCut) };
}

function risk({ risk, dangerous, riskReason }: QuestionBody): Block {
  const harms = risk === undefined ? dangerous : risk !== "plain" && risk !== "acts";
  const words = harms || risk === undefined ? "⚠️ This can do harm" : "It acts";
  return text(bold(words), riskReason ? `: ${printable(riskReason)}` : ".");
}

/** What askbridge has cut ends so. */
const isCut = (block: Block): boolean => {
  const words = block.kind === "code" ? block.text : block.inlines.map(inline => inline.text).join("");
  return /… \d+ more bytes are not shown/.test(words);
};

function describeSubject(subject: Subject, asked: string): Description {
  const { title, command, description, plan, content, patch, unclear, rawInput } = subject;
  const line = (name: string, value: string | undefined): Block[] => (value ? [text(`${name}: `, code(printable(value)))] : []);
  const block = (value: string | undefined, language?: string): Block[] => (value ? [{ kind: "code", text: printable(value), ...(language && { language }) }] : []);
  const lines = (name: string, values: string[] = []): Block[] => values.map(value => text(`${name}: `, code(printable(value))));
  const blocks = [
    ...(title && title !== asked ? [text(printable(title))] : []),
    ...block(command, "sh"),
    ...line("In", subject.folder),
    ...line("On", subject.environment),
    ...(description ? [text(printable(description))] : []),
    ...(plan ? markdown(plan) : []),
    ...line("Plan", subject.planFile),
    ...lines("File", subject.diffs?.length ? [] : subject.locations),
    ...changes(subject),
    ...(patch ? [change(patch)] : []),
    ...(content && content !== description ? [text(printable(content))] : []),
    ...(subject.inputSaysMore || (!command && !plan && !subject.diffs?.length && !patch) ? block(rawInput, "json") : []),
    ...lines("It also allows", subject.grants),
    ...lines("The request also says", subject.further),
    ...(unclear ? [text(bold("Not understood: "), printable(unclear))] : []),
  ];
  return { blocks, isWhole: !subject.planFile || !!plan };
}

/** Returns a change as a block. A long one is folded. */
function change(words: string): Block {
  const shown = printable(words);
  return { kind: "code", text: shown, language: "diff", ...(shown.split("\n").length >= FOLDED && { folded: true }) };
}

/** Returns the changes of files, as in a patch. */
function changes({ diffs = [] }: Subject): Block[] {
  return diffs.flatMap(diff => {
    const note = diff.old === undefined ? "New file" : diff.replaces ? "Replaces the whole of" : "Change of";
    return [
      text(`${note} `, code(printable(diff.path)), ` from line ${diff.line}`),
      change(diffText(diff.old, diff.new)),
    ];
  });
}

/** Returns two texts as lines with `-`, `+` and a space, with what they share at both ends in between. */
export function diffText(before: string | undefined, after: string): string {
  const lines = (words: string) => (words === "" ? [] : words.replace(/\n$/, "").split("\n"));
  const [old, fresh] = [lines(before ?? ""), lines(after)];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  return [
    ...old.slice(0, head).map(line => ` ${line}`),
    ...old.slice(head, old.length - tail).map(line => `-${line}`),
    ...fresh.slice(head, fresh.length - tail).map(line => `+${line}`),
    ...old.slice(old.length - tail).map(line => ` ${line}`),
  ].join("\n");
}

/** Returns the changes of a question as one file, if it has any. */
export function changeFile({ id, question }: QuestionRecord): { name: string; text: string } | undefined {
  const { diffs = [], patch } = question.subject ?? {};
  if (!diffs.length && !patch) return undefined;
  const parts = diffs.map(diff => `--- ${diff.path}\n+++ ${diff.path}\n@@ line ${diff.line} @@\n${diffText(diff.old, diff.new)}\n`);
  return { name: `${id.replace(/[^\w-]/g, "-")}.diff`, text: printable([...parts, patch ?? ""].join("\n").trim()) + "\n" };
}

/** Whether the options of a field stand in the text, with numbers, because a button cannot say all of them. */
export function isListed(choices: ReturnType<typeof choicesOf>): boolean {
  const labels = choices.map(({ label }) => printableLine(label));
  return (
    choices.some(({ option }) => option?.description || option?.preview || option?.grants?.length) ||
    labels.some(label => [...label].length > SHORT_LABEL) ||
    new Set(labels).size < labels.length
  );
}

/** Returns the list of options, with all that is known of each. */
export function listed(choices: ReturnType<typeof choicesOf>): Block[] {
  return choices.flatMap(({ label, option }, place) => {
    const about = option?.description ? [`: ${printable(option.description)}`] : [];
    const blocks: Block[] = [{ ...text(bold(printableLine(label)), ...about), marker: `${place + 1}.` } as Block];
    for (const grant of option?.grants ?? []) blocks.push(text("It also allows: ", code(printable(grant))));
    if (option?.preview) blocks.push({ kind: "code", text: printable(option.preview.text) });
    return blocks;
  });
}
