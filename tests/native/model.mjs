// A stand-in for a model: serves the interfaces that Claude Code, Codex, opencode, Copilot CLI and Gemini CLI speak, on the
// loopback. It calls the tool that the person's last message names, and ends the turn with what it was told of the call.
//
// "ASK: …" asks a question, "MANY: …" one of which several options may be chosen, "RUN: COMMAND" runs a command, and
// "CALL: TOOL INPUT" calls any tool with an input in JSON. At "WAIT: …" it begins to speak and never ends: the turn lasts
// until it is cancelled.
// Each result of a call is a line of JSON on stdout.
//
//     node model.mjs PORT

import { createServer } from "node:http";
import { createInterface } from "node:readline";

const ASKED = "Which database should we use?";
const options = [
  { label: "Postgres", description: "Relational" },
  { label: "SQLite", description: "Embedded" },
];
const question = { header: "Database", question: ASKED, options };

// Codex runs commands in a sandbox, and asks before it runs one outside of it.
const escalated = { sandbox_permissions: "require_escalated", justification: "Make a file" };

// The tools that ask, and those that run commands, by the names that the agents give them.
const TOOLS = {
  ASK: {
    AskUserQuestion: () => ({ questions: [{ ...question, multiSelect: false }] }),
    request_user_input: () => ({ questions: [{ ...question, id: "db" }] }),
    question: () => ({ questions: [question] }),
    ask_user_question: () => ({ questions: [{ ...question, multiSelect: false }] }),
    ask_user: () => ({
      message: ASKED,
      requestedSchema: {
        type: "object",
        properties: { db: { type: "string", title: "Database", enum: options.map(({ label }) => label) } },
        required: ["db"],
      },
    }),
  },
  MANY: {
    AskUserQuestion: () => ({ questions: [{ ...question, multiSelect: true }] }),
    question: () => ({ questions: [{ ...question, multiple: true }] }),
    ask_user_question: () => ({ questions: [{ ...question, multiSelect: true }] }),
  },
  RUN: {
    Bash: (command) => ({ command, description: "Make a file" }),
    exec_command: (cmd) => ({ cmd, ...escalated }),
    shell_command: (command) => ({ command, ...escalated }),
    bash: (command) => ({ command, description: "Make a file" }),
    run_shell_command: (command) => ({ command, description: "Make a file", is_background: false }),
  },
};

// Is thrown where the model does not end what it says.
const WAITS = new Error("the model goes on");

// Counts what was said: an agent takes two messages with one ID for parts of the same.
let turns = 0;

// Returns what to say next. `told` is the result of the last call, if that is newer than the person's `text`.
function next(tools, text, told) {
  turns += 1;
  if (told !== undefined) {
    console.log(JSON.stringify({ told }));
    return { text: `I was told: ${told}` };
  }
  const [, what, rest] = /\b(ASK|MANY|RUN|CALL|WAIT): (.*)/.exec(text ?? "") ?? [];
  if (what === "WAIT") return { text: "I am at work.", waits: true };
  if (what === "CALL") return called(tools, rest);
  const name = Object.keys(TOOLS[what] ?? {}).find((name) => tools.includes(name));
  if (!name) {
    if (what) console.error(`no tool for ${what} is among ${tools.join(", ")}`);
    return { text: "Nothing to do." };
  }
  return { id: `call_${turns}`, name, input: TOOLS[what][name](rest.trim()) };
}

// Returns the call that a message spells out.
function called(tools, text) {
  const [, name, input] = /^(\S+) (.*)$/.exec(text) ?? [];
  if (tools.includes(name)) return { id: `call_${turns}`, name, input: JSON.parse(input) };
  if (tools.length) console.error(`${name} is not among ${tools.join(", ")}`);
  return { text: "No such tool." };
}

// What a message says, whichever way it is cut into blocks.
function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((block) => block.text ?? (block.content ? textOf(block.content) : "")).join("\n");
}

// Anthropic Messages: Claude Code.
function messages({ messages, tools = [], model, stream }, response) {
  const isPerson = ({ role }) => role === "user";
  const last = messages.findLast(isPerson)?.content ?? "";
  const result = Array.isArray(last) ? last.find(({ type }) => type === "tool_result") : undefined;
  const said = next(tools.map(({ name }) => name), textOf(last), result && textOf(result.content));
  const block = said.name ? { type: "tool_use", id: said.id, name: said.name, input: said.input } : { type: "text", text: said.text };
  const stop_reason = said.name ? "tool_use" : "end_turn";
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: `msg_${turns}`, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage };
  if (!stream) return json(response, { ...message, content: [block], stop_reason });
  const send = events(response);
  send({ type: "message_start", message });
  const empty = said.name ? { ...block, input: {} } : { ...block, text: "" };
  send({ type: "content_block_start", index: 0, content_block: empty });
  const delta = said.name ? { type: "input_json_delta", partial_json: JSON.stringify(said.input) } : { type: "text_delta", text: said.text };
  send({ type: "content_block_delta", index: 0, delta });
  if (said.waits) throw WAITS;
  send({ type: "content_block_stop", index: 0 });
  send({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage });
  send({ type: "message_stop" });
  response.end();
}

