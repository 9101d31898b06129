// Records the permissions that a released agent asks for: lets its stand-in for a model call one tool after the other, and
// prints each request for a permission as it came, with the earlier lines of the same tool call that say what it is about.
// Each is refused, but for those that a call's "allow" lets through.
//
//     node permissions.mjs PROTOCOL TOOLS COMMAND...
//
// PROTOCOL is acp, claude or codex. TOOLS names a list in calls.json, where "{project}" and "{home}" stand
// for the folders of the run. IDs and folders in what is printed are replaced by neutral ones.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

const [protocol, tools, ...command] = process.argv.slice(2);
const here = new URL(".", import.meta.url).pathname;
const project = process.cwd();
const home = process.env.HOME;
const DEADLINE = 60_000;

const tracker = { name: "tracker", command: process.execPath, args: [`${here}tracker.mjs`], env: [] };

// IDs by their forms, which are replaced by numbers in the order in which they come.
const ID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?:ses|per|msg|prt|evt)_[0-9A-Za-z]{12,}\b|(?<![A-Za-z0-9])call_\d+\b/g;
const ids = new Map();

// Returns a line without what is of this machine and this run.
function neutral(line) {
  const slug = (path) => path.replace(/[^0-9A-Za-z]/g, "-");
  let text = line.trim();
  for (const [from, to] of [[project, "/people/ada/shop"], [home, "/people/ada"], [process.env.TMPDIR, "/tmp"]]) {
    text = text.replaceAll(from, to).replaceAll(slug(from), slug(to));
  }
  // Copilot shortens long paths at their beginning.
  text = text.replace(/\.\.\.[^"\s]*_permissions\/(home|project)\//g, ".../$1/");
  text = text.replace(ID, (id) => {
    if (!ids.has(id)) ids.set(id, `id-${ids.size + 1}`);
    return ids.get(id);
  });
  return text.replace(/("\w*(?:At|Ms|timestamp)":)\d{13}/g, "$10").replace(/"\d{4}-\d\d-\d\dT[^"]*Z"/g, '"2026-01-01T00:00:00Z"');
}

// The lines of each tool call that came before its permission.
const earlier = new Map();

function remember(call, line) {
  earlier.set(call, [...(earlier.get(call) ?? []), line]);
}

let recorded = 0;

function record(call, line) {
  for (const text of [...(earlier.get(call) ?? []), line]) console.log(neutral(text));
  earlier.delete(call);
  recorded += 1;
}

let allows = false;
let over = () => {};

// Returns a promise of the end of the turn.
function end() {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the turn does not end")), DEADLINE);
    over = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
agent.stdin.on("error", () => {});
const calls = new Map();
let last = 0;

function send(message) {
  agent.stdin.write(`${JSON.stringify(message)}\n`);
}

function call(method, params) {
  last += 1;
  send({ ...(protocol === "codex" ? {} : { jsonrpc: "2.0" }), id: last, method, params });
  return new Promise((resolve, reject) => calls.set(last, { resolve, reject, method }));
}

function responded({ id, result, error }) {
  const { resolve, reject, method } = calls.get(id) ?? {};
  calls.delete(id);
  error ? reject?.(new Error(`${method}: ${JSON.stringify(error)}`)) : resolve?.(result);
}

const acp = {
  session: undefined,
  async start() {
    await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const { sessionId } = await call("session/new", { cwd: project, mcpServers: [tracker] });
    this.session = sessionId;
  },
  prompt(text) {
    call("session/prompt", { sessionId: this.session, prompt: [{ type: "text", text }] }).then(() => over(), () => over());
  },
  receive(message, line) {
    const { id, method, params } = message;
    if (method === "session/update" && params.update.toolCallId) remember(params.update.toolCallId, line);
    if (method === "session/request_permission") {
      record(params.toolCall.toolCallId, line);
      const chosen = params.options.find(({ kind }) => kind === (allows ? "allow_once" : "reject_once"));
      const outcome = chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" };
      send({ jsonrpc: "2.0", id, result: { outcome } });
    } else if (method && id !== undefined) {
      send({ jsonrpc: "2.0", id, error: { code: -32601, message: "no such method" } });
    } else if (!method) responded(message);
  },
};

const claude = {
  async start() {
    send({ type: "control_request", request_id: "begin", request: { subtype: "initialize" } });
  },
  prompt(text) {
    send({ type: "user", message: { role: "user", content: text } });
  },
  receive(message, line) {
    if (message.type === "result") over();
    if (message.type !== "control_request") return;
    const { request_id, request } = message;
    if (request.subtype !== "can_use_tool") return;
    record(request_id, line);
    const allowed = { behavior: "allow", updatedInput: request.input };
    const response = allows ? allowed : { behavior: "deny", message: "No." };
    send({ type: "control_response", response: { subtype: "success", request_id, response } });
  },
};

const codex = {
  async start() {
    await call("initialize", { clientInfo: { name: "host", title: "Host", version: "1" }, capabilities: { experimentalApi: true } });
    send({ method: "initialized" });
    ({ thread: { id: this.thread } } = await call("thread/start", { cwd: project }));
  },
  prompt(text) {
    call("turn/start", { threadId: this.thread, input: [{ type: "text", text }] }).catch((error) => console.error(error));
  },
  receive(message, line) {
    const { id, method, params } = message;
    if (method === "turn/completed") over();
    if (method === "item/started" && params.item.type === "fileChange") remember(params.item.id, line);
    if (method && id !== undefined) {
      record(params.itemId, line);
      const elicited = { action: allows ? "accept" : "decline", content: {}, _meta: null };
      send({ id, result: method.startsWith("mcp") ? elicited : { decision: allows ? "accept" : "decline" } });
    } else if (!method) responded(message);
  },
};

const agents = { acp, claude, codex };
const host = agents[protocol];
if (!host) throw new Error(`${protocol} is no protocol`);

createInterface({ input: agent.stdout }).on("line", (line) => {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return console.error(line);
  }
  host.receive(message, line);
});

const within = (promise) => Promise.race([promise, pause(DEADLINE, undefined, { ref: false }).then(() => Promise.reject(new Error("the agent does not start")))]);
const lists = JSON.parse(readFileSync(`${here}calls.json`, "utf8"));
const fill = (value) => JSON.parse(JSON.stringify(value).replaceAll("{project}", project).replaceAll("{home}", home));
await within(host.start());
const { command: [runs, input], calls: others } = lists[tools];
const commands = lists.commands.map((text) => [runs, JSON.parse(JSON.stringify(input).replace('"{command}"', () => JSON.stringify(text)))]);
for (const [tool, input, ...flags] of fill([...others, ...commands])) {
  allows = flags.includes("allow");
  const before = recorded;
  const ended = end();
  host.prompt(`CALL: ${tool} ${JSON.stringify(input)}`);
  await ended;
  // Some tools are not asked for, and some the agent does not have.
  if (recorded === before) console.error(`not asked: ${tool} ${JSON.stringify(input)}`);
}
agent.kill();
process.exit();
