// Writes the results of `askbridge check` into docs/compatibility.md: a row of the table of their kind, and a list of the
// cases that failed. It replaces those of the same name. Without a file, it prints both.
//
//     node table.mjs NAME VERSION RESULTS.json [FILE.md]

import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

const [name, version, results, file] = process.argv.slice(2);
const { kind, command, cases } = JSON.parse(readFileSync(results, "utf8"));
const groups = [...new Set(cases.map(({ id }) => id.split("/")[1]))];

function cell(group) {
  const all = cases.filter(({ id }) => id.startsWith(`${kind}/${group}/`));
  const count = (verdict) => all.filter((result) => result.verdict === verdict).length;
  const played = all.length - count("skipped");
  if (played === 0) return "–";
  const parts = [["failed", "failed"], ["inconclusive", "not shown"]];
  const rest = parts.filter(([verdict]) => count(verdict)).map(([verdict, word]) => `, ${count(verdict)} ${word}`);
  return `${count("passed")} of ${played}${rest.join("")}`;
}

/** A command without the folders of the machine that it ran on. */
function shown(words) {
  const short = words.map((word) => (word.startsWith("/") ? basename(word) : word));
  return short.map((word) => (/^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word}'`)).join(" ");
}

function sentence(text) {
  const line = text.replace(/\s+/g, " ").replace(/[|<]/g, "\\$&").trim();
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}.`;
}

const row = (cells) => `| ${cells.join(" | ")} |`;
const head = [row([kind, "version", "date", ...groups]), row(["---", "---", "---", ...groups.map(() => "---")])];
const result = row([name, version, new Date().toISOString().slice(0, 10), ...groups.map(cell)]);
const failures = cases
  .filter(({ verdict }) => verdict === "failed")
  .map(({ id, level, rule, failure }) => `- \`${id}\` (${level}): ${sentence(rule)} ${sentence(failure.what)}`);
const title = `### ${name}\n`;
const details = [title, `\`askbridge check ${kind} -- ${shown(command)}\``, "", ...failures, "", ""].join("\n");

/** Returns the items with one replaced, or added at the end if none is of this name. */
function put(items, item, isOld) {
  const at = items.findIndex(isOld);
  return at < 0 ? [...items, item] : items.with(at, item);
}

/** Returns the section of a kind: a heading, a table, and a part for each name. */
function section(text) {
  const [intro, ...parts] = text.split(/^(?=### )/m);
  const before = intro.split(/^(?=\|)/m)[0];
  const table = intro.match(/^\|.*$/gm) ?? [];
  const rows = put(table.slice(2), result, (line) => line.startsWith(`| ${name} |`));
  const isOld = (part) => part.startsWith(title);
  const kept = failures.length ? put(parts, details, isOld) : parts.filter((part) => !isOld(part));
  return [before, [...head, ...rows, "", ""].join("\n"), ...kept].join("");
}

if (file) {
  const heading = `## ${kind[0].toUpperCase()}${kind.slice(1)}s\n`;
  const sections = readFileSync(file, "utf8").split(/^(?=## )/m);
  const at = sections.findIndex((section) => section.startsWith(heading));
  if (at < 0) throw new Error(`${file} has no \`${heading.trim()}\``);
  writeFileSync(file, `${sections.with(at, section(sections[at].trimEnd() + "\n\n")).join("").trimEnd()}\n`);
}
console.log([...head, result, ...failures].join("\n"));
