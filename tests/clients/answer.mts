// Plays a program that knows REST from its generated types alone: lists questions, answers, rejects, asks, extends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./openapi.js";

type Schemas = components["schemas"];

const [askbridge, baseUrl, tokenFile] = process.argv.slice(2) as [string, string, string];
const token = readFileSync(tokenFile, "utf8").trim();
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

/** Starts a bridge around the mock agent, which asks one question. */
function bridge() {
  const args = ["run", "--client-questions", "none", "--", askbridge, "mock-agent"];
  // On stderr it says how the question can be answered.
  const child = spawn(askbridge, args, { stdio: ["pipe", "pipe", "ignore"] });
  let said = "";
  child.stdout.on("data", (data) => (said += data));
  const ended = new Promise<string>((resolve) => child.on("close", () => resolve(said)));
  const send = (id: number, method: string, params: unknown) =>
    child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
  send(0, "initialize", { protocolVersion: 1 });
  send(1, "session/new", { cwd: "/", mcpServers: [] });
  send(2, "session/prompt", { sessionId: "session-1", prompt: [{ type: "text", text: "question" }] });
  return () => (child.stdin.end(), ended);
}

/** Waits until a question is open. */
async function oneQuestion(): Promise<Schemas["QuestionRecord"]> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await setTimeout(20)) {
    const { data } = await client.GET("/v1/questions");
    if (data?.questions[0]) return data.questions[0];
  }
  throw new Error("no question is open");
}

{
  const end = bridge();
  const record = await oneQuestion();
  const field = record.question.fields[0] as Schemas["ChoiceField"];
  assert.equal(field.kind, "choice");
  const params = { path: { questionId: record.id } };
  const body: Schemas["AnswerByName"] = { values: { [field.name]: field.options[1]!.value } };
  const answered = await client.POST("/v1/questions/{questionId}/reply", { params, body });
  assert.equal(answered.response.status, 204);
  assert.match(await end(), /You chose: option-b/);
  const { data: settled } = await client.GET("/v1/questions/{questionId}", { params });
  assert.equal(settled?.settlement?.outcome.status, "answered");
  const other: Schemas["AnswerByPlace"] = { answers: [[field.options[0]!.label]] };
  const { error } = await client.POST("/v1/questions/{questionId}/reply", { params, body: other });
  assert.equal(error?.name, "conflict");
  console.log("listed and answered a question");
}
{
  const end = bridge();
  const record = await oneQuestion();
  const path = { sessionId: "session-1", questionId: record.question.questionId };
  const body = { reason: "no time" };
  const reject = "/v1/sessions/{sessionId}/questions/{questionId}/reject";
  assert.equal((await client.POST(reject, { params: { path }, body })).response.status, 204);
  const params = { path: { questionId: record.id } };
  const { data: settled } = await client.GET("/v1/questions/{questionId}", { params });
  const reason: Schemas["KnownReason"] = "user";
  assert.deepEqual(settled?.settlement?.outcome, { status: "rejected", reason });
  await end();
  console.log("rejected a question");
}
{
  const go: Schemas["BooleanField"] = { name: "go", label: "Deploy?", kind: "boolean" };
  const asked = client.POST("/v1/questions", { body: { fields: [go], timeoutMs: 3_600_000 } });
  const record = await oneQuestion();
  const params = { path: { questionId: record.id } };
  const body = { milliseconds: 60_000 };
  const { data: extended } = await client.POST("/v1/questions/{questionId}/extend", { params, body });
  assert.ok(extended!.deadline! > record.deadline!);
  await client.POST("/v1/questions/{questionId}/reply", { params, body: { values: { go: true } } });
  const { data: settlement } = await asked;
  assert.deepEqual(settlement?.outcome, { status: "answered", values: { go: true } });
  console.log("asked, extended and answered a question");
}
{
  // What a bridge of another version may say has a type as well.
  const field: Schemas["Field"] = { name: "f", label: "F", kind: "drawing", colours: ["red"] };
  const reason: Schemas["Reason"] = "of_next_year";
  const outcomes: Schemas["Outcome"][] = [{ status: "dreamt", depth: 2 }, { status: "rejected", reason }];
  assert.equal(outcomes.length, 2, field.kind);
}
