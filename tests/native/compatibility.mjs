// Prints the results of `askbridge check agent` as a row of a table, and its failures as lines; or writes the row into a
// Markdown file, in place of the agent's old one.
//
//     node compatibility.mjs AGENT VERSION RESULTS.json [FILE.md]

import { readFileSync, writeFileSync } from "node:fs";

const [agent, version, results, file] = process.argv.slice(2);
const { cases } = JSON.parse(readFileSync(results, "utf8"));
const GROUPS = ["lifecycle", "messages", "turns", "questions", "answers", "permissions", "robust"];

function cell(group) {
  const of = cases.filter(({ id }) => id.startsWith(`agent/${group}/`));
  const count = (verdict) => of.filter((result) => result.verdict === verdict).length;
  const parts = [["failed", "failed"], ["inconclusive", "not shown"]];
  const rest = parts.filter(([verdict]) => count(verdict)).map(([verdict, word]) => `, ${count(verdict)} ${word}`);
  return `${count("passed")} of ${of.length}${rest.join("")}`;
}

const cells = [agent, version, new Date().toISOString().slice(0, 10), ...GROUPS.map(cell)];
const row = `| ${cells.join(" | ")} |`;
console.log(row);
for (const { id, level, verdict, failure } of cases) {
  if (verdict === "failed") console.log(`  ${level} ${id}: ${failure.what}`);
}
if (file) {
  const lines = readFileSync(file, "utf8").split("\n");
  const head = lines.findIndex((line) => line.startsWith("| agent | version |"));
  if (head < 0) throw new Error(`${file} has no table of agents`);
  const at = lines.findIndex((line, at) => at > head && line.startsWith(`| ${agent} |`));
  const after = lines.findIndex((line, at) => at > head && !line.startsWith("|"));
  if (at < 0) lines.splice(after, 0, row);
  else lines[at] = row;
  writeFileSync(file, lines.join("\n"));
}
