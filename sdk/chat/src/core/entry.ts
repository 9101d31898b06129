// What the board knows of one question, and the names of its messages and buttons.

import type { QuestionRecord, Value } from "@askbridge/client";
import { createHash } from "node:crypto";

/** A message that is in the chat, and the digest of the card that it shows. */
export interface Slot {
  ref: string;
  digest: string;
}

/** What is kept of a question over restarts. It has no text of the question. */
export interface Kept {
  id: string;
  edition: number;
  /** When it is posted at the earliest; once it is due, when that was. */
  dueAt: number;
  /** Whether it was due: it is posted then, also in quiet hours that begin meanwhile. */
  isDue: boolean;
  /** Who answers it, and until when nobody else may. */
  claim?: { user: string; until: number };
  /** The values so far, and the field that is answered next. Secret ones are never among them. */
  draft: Record<string, Value>;
  at: number;
  /** The answer that waits for a second tap. */
  second?: { act: string; chat: string };
  /** When somebody else was told that it waits. */
  escalatedAt?: number;
  /** How it ended, once it did. */
  over?: string;
  /** Whether each of its messages says so. */
  isDone?: true;
  /** How many of its messages are gone: the next one is another message. */
  losses?: number;
  slots: Record<string, Slot>;
}

/** A question, while the bot runs. */
export interface Entry extends Kept {
  key: string;
  /** The question; unknown after a start, until the inbox tells it. */
  record?: QuestionRecord;
  /** What went wrong with the last answer. */
  note?: string;
  /** How many of its messages are being posted. */
  posting?: number;
  /** Who is answering right now. */
  sending?: string;
  /** Whether the inbox does not know the question any more. */
  isForgotten?: true;
  /** Whether the chat refused a message about it as too long. */
  isRefused?: true;
  /** The images that a chat did not take, by their slots. A bot that starts again tries again. */
  unsent?: Set<string>;
}

/** Returns the short name that buttons have for a question: 72 bits, so that no two of a user's questions share one. */
export const keyOf = (id: string): string => createHash("sha256").update(id).digest("base64url").slice(0, 12);

/** The messages of a question: the question itself, the second step, that somebody is told, and each image. */
export type SlotKind = "question" | "second" | "escalation" | "image";
const MARKS: Record<SlotKind, string> = { question: "@", second: "!", escalation: "^", image: "%" };
/** How many characters of its digest an image has in its slot. */
const DIGEST = 12;

/** Returns the name of a message in a chat; that of an image has the digest of its card. */
export const slotOf = (key: string, kind: SlotKind, chat: string, digest = ""): string => key + MARKS[kind] + digest.slice(0, DIGEST) + chat;

/** Whether it is the name of a message, and not an ID that a chat has for one. */
export const isSlot = (name: string): boolean => Object.values(MARKS).includes(name[12] ?? "");

/** Takes the name of a message apart. */
export function readSlot(slot: string): { key: string; kind: SlotKind; chat: string } {
  const kind = (Object.keys(MARKS) as SlotKind[]).find(one => MARKS[one] === slot[12]) ?? "question";
  return { key: slot.slice(0, 12), kind, chat: slot.slice(kind === "image" ? 13 + DIGEST : 13) };
}

/** Returns the data of a button: the question, the edition that the person sees, and what the button does. */
export const dataOf = ({ key, edition }: Entry, act: string): string => `${key}.${edition}.${act}`;

/** Takes the data of a button apart. */
export function readData(data: string): { key: string; edition: number; act: string } | undefined {
  const [, key, edition, act] = /^([\w-]{12})\.(\d{1,10})\.(.{1,40})$/.exec(data) ?? [];
  return key ? { key, edition: Number(edition), act: act! } : undefined;
}
