// What the settings of a chat say: who may answer, what leaves the machine, and when.

import type { QuestionRecord } from "@askbridge/client";

/** What a message says of a question: that one waits; its headline too; or all of it. */
export type Disclosure = "none" | "title" | "all";

/** What messages say of the questions of a project, or of a kind. Of several rules that fit, the first counts. */
export interface DisclosureRule {
  /** The folder of the project, as an absolute path, with all that is below it. All projects without it. */
  folder?: string;
  /** The machine of that folder; this one without it. */
  machine?: string;
  /** `question`, `permission`, or the kind of the tool of a permission, such as `edit`. All kinds without it. */
  kinds?: string[];
  text: Disclosure;
}

/** A part of the day, in minutes since midnight. It may end on the next day. */
export interface Span {
  from: number;
  to: number;
}

/** The settings of one chat. */
export interface Policy {
  /** The name of the kind of chat, as the history shows it. */
  chat: string;
  /** The chats that questions are posted to, by their IDs. */
  chats: string[];
  /** The persons who may answer: their IDs, and the names that the history shows. */
  users: ReadonlyMap<string, string>;
  text: Disclosure;
  rules: DisclosureRule[];
  /** How long a question waits before it is posted: it may be answered elsewhere meanwhile. */
  delayMs: number;
  /** When nothing is posted. What still waits is posted afterwards. */
  quiet: Span[];
  /** How long a person who has begun to answer keeps the question from the others. */
  claimMs: number;
  /** Whom to tell of a question that nobody has begun to answer, after which time, and in which chat if in another one. */
  escalate?: { afterMs: number; to: string; chat?: string };
  /** The highest risk of a permission that one tap may allow. */
  oneTap: "plain" | "acts";
}

/** Returns the machine that a question was asked on; the empty text for this one. */
export const machineOf = ({ id }: { id: string }): string => id.slice(0, Math.max(0, id.indexOf("/")));

/** Returns what messages may say of a question. */
export function disclosureOf(policy: Policy, record: QuestionRecord): Disclosure {
  const { purpose = "question", project, subject } = record.question;
  const fits = ({ folder, machine, kinds }: DisclosureRule) => {
    const isThere = folder === undefined || (isWithin(project, folder) && machineOf(record) === (machine ?? ""));
    return isThere && (!kinds || kinds.includes(purpose) || (purpose === "permission" && !!subject?.kind && kinds.includes(subject.kind)));
  };
  return policy.rules.find(fits)?.text ?? policy.text;
}

function isWithin(project: string | undefined, folder: string): boolean {
  if (project === undefined) return false;
  // A path that climbs is in no folder.
  if (project.split("/").includes("..")) return false;
  const base = folder.replace(/\/+$/, "");
  return project === base || project.startsWith(`${base}/`);
}

const DAY = 24 * 60;

/** Returns in how many minutes the quiet hours end; 0 if it is not quiet. */
export function quietFor(quiet: Span[], minute: number): number {
  let end = 0;
  // Hours that follow each other are one.
  for (let round = 0; round <= quiet.length; round++) {
    const at = (minute + end) % DAY;
    const left = Math.max(0, ...quiet.map(({ from, to }) => {
      const length = (to - from + DAY) % DAY || DAY;
      const since = (at - from + DAY) % DAY;
      return since < length ? length - since : 0;
    }));
    if (left === 0) break;
    end = Math.min(end + left, DAY);
  }
  return end;
}
