// The types against schema/openapi.json and against questions of every kind. tsc does the work: what is written here
// does not compile where they differ.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";

import { readRecord } from "../dist/read.js";

const read = path => JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"));
const { components, paths } = read("schema/openapi.json");
const { schemas } = components;

/** What only the library sees. */
const INTERNAL = new Set([
  "Answer", "AnswerByName", "AnswerByPlace", "AnswerInput", "Consumed", "Consumption", "Extension", "HistoryListing", "MissingHistory", "PastQuestion", "Postponement", "QuestionEvent", "ReplyInput",
  "QuestionListing", "QuestionSnapshot", "QuestionStatus", "Rejection",
]);
/** What is not known is of the library's own shape. */
const OWN = new Set(["UnknownField", "UnknownOutcome"]);
const NAMES = { Question: "QuestionBody", QuestionComment: "Comment" };
/** Where null is a value of its own, and does not stand for what is absent. */
const NULLABLE = new Set(["Value"]);
/** `ask` waits, and `keepQuestion` does not: a question does not say so itself. */
const LEFT_OUT = new Set(["NewQuestion.wait"]);
const OVERRIDES = { "NewQuestion.fields": "Exclude<c.Field, c.UnknownField>[]" };
/** What is done with an operation, or why it is left out. */
const OPERATIONS = {
  followEvents: "events", listQuestions: "questions", askQuestion: "ask", getQuestion: "question", getQuestionContext: "contextOfQuestion", getQuestionImage: "imageOfQuestion", answerQuestion: "replyQuestion",
  rejectQuestion: "rejectQuestion", extendQuestion: "extendQuestion", postponeQuestion: "postponeQuestion", listHistory: "waitFor",
  withdrawQuestion: "withdrawQuestion", consumeApproval: "consumeApproval", reportOutcome: "reportOutcome",
};

/** Returns the type of a schema. What may be null is absent instead. */
function type(schema) {
  if (schema === true) return "unknown";
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return `c.${NAMES[name] ?? name}`;
  }
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) {
    const parts = schema.anyOf.filter(({ type }) => type !== "null");
    // A set of names that may grow.
    const isOpen = parts.length === 2 && parts[0].$ref?.includes("/Known") && parts[1].type === "string";
    return parts.map((part, place) => (isOpen && place ? "c.Other" : type(part))).join(" | ");
  }
  if (!schema.type) return "unknown";
  const [kind] = [schema.type].flat().filter(kind => kind !== "null");
  if (kind === "array") return `(${type(schema.items)})[]`;
  if (kind === "object" && !schema.properties) return `Record<string, ${type(schema.additionalProperties)}>`;
  return kind === "integer" ? "number" : kind;
}

function members(name, { properties, required = [] }) {
  const member = ([key, schema]) =>
    `${key}${required.includes(key) ? "" : "?"}: ${OVERRIDES[`${name}.${key}`] ?? type(schema)};`;
  const named = Object.entries(properties).filter(([key]) => !LEFT_OUT.has(`${name}.${key}`));
  return `{ ${named.map(member).join(" ")} }`;
}

test("the types are those of the schema, and of questions of every kind", async () => {
  const lines = [
    'import type * as c from "../../dist/index.js";',
    "type Flat<T> = T extends object ? { [K in keyof T]: T[K] } : T;",
    "type Same<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : never;",
  ];
  for (const [name, schema] of Object.entries(schemas)) {
    if (INTERNAL.has(name) || OWN.has(name)) continue;
    const wanted = schema.properties ? members(name, schema) : type(schema) + (NULLABLE.has(name) ? " | null" : "");
    lines.push(`export const ${name}: Same<c.${NAMES[name] ?? name}, ${wanted}> = true;`);
  }
  const records = read("crates/web/src/page/web/examples.json").map(({ record }) => {
    // The page puts what was accepted of a lost question into its record.
    const { accepted: _, ...rest } = record;
    return readRecord(rest);
  });
  assert.ok(records.some(({ question }) => question.fields.some(({ kind }) => kind === "unknown")));
  lines.push(`export const samples: c.QuestionRecord[] = ${JSON.stringify(records, null, 1)};`);
  writeFileSync(new URL("types/generated.ts", import.meta.url), `${lines.join("\n")}\n`);
  const cwd = new URL("..", import.meta.url);
  await promisify(execFile)("node_modules/.bin/tsc", ["-p", "tests/types"], { cwd }).catch(({ stdout, stderr }) => {
    const places = [...stdout.matchAll(/generated\.ts\((\d+),/g)].map(([, line]) => lines[line - 1]);
    assert.fail(`${["the schema has another type than the library:", ...places].join("\n")}\n${stdout}${stderr}`);
  });
});

test("every refusal of the schema is the name of an error", () => {
  const { errors } = read("schema/openrpc.json").components;
  const names = Object.values(errors).flatMap(({ data }) => (data?.name ? [data.name] : []));
  const declared = readFileSync(new URL("../dist/error.d.ts", import.meta.url), "utf8");
  assert.ok(names.length > 10, names.join());
  // What only a WebSocket gets is left out.
  assert.deepEqual(names.filter(name => name !== "needs_websocket" && !declared.includes(`"${name}"`)), []);
});

test("every operation of the schema is in the library", () => {
  const named = Object.values(paths).flatMap(methods => Object.values(methods).map(({ operationId }) => operationId));
  // What is below a session is the same by another name.
  const missing = named.filter(name => name && !/Session/.test(name) && !(name in OPERATIONS));
  assert.deepEqual(missing, []);
});
