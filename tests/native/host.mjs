// A host of `codex app-server` in a terminal: what the model asks for is shown until it is over, and a typed line answers
// it: the number of an option, or "y". Any other line is for the model.
//
//     node host.mjs COMMAND...

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [command, ...args] = process.argv.slice(2);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
agent.on("close", (code) => process.exit(code ?? 1));

let last = 0;
let thread;
const calls = new Map();
// What the server asks for, by its ID. No two are open at once here.
const open = new Map();

// Codex' messages are those of JSON-RPC without the member that says so.
const send = (message) => agent.stdin.write(`${JSON.stringify(message)}\n`);

function call(method, params) {
  last += 1;
  send({ id: last, method, params });
  return new Promise((resolve, reject) => calls.set(last, { resolve, reject }));
}

function show() {
  const shown = [...open.values()].map(({ method }) => `open: ${method}`);
  process.stdout.write(`\x1b[2J\x1b[H${shown.join("\n") || "nothing is open"}\n> `);
}

function receive({ id, method, params, result, error }) {
  if (method && id !== undefined) {
    open.set(id, { method, params });
    show();
  } else if (method === "serverRequest/resolved") {
    if (open.delete(params.requestId)) show();
  } else if (calls.has(id)) {
    const { resolve, reject } = calls.get(id);
    calls.delete(id);
    error ? reject(new Error(error.message)) : resolve(result);
  }
}

// Returns the result for a typed line.
function reply({ method, params }, line) {
  if (method !== "item/tool/requestUserInput") return { decision: line === "y" ? "accept" : "decline" };
  const answers = params.questions.map(({ id, options }) => [id, { answers: [options[Number(line) - 1].label] }]);
  return { answers: Object.fromEntries(answers) };
}

function typed(line) {
  const [first] = open;
  if (first) {
    const [id, request] = first;
    open.delete(id);
    send({ id, result: reply(request, line.trim()) });
  } else if (line.trim()) {
    call("turn/start", { threadId: thread, input: [{ type: "text", text: line }] });
  }
  show();
}

createInterface({ input: agent.stdout }).on("line", (line) => receive(JSON.parse(line)));
const clientInfo = { name: "host", title: "Host", version: "1" };
await call("initialize", { clientInfo, capabilities: { experimentalApi: true } });
send({ method: "initialized" });
({ thread: { id: thread } } = await call("thread/start", { cwd: process.cwd() }));
createInterface({ input: process.stdin }).on("line", typed);
show();
