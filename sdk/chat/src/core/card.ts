// What a message of the bot is, before an adapter writes it as its chat does: blocks of text, and rows of buttons.

import { createHash } from "node:crypto";

/** A piece of text in one style. Its text is shown as it is: an adapter escapes it. */
export interface Inline {
  text: string;
  bold?: true;
  italic?: true;
  strike?: true;
  code?: true;
}

/**
 * Text of a paragraph, of an entry of a list, or of a quotation; or code, which keeps its lines and spaces, and is folded where
 * a chat can: the person opens it.
 */
export type Block =
  | { kind: "text"; inlines: Inline[]; marker?: string; depth?: number; quote?: true }
  | { kind: "code"; text: string; language?: string; folded?: true };

/** A button. `data` comes back with the tap; it has at most 64 bytes. */
export interface Button {
  data: string;
  label: string;
  /** What it does: allows or sends, or rejects or may do harm. */
  style?: "good" | "bad";
}

/** An image of a question, whose data the inbox has. */
export interface CardImage {
  /** The question, and the number of the image in it. */
  id: string;
  number: number;
  /** The SHA-256 of the data. */
  digest: string;
  /** The name of the file, and its MIME type. */
  name: string;
  type: string;
  width: number;
  height: number;
}

/** A message of the bot. */
export interface Card {
  blocks: Block[];
  rows: Button[][];
  /** Whether a text in reply to it answers the question. */
  takesText?: boolean;
  /** A change that is too long for the message, as a file beside it. */
  file?: { name: string; text: string };
  /** The image that this message is. Its blocks are what is said of it. */
  image?: CardImage;
  /** Persons who shall be told of this message, by their IDs. */
  mentions?: string[];
}

/** What a chat can show. */
export interface Limits {
  /** The most buttons of a message, and the most characters of a label. */
  buttons: number;
  label: number;
  /** Whether the whole card fits into one message. */
  fits(card: Card): boolean;
  /** The most fields of a form that opens by a button; 0 where the chat has no forms. */
  formFields: number;
}

/** A form that a chat shows by itself. Each value comes back as text, several choices as a list. */
export interface Form {
  data: string;
  title: string;
  fields: FormField[];
}

/** One field of such a form. Its name, and those of its options, are short, and mean nothing to a person. */
export interface FormField {
  name: string;
  label: string;
  help?: string;
  kind: "text" | "choice" | "choices";
  options: { value: string; label: string }[];
  required: boolean;
  multiline: boolean;
  value?: string | string[];
}

export const text = (...parts: (string | Inline)[]): Block => ({
  kind: "text",
  inlines: parts.map(part => (typeof part === "string" ? { text: part } : part)).filter(part => part.text !== ""),
});
export const bold = (words: string): Inline => ({ text: words, bold: true });
export const code = (words: string): Inline => ({ text: words, code: true });

/**
 * Controls, what changes the direction of text, and what takes no room: each could make a text look like another one.
 * A line break and a tab stay, and what emoji are joined with.
 */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Returns a text in which nothing is out of sight: what cannot be seen is written as in `\u{202e}`. */
export function printable(words: string): string {
  const lines = words.replace(/\r\n?/g, "\n").toWellFormed();
  return lines.replace(UNSEEN, char => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** Returns a printable text on one line. */
export const printableLine = (words: string): string => printable(words).replace(/\n/g, "␊").replace(/\t/g, "␉");

/** Returns the beginning of a text, with a mark where it was cut. */
export function cut(words: string, most: number): string {
  const characters = [...words];
  return characters.length <= most ? words : `${characters.slice(0, most - 1).join("").trimEnd()}…`;
}

/** Returns a short text that is another one for any other card. */
export const digestOf = (card: Card): string => createHash("sha256").update(JSON.stringify(card)).digest("base64url").slice(0, 16);

/** Returns the plain text of blocks, for logs, tests and notifications. */
export function plain(blocks: Block[]): string {
  return blocks
    .map(block => {
      if (block.kind === "code") return block.text;
      const indent = "  ".repeat(block.depth ?? 0) + (block.quote ? "> " : "") + (block.marker ? `${block.marker} ` : "");
      return indent + block.inlines.map(inline => inline.text).join("");
    })
    .join("\n");
}

/** What is too long ends with this. */
const CUT = "… The rest does not fit here.";

/** Returns as much of a card as fits. What does not fit is cut at its end, where it says so. */
export function cutToFit(card: Card, limits: Limits): Card {
  const sizes = card.blocks.map(block => sizeOf(block));
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  let [least, most] = [0, whole];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (limits.fits(shortened(card, sizes, middle))) least = middle;
    else most = middle - 1;
  }
  return shortened(card, sizes, least);
}

const sizeOf = (block: Block): number =>
  block.kind === "code" ? block.text.length + 1 : block.inlines.reduce((sum, { text }) => sum + text.length, 1);

/** Returns the card with this many characters of its blocks. */
function shortened(card: Card, sizes: number[], most: number): Card {
  const blocks: Block[] = [];
  let room = most;
  for (const [place, block] of card.blocks.entries()) {
    const size = sizes[place]!;
    if (size > room) {
      const part = beginning(block, room);
      if (part) blocks.push(part);
      break;
    }
    blocks.push(block);
    room -= size;
  }
  return { ...card, blocks: [...blocks, text({ text: CUT, italic: true })] };
}

function beginning(block: Block, most: number): Block | undefined {
  if (most < 2) return undefined;
  // A pair of surrogates is not cut apart.
  const head = (words: string, length: number) => words.slice(0, length).replace(/[\ud800-\udbff]$/, "");
  if (block.kind === "code") return { ...block, text: head(block.text, most - 1) };
  const inlines: Inline[] = [];
  let room = most - 1;
  for (const inline of block.inlines) {
    inlines.push({ ...inline, text: head(inline.text, room) });
    room -= inline.text.length;
    if (room <= 0) break;
  }
  return { ...block, inlines };
}