// OpenAI Responses: Codex.
function responses({ input = [], tools = [] }, response) {
  const isPerson = ({ role }) => role === "user";
  const last = input.findLast((item) => isPerson(item) || item.type?.endsWith("_output"));
  const told = last && !isPerson(last) ? textOf(last.output?.content ?? last.output) : undefined;
  // The tools of an MCP server are in a namespace, which a call names beside the tool.
  const inner = tools.flatMap(({ name, tools = [] }) => tools.map((tool) => ({ name: `${name}__${tool.name}`, namespace: name, tool: tool.name })));
  const said = next([...tools, ...inner].map(({ name }) => name), textOf(input.findLast(isPerson)?.content), told);
  const { namespace, tool = said.name } = inner.find(({ name }) => name === said.name) ?? {};
  const id = `resp_${turns}`;
  const item = said.name
    ? { type: "function_call", id: `fc_${turns}`, call_id: said.id, namespace, name: tool, arguments: JSON.stringify(said.input) }
    : { type: "message", id: `msg_${turns}`, role: "assistant", content: [{ type: "output_text", text: said.text }] };
  const send = events(response);
  send({ type: "response.created", response: { id } });
  if (said.waits) {
    send({ type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } });
    send({ type: "response.output_text.delta", item_id: item.id, output_index: 0, content_index: 0, delta: said.text });
    throw WAITS;
  }
  send({ type: "response.output_item.done", output_index: 0, item });
  const usage = { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 };
  send({ type: "response.completed", response: { id, usage } });
  response.end();
}

// OpenAI chat completions: opencode and Copilot CLI.
function completions({ messages, tools = [], model, stream }, response) {
  const last = messages.findLast(({ role }) => role === "user" || role === "tool");
  const told = last?.role === "tool" ? textOf(last.content) : undefined;
  const person = messages.findLast(({ role }) => role === "user");
  const said = next(tools.map((tool) => tool.function?.name), textOf(person?.content), told);
  const call = said.name && { index: 0, id: said.id, type: "function", function: { name: said.name, arguments: JSON.stringify(said.input) } };
  const message = call ? { role: "assistant", content: null, tool_calls: [call] } : { role: "assistant", content: said.text };
  const finish_reason = call ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const whole = { id: `chat_${turns}`, created: 0, model };
  if (!stream) {
    return json(response, { ...whole, object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage });
  }
  const send = events(response);
  const chunk = { ...whole, object: "chat.completion.chunk" };
  send({ ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] });
  if (said.waits) throw WAITS;
  send({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage });
  response.end("data: [DONE]\n\n");
}

// Gemini's streamGenerateContent: Gemini CLI.
function contents({ contents, tools = [] }, response) {
  const { role, parts = [] } = contents.at(-1) ?? {};
  const told = parts.find(({ functionResponse }) => functionResponse)?.functionResponse.response;
  const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations).map(({ name }) => name);
  const said = next(names, role === "user" ? textOf(parts) : "", told && JSON.stringify(told));
  const part = said.name ? { functionCall: { id: said.id, name: said.name, args: said.input } } : { text: said.text };
  const candidate = { index: 0, content: { role: "model", parts: [part] } };
  const send = events(response);
  if (said.waits) {
    send({ candidates: [candidate] });
    throw WAITS;
  }
  const candidates = [{ ...candidate, finishReason: "STOP" }];
  send({ candidates, usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } });
  response.end();
}

function json(response, value, status = 200) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

// Returns what sends an event of a stream.
function events(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  return (event) => response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
}

const PATHS = [
  [/\/messages\/count_tokens$/, (_, response) => json(response, { input_tokens: 1 })],
  [/\/messages$/, messages],
  [/\/responses$/, responses],
  [/\/chat\/completions$/, completions],
  [/:streamGenerateContent$/, contents],
];

const server = createServer(async (request, response) => {
  const path = new URL(request.url, "http://localhost").pathname;
  let body = "";
  for await (const part of request.setEncoding("utf8")) body += part;
  const [, reply] = PATHS.find(([pattern]) => request.method === "POST" && pattern.test(path)) ?? [];
  try {
    if (reply) return reply(JSON.parse(body), response);
    // What else agents ask a vendor for is not needed.
    json(response, path.endsWith("/models") ? { data: [], models: [] } : {}, path.endsWith("/models") ? 200 : 404);
  } catch (error) {
    if (error === WAITS) return;
    console.error(path, error);
    json(response, { error: { type: "invalid_request_error", message: String(error) } }, 400);
  }
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
// The one that started this may be killed: its end of the pipe closes then.
createInterface({ input: process.stdin }).on("close", () => process.exit(0));
