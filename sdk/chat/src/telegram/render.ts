// A card as a message of Telegram: plain text and entities, so that no text of an agent is read as markup.

import type { InlineKeyboardMarkup, MessageEntity } from "grammy/types";

import type { Block, Card, CardImage, Inline, Limits } from "../core/card.js";

/** A message as `sendMessage` takes it. */
export interface TelegramText {
  text: string;
  entities: MessageEntity[];
}

/** What the Bot API takes: UTF-16 units of a text, entities and buttons of a message. */
const TEXT = 4096;
const ENTITIES = 100;
const BUTTONS = 100;
/** What it takes of a photo: bytes, width and height together, and how many times the one may be the other. */
const PHOTO = 10_000_000;
const SIDES = 10_000;
const RATIO = 20;
/** Telegram makes larger photos smaller, and small letters would be lost. */
const LARGEST = 2_560;

export const limits: Limits = {
  buttons: BUTTONS,
  label: 40,
  formFields: 0,
  fits: card => render(card).text.length <= TEXT && card.rows.flat().length <= BUTTONS,
};

/** Writes the text of a card. */
export function render({ blocks, mentions = [] }: Card): TelegramText {
  const out: TelegramText = { text: "", entities: [] };
  blocks.forEach((block, place) => {
    if (place) out.text += isList(block) && isList(blocks[place - 1]!) ? "\n" : "\n\n";
    write(out, block);
  });
  for (const id of mentions) mention(out, id);
  // Telegram takes white space from both ends, and counts entities from there.
  const start = out.text.length - out.text.trimStart().length;
  out.text = out.text.trim() || "…";
  const within = ({ offset, length }: MessageEntity) => offset - start >= 0 && offset - start + length <= out.text.length;
  const moved = out.entities.filter(within).map(entity => ({ ...entity, offset: entity.offset - start }));
  return { text: out.text, entities: moved.slice(0, ENTITIES) };
}

const isList = (block: Block): boolean => block.kind === "text" && block.marker !== undefined;

function write(out: TelegramText, block: Block): void {
  const begin = out.text.length;
  if (block.kind === "code") {
    out.text += block.text;
    const { language, folded } = block;
    // A quotation cannot have code in it.
    if (folded) return mark(out, begin, { type: "expandable_blockquote" });
    mark(out, begin, { type: "pre", ...(language && { language }) });
    return;
  }
  out.text += "  ".repeat(block.depth ?? 0) + (block.marker ? `${block.marker} ` : "");
  for (const inline of block.inlines) writeInline(out, inline);
  if (block.quote) mark(out, begin, { type: "blockquote" });
}

function writeInline(out: TelegramText, { text, bold, italic, strike, code }: Inline): void {
  const begin = out.text.length;
  out.text += text;
  // Code has no other style beside it.
  if (code) return mark(out, begin, { type: "code" });
  if (bold) mark(out, begin, { type: "bold" });
  if (italic) mark(out, begin, { type: "italic" });
  if (strike) mark(out, begin, { type: "strikethrough" });
}

type Kind = { type: "pre"; language?: string } | { type: "blockquote" | "expandable_blockquote" | "code" | "bold" | "italic" | "strikethrough" };

function mark(out: TelegramText, offset: number, kind: Kind): void {
  const length = out.text.length - offset;
  if (length > 0) out.entities.push({ ...kind, offset, length } as MessageEntity);
}

/** A person is told of a message by being mentioned in it. The first word is the person's name. */
function mention(out: TelegramText, id: string): void {
  const length = /^[^:]*/.exec(out.text)![0].length;
  const user = { id: Number(id), is_bot: false, first_name: out.text.slice(0, length) };
  if (length > 0 && Number.isSafeInteger(user.id)) out.entities.push({ type: "text_mention", offset: 0, length, user });
}

/** Whether Telegram takes an image as a photo, and shows all of it. */
export function isPhoto({ type, width, height }: CardImage, bytes: number): boolean {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  return type !== "image/gif" && bytes <= PHOTO && short + long <= SIDES && long <= RATIO * short && long <= LARGEST;
}

/** Returns the buttons of a card. */
export const keyboard = ({ rows }: Card): InlineKeyboardMarkup => ({
  inline_keyboard: rows.map(row => row.map(({ label, data }) => ({ text: label, callback_data: data }))),
});
