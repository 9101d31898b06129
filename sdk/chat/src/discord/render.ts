// A card as a message of Discord: Markdown in which each sign of an agent's text is escaped, and buttons below.

import { type APIActionRowComponent, type APIButtonComponentWithCustomId, ButtonStyle, ComponentType } from "discord-api-types/v10";

import type { Block, Button, Card, Inline, Limits } from "../core/card.js";

/** A message as the API takes it. */
export interface DiscordMessage {
  content: string;
  components: APIActionRowComponent<APIButtonComponentWithCustomId>[];
}

/** What Discord takes: characters of a text, rows of buttons, and buttons of a row. */
const TEXT = 2_000;
const ROWS = 5;
const ROW = 5;

export const limits: Limits = {
  buttons: ROWS * ROW,
  label: 40,
  formFields: 5,
  fits: card => textOf(card).length <= TEXT && card.rows.flat().length <= ROWS * ROW,
};

/** Whether it is an ID as Discord makes them. */
export const isId = (id: string): boolean => /^\d{15,22}$/.test(id);

/** Writes a card. */
export const render = (card: Card): DiscordMessage => ({ content: textOf(card), components: rowsOf(card.rows).map(rowOf) });

/** What Discord reads as markup somewhere in a line: a sign after a backslash is shown as it is. */
const SIGNS = /[\\`*_~|<>[\]():@#]/g;
/** What begins a list, a quotation or a small text. */
const LEADS = /^([ \t]*)([-+]|\d+(?=[.)]))/gm;

/** Returns Markdown that shows a text as it is: it mentions nobody, and is no link. */
export const escape = (text: string): string =>
  text.replace(SIGNS, "\\$&").replace(LEADS, (_, space: string, lead: string) => (/\d/.test(lead) ? `${space}${lead}\\` : `${space}\\${lead}`));

function textOf({ blocks, mentions = [] }: Card): string {
  const named = mentions.filter(isId).map(id => `<@${id}> `).join("");
  const written = blocks.map((block, place) => {
    const isNext = place > 0 && isList(block) && isList(blocks[place - 1]!);
    return (place ? (isNext ? "\n" : "\n\n") : "") + blockOf(block);
  });
  return (named + written.join("")).trim() || "…";
}

const isList = (block: Block): boolean => block.kind === "text" && block.marker !== undefined;

function blockOf(block: Block): string {
  if (block.kind === "code") return codeOf(block.text, block.language);
  const lead = "  ".repeat(block.depth ?? 0) + (block.marker ? `${escape(block.marker)} ` : "");
  const text = lead + block.inlines.map(inlineOf).join("");
  return block.quote ? text.replace(/^/gm, "> ") : text;
}

/** Nothing is escaped in code, so a text that could end it is written without it. */
function codeOf(text: string, language = ""): string {
  const isCode = text.trim() !== "" && !text.includes("``") && !text.endsWith("`") && !text.startsWith("\n") && !text.endsWith("\n");
  return isCode ? `\`\`\`${language}\n${text}\n\`\`\`` : escape(text);
}

function inlineOf({ text, bold, italic, strike, code }: Inline): string {
  if (code && text.trim() !== "" && !/[`\n]/.test(text)) return `\`${text}\``;
  // A style that begins or ends with a space is none.
  const [, before = "", words = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? [];
  if (words === "") return text;
  const marks = (bold ? "**" : "") + (italic ? "_" : "") + (strike ? "~~" : "");
  return before + marks + escape(words) + [...marks].reverse().join("") + after;
}

/** Returns as many rows as Discord takes, with the same buttons in the same order. */
function rowsOf(rows: Button[][]): Button[][] {
  if (rows.length <= ROWS && rows.every(row => row.length <= ROW)) return rows;
  const all = rows.flat();
  return Array.from({ length: Math.min(ROWS, Math.ceil(all.length / ROW)) }, (_, row) => all.slice(row * ROW, (row + 1) * ROW));
}

const rowOf = (row: Button[]): APIActionRowComponent<APIButtonComponentWithCustomId> => ({
  type: ComponentType.ActionRow,
  components: row.map(({ label, data, style }) => ({
    type: ComponentType.Button,
    custom_id: data,
    label,
    style: style === "good" ? ButtonStyle.Success : style === "bad" ? ButtonStyle.Danger : ButtonStyle.Secondary,
  })),
});
