// Writes API.md, the reference of every exported name, from the declarations of the built package.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const root = new URL("../", import.meta.url);
const ENTRIES = {
  "@askbridge/client": "dist/index.d.ts",
  "@askbridge/client/local": "dist/local.d.ts",
  "@askbridge/client/ai": "dist/ai.d.ts",
  "@askbridge/client/elements/question": "elements/question.d.ts",
  "@askbridge/client/elements/inbox": "elements/inbox.d.ts",
};

const HEAD = `# API reference

Every name that \`@askbridge/client\` exports, by entry. \`npm run build && node scripts/reference.js\` writes this page from the
declarations. [docs/sdk.md](../../docs/sdk.md) has each task.
`;

const COMMENT = String.raw`\/\*\*(?:(?!\*\/)[^])*\*\/\n *`;
const STATEMENTS = new RegExp(String.raw`(?<!\*\/)\n(?=(?:${COMMENT})?(?:export|import|declare) )`);
const MEMBERS = new RegExp(String.raw`(?<!\*\/)\n(?=    (?:${COMMENT})?\w)`);

/** Splits a comment from what follows it, and joins its lines. */
function uncommented(text) {
  const [, comment = "", code] = new RegExp(`^\\s*(${COMMENT})?([^]*)$`).exec(text);
  const lines = comment.replace(/^\/\*\*|\*\/\s*$/g, "").split(/\n\s*\* ?/);
  return { comment: lines.map(line => line.trim()).filter(Boolean).join(" "), code };
}

/** Returns the declarations that a file exports, in order. */
function exported(path) {
  const text = readFileSync(new URL(path, root), "utf8").trim();
  return text.split(STATEMENTS).flatMap(statement => {
    const { comment, code } = uncommented(statement);
    const [, names, file] = /^export (?:type )?(\*|\{[^}]*\}) from "\.\/(.*)\.js";$/.exec(code) ?? [];
    if (file) return exported(`dist/${file}.d.ts`).filter(({ name }) => names === "*" || new RegExp(`\\b${name}\\b`).test(names));
    const [, kind, name] = /^export (?:declare )?(class|interface|type) (\w+)/.exec(code) ?? [];
    return name ? [{ kind, name, comment, code: code.replace(/^export (?:declare )?/, "") }] : [];
  });
}

const block = code => `\`\`\`ts\n${code}\n\`\`\`\n`;

/** Returns the text about a class: its head, and each member with its comment. */
function aboutClass(code) {
  const [head, ...body] = code.split("\n");
  const members = body.slice(0, -1).join("\n").split(MEMBERS).map(uncommented);
  const shown = members.filter(({ code }) => !/^(#|protected|private)/.test(code));
  return [block(`${head} … }`), ...shown.flatMap(({ comment, code }) => [block(code.replace(/^    /gm, "")), ...(comment ? [`${comment}\n`] : [])])];
}

/** Returns the whole page. */
export function reference() {
  const known = new Set();
  const parts = [HEAD];
  for (const [entry, path] of Object.entries(ENTRIES)) {
    const shown = exported(path).filter(({ kind, name, code }) => {
      // `local` exports all of the first entry again.
      const isNew = !known.has(kind + name + code);
      known.add(kind + name + code);
      return isNew;
    });
    parts.push(`## ${entry}\n`);
    let last;
    for (const { kind, name, comment, code } of shown) {
      // A class may be declared in two parts.
      if (name !== last) parts.push(`### ${name}\n`);
      last = name;
      if (comment) parts.push(`${comment}\n`);
      parts.push(...(kind === "class" ? aboutClass(code) : [block(code)]));
    }
  }
  return parts.join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(new URL("API.md", root), reference());
