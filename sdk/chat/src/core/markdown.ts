// Markdown of agents as blocks. No letter of it is out of sight: the target of a link stands beside its text, and what is
// not known is shown as it was written. Nothing of it is loaded.

import { lexer, type Token, type Tokens } from "marked";

import { type Block, type Inline, printable } from "./card.js";

type Style = Omit<Inline, "text">;
/** Where a block stands: within a list or a quotation. */
type Place = { depth?: number; quote?: true };

/** How deep lists, quotations and styles are followed. Beyond, the text is shown as it was written. */
const DEEPEST = 12;

/** Returns the blocks of a text in Markdown. */
export function markdown(source: string): Block[] {
  return lexer(printable(source)).flatMap(token => blocksOf(token, {}, 0));
}

/** Returns the blocks of a text without Markdown: one for each paragraph. */
export function plainText(source: string): Block[] {
  return printable(source).split(/\n{2,}/).filter(part => part.trim()).map(part => ({ kind: "text", inlines: [{ text: part.trim() }] }));
}

function blocksOf(token: Token, place: Place, level: number): Block[] {
  const asWritten = () => paragraph([{ text: token.raw.trimEnd() }], place);
  if (level > DEEPEST) return asWritten();
  switch (token.type) {
    case "space":
    case "checkbox":
      return [];
    case "heading":
      return paragraph(inlinesOf(token.tokens ?? [], { bold: true }, level), place);
    case "paragraph":
    case "text":
      return paragraph(token.tokens ? inlinesOf(token.tokens, {}, level) : [{ text: (token as Tokens.Text).text }], place);
    case "code": {
      const { text, lang } = token as Tokens.Code;
      const language = /^[\w+#-]+/.exec(lang ?? "")?.[0];
      return [{ kind: "code", text: text.replace(/\n$/, ""), ...(language && { language }) }];
    }
    case "blockquote":
      return (token.tokens ?? []).flatMap(inner => blocksOf(inner, { ...place, quote: true }, level + 1));
    case "list":
      return listOf(token as Tokens.List, place, level);
    case "table":
      return tableOf(token as Tokens.Table);
    case "hr":
      return paragraph([{ text: "———" }], place);
    default:
      return asWritten();
  }
}

const paragraph = (inlines: Inline[], place: Place): Block[] => (inlines.length ? [{ kind: "text", inlines, ...place }] : []);

function listOf(list: Tokens.List, place: Place, level: number): Block[] {
  const depth = (place.depth ?? -1) + 1;
  return list.items.flatMap((item, number) => {
    const bullet = list.ordered ? `${Number(list.start || 1) + number}.` : "•";
    const marker = item.task ? `${bullet} ${item.checked ? "☑" : "☐"}` : bullet;
    const [first, ...rest] = item.tokens.flatMap(inner => blocksOf(inner, { ...place, depth }, level + 1));
    if (first?.kind !== "text" || first.marker) return [{ kind: "text", inlines: [], ...place, depth, marker }, ...(first ? [first] : []), ...rest];
    return [{ ...first, marker }, ...rest];
  });
}

/** A table is shown in columns of code, since no chat has tables. */
function tableOf({ header, rows }: Tokens.Table): Block[] {
  const lines = [header, ...rows].map(row => row.map(cell => cell.text));
  const widths = header.map((_, column) => Math.max(...lines.map(line => [...(line[column] ?? "")].length)));
  const shown = lines.map(line => line.map((cell, column) => cell + " ".repeat(widths[column]! - [...cell].length)).join(" │ ").trimEnd());
  return [{ kind: "code", text: shown.join("\n") }];
}

function inlinesOf(tokens: Token[], style: Style, level: number): Inline[] {
  return tokens.flatMap((token): Inline[] => {
    const inside = "tokens" in token ? token.tokens : undefined;
    const inner = (more: Style) => inlinesOf(inside ?? [], { ...style, ...more }, level + 1);
    if (level > DEEPEST) return [{ text: token.raw, ...style }];
    switch (token.type) {
      case "strong":
        return inner({ bold: true });
      case "em":
        return inner({ italic: true });
      case "del":
        return inner({ strike: true });
      case "codespan":
        return [{ text: (token as Tokens.Codespan).text, ...style, code: true }];
      case "br":
        return [{ text: "\n", ...style }];
      case "escape":
        return [{ text: (token as Tokens.Escape).text, ...style }];
      case "text":
        return inside ? inner({}) : [{ text: (token as Tokens.Text).text, ...style }];
      case "link":
        return linkOf(token as Tokens.Link, inner({}), style);
      case "image":
        return [{ text: `${(token as Tokens.Image).text || "image"} (${(token as Tokens.Image).href})`, ...style }];
      default:
        return [{ text: token.raw, ...style }];
    }
  });
}

/** A link is its text and where it leads, so that it cannot lead elsewhere than it says. */
function linkOf({ href, text, title }: Tokens.Link, inlines: Inline[], style: Style): Inline[] {
  const where = title ? `${href} "${title}"` : href;
  return text === href ? inlines : [...inlines, { text: ` (${where})`, ...style }];
}
