// A card as a message of Slack: blocks of rich text, in which no text of an agent is read as markup, and buttons below.

import type { ActionsBlock, Button, KnownBlock, RichTextBlock, RichTextElement, RichTextText } from "@slack/types";

import { type Block, type Card, cut, type Inline, type Limits, plain } from "../core/card.js";

/** A message as `chat.postMessage` takes it. `text` is what a notification shows of it. */
export interface SlackMessage {
  text: string;
  blocks: KnownBlock[];
}

/** What Slack takes: blocks of a message, and buttons of one row. */
const BLOCKS = 50;
const ROW = 25;
/** Slack names no limit for all blocks together; it refuses some 13,200 characters, and counts what is around a text too. */
const ALL = 12_000;
/** The most characters of a notification. */
const NOTIFICATION = 150;

export const limits: Limits = {
  // Each option is a row, and each row a block; some are left for the text and the other buttons.
  buttons: 45,
  // Slack takes 75 units of a label: as many characters as these are never more.
  label: 37,
  // A form may have 100 blocks; nobody fills in so many.
  formFields: 20,
  fits: card => {
    const { blocks } = render(card);
    return blocks.length <= BLOCKS && JSON.stringify(blocks).length <= ALL;
  },
};

/** Writes a card. */
export function render(card: Card): SlackMessage {
  const rows = card.rows.map(row => row.map(buttonOf));
  const actions = rows.map((elements): ActionsBlock => ({ type: "actions", elements: elements.slice(0, ROW) }));
  return { text: escape(cut(plain(card.blocks), NOTIFICATION)) || "…", blocks: [richText(card), ...actions] };
}

/** Returns a text that `mrkdwn` shows as it is, and in which nobody is mentioned. */
export const escape = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Returns what a person wrote, without the marks that Slack puts into it. */
export function unescape(text: string): string {
  const bare = text.replace(/<([^<>|]*)(?:\|([^<>]*))?>/g, (_, target: string, label?: string) => {
    // A link that Slack made of a typed address has that address as its label.
    if (label !== undefined && !/^[#@!]/.test(target)) return target.endsWith(label) ? label : target;
    return label ?? target;
  });
  return bare.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
}

const buttonOf = ({ label, data, style }: Card["rows"][0][0]): Button => ({
  type: "button",
  action_id: data,
  value: data,
  text: { type: "plain_text", text: label, emoji: false },
  ...(style && { style: style === "good" ? "primary" : "danger" }),
});

/** Returns the text of a card. Paragraphs that follow each other are one section, so that lines break as they shall. */
function richText({ blocks, mentions = [] }: Card): RichTextBlock {
  const elements: RichTextBlock["elements"] = [];
  let section: RichTextElement[] | undefined;
  if (mentions.length) section = add(elements, mentions.flatMap(id => [{ type: "user", user_id: id }, { type: "text", text: " " }]));
  let before: Block | undefined;
  for (const block of blocks) {
    const written = block.kind === "code" ? [] : textOf(block);
    if (block.kind === "code") {
      if (block.text) elements.push({ type: "rich_text_preformatted", elements: [{ type: "text", text: block.text }] });
    } else if (block.quote) {
      if (written.length) elements.push({ type: "rich_text_quote", elements: written });
    } else if (section && before && written.length) {
      section.push({ type: "text", text: isList(before) && isList(block) ? "\n" : "\n\n" }, ...written);
    } else if (written.length) {
      section = section ? (section.push(...written), section) : add(elements, written);
    }
    if (block.kind === "code" || block.quote) section = undefined;
    before = block;
  }
  if (!elements.length) add(elements, [{ type: "text", text: "…" }]);
  return { type: "rich_text", elements };
}

function add(elements: RichTextBlock["elements"], written: RichTextElement[]): RichTextElement[] {
  elements.push({ type: "rich_text_section", elements: written });
  return written;
}

const isList = (block: Block): boolean => block.kind === "text" && block.marker !== undefined;

function textOf({ inlines, marker, depth = 0 }: Extract<Block, { kind: "text" }>): RichTextText[] {
  const lead = "  ".repeat(depth) + (marker ? `${marker} ` : "");
  return [...(lead ? [{ text: lead }] : []), ...inlines].filter(({ text }) => text !== "").map(elementOf);
}

function elementOf({ text, bold, italic, strike, code }: Inline): RichTextText {
  const style = { ...(bold && { bold }), ...(italic && { italic }), ...(strike && { strike }), ...(code && { code }) };
  return { type: "text", text, ...(Object.keys(style).length > 0 && { style }) };
}
