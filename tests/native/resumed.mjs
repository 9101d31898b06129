// A host of an agent behind askbridge that is killed with it, and resumes the session: what becomes of what was asked.
//
//     node resumed.mjs PROTOCOL WHAT ASKBRIDGE COMMAND...
//
// PROTOCOL is acp, claude or codex; WHAT is "ASK: …" or "RUN: …" for the stand-in model. Each finding is a line of stdout,
// its name before a tab. The exit code is 1 if one is not as docs/history.md says.

import { execFile, spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

const [protocol, what, askbridge, ...command] = process.argv.slice(2);
const run = promisify(execFile);
const note = (name, found) => console.log(`${name}\t${found}`);
// How long an agent has to ask again by itself.
const BY_ITSELF = 5_000;
const DEADLINE = 60_000;

// Notes a finding that is to be this.
function check(name, found, wanted) {
  note(name, found);
  if (found !== wanted) process.exitCode = 1;
}

async function until(name, look, most = DEADLINE) {
  const end = Date.now() + most;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${name} did not happen in time`);
    await pause(50);
  }
}

async function listed() {
  const { stdout } = await run(askbridge, ["list", "--json"]);
  return JSON.parse(stdout);
}

const open = async () => (await listed()).questions[0];

// The session outlives the processes.
let session;

class Host {
  constructor(resumes) {
    const options = protocol === "acp" ? [] : ["--protocol", protocol];
    const more = protocol === "claude" && resumes ? ["--resume", session] : [];
    this.bridge = spawn(askbridge, ["run", ...options, "--", ...command, ...more], { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.bridge.on("close", resolve));
    this.bridge.stdin.on("error", () => {});
    this.calls = new Map();
    this.last = 0;
    createInterface({ input: this.bridge.stdout }).on("line", (line) => this.receive(JSON.parse(line)));
  }

  send(message) {
    this.bridge.stdin.write(`${JSON.stringify(message)}\n`);
  }

  call(method, params) {
    this.last += 1;
    const jsonrpc = protocol === "acp" ? { jsonrpc: "2.0" } : {};
    this.send({ ...jsonrpc, id: this.last, method, params });
    return new Promise((resolve, reject) => this.calls.set(this.last, { resolve, reject, method }));
  }

  receive(message) {
    if (message.type === "system" && message.subtype === "init") session = message.session_id;
    const { id, method, result, error } = message;
    if (method || !this.calls.has(id)) return;
    const { resolve, reject, method: called } = this.calls.get(id);
    this.calls.delete(id);
    error ? reject(new Error(`${called}: ${JSON.stringify(error)}`)) : resolve(result);
  }

  // Begins a session, or resumes it.
  async start(resumes) {
    if (protocol === "claude") {
      this.send({ type: "control_request", request_id: "begin", request: { subtype: "initialize" } });
    } else if (protocol === "codex") {
      const clientInfo = { name: "host", title: "Host", version: "1" };
      await this.call("initialize", { clientInfo, capabilities: { experimentalApi: true } });
      this.send({ method: "initialized" });
      if (resumes) await this.call("thread/resume", { threadId: session });
      else ({ thread: { id: session } } = await this.call("thread/start", { cwd: process.cwd() }));
    } else {
      const clientCapabilities = { elicitation: { form: {} }, session: {} };
      const { agentCapabilities = {} } = await this.call("initialize", { protocolVersion: 1, clientCapabilities });
      const where = { cwd: process.cwd(), mcpServers: [] };
      if (!resumes) ({ sessionId: session } = await this.call("session/new", where));
      else {
        const method = agentCapabilities.loadSession ? "session/load" : "session/resume";
        note("resumed by", method);
        await this.call(method, { ...where, sessionId: session });
      }
    }
  }

  prompt() {
    if (protocol === "claude") this.send({ type: "user", message: { role: "user", content: what } });
    else if (protocol === "codex") {
      this.call("turn/start", { threadId: session, input: [{ type: "text", text: what }] }).catch(() => {});
    } else {
      this.call("session/prompt", { sessionId: session, prompt: [{ type: "text", text: what }] }).catch(() => {});
    }
  }

  // Asks, and returns the question. An agent that asks again by itself needs no prompt.
  async ask(resumes) {
    if (resumes) {
      const again = await until("a question", open, BY_ITSELF).catch(() => undefined);
      check("asks again by itself", again ? "yes" : "no", "no");
      if (again) return again;
    }
    this.prompt();
    await until("the question", open);
    // opencode tells of the command soon after it has asked.
    await pause(500);
    return open();
  }

  agents() {
    return descendants(this.bridge.pid);
  }

  // Kills the bridge and all that it started.
  async kill() {
    const agents = this.agents();
    this.bridge.kill("SIGKILL");
    agents.forEach((pid) => signal(pid, "SIGKILL"));
    await this.ended;
  }

  // Lets an answer be accepted that the agent cannot read: it is stopped, and its stdin is full.
  async decide(id) {
    this.agents().forEach((pid) => signal(pid, "SIGSTOP"));
    this.send({ pad: " ".repeat(16 << 20) });
    // What the bridge takes no more of stays here.
    let left;
    await until("a full pipe", async () => {
      const before = left;
      left = this.bridge.stdin.writableLength;
      await pause(500);
      return left > 0 && left === before;
    });
    // It waits until the agent reads, and is killed.
    answer(id).catch(({ stderr }) => console.error(stderr));
    await until("the acceptance", async () => (await open())?.state === "delivering");
  }
}

function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

function descendants(pid) {
  const parents = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((name) => {
    try {
      const [, parent] = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
      return [Number(name), Number(parent)];
    } catch {
      return [0, 0];
    }
  });
  const children = (of) => parents.filter(([, parent]) => parent === of).flatMap(([child]) => [child, ...children(child)]);
  return children(pid);
}

const isQuestion = what.startsWith("ASK");
// `--yes` stands for the person who has read it: without a terminal, what is dangerous needs it.
const answer = (id) => (isQuestion ? run(askbridge, ["answer", id, "SQLite"]) : run(askbridge, ["allow", id, "--yes"]));

// What the fingerprint is made of.
function asked({ question }) {
  const { agent, project, sessionId: session, origin, purpose, title, message, fields } = question;
  const options = (field) => (field.options ?? []).map(({ value, label }) => [value, label]);
  const parts = fields.map((field) => [field.name, field.kind, field.label, field.required, options(field)]);
  return { agent, project, session, origin, purpose, title, message, fields: parts };
}

function compare(before, now) {
  const [a, b] = [asked(before), asked(now)];
  const differs = Object.keys(a).filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]));
  const other = differs.map((name) => `${name} ${JSON.stringify(a[name])}, ${JSON.stringify(b[name])}`);
  check("the same question", a.session ? other.join("; ") || "yes" : "has no session", "yes");
}

async function offered(id) {
  const { earlier } = JSON.parse((await run(askbridge, ["show", id, "--json"])).stdout);
  return earlier ?? {};
}

let host = new Host(false);
await host.start(false);
const first = await host.ask(false);
note("asks", `${first.question.origin}, ${first.question.purpose}`);
await answer(first.id);
await until("the end of the question", async () => !(await open()));
await pause(1000);
// While this one is open and in the journal, all is killed.
const second = await host.ask(false);
await host.kill();
check("lost", (await listed()).lost?.some(({ id }) => id === second.id) ? "is listed" : "is not listed", "is listed");

host = new Host(true);
await host.start(true);
const third = await host.ask(true);
compare(second, third);
const { id, wasDelivered } = await offered(third.id);
check("delivered answer", id === first.id && wasDelivered ? "is offered" : `${id ?? "none"} is offered`, "is offered");
await host.decide(third.id);
await host.kill();

host = new Host(true);
await host.start(true);
// It may be answered before it is seen, or soon after that.
await host.ask(true).catch(() => undefined);
await pause(1500);
const left = await open();
const [{ record: last }] = JSON.parse((await run(askbridge, ["history", "--json"])).stdout).questions;
const values = JSON.stringify((left ? await offered(left.id) : last.settlement).outcome?.values ?? "nothing");
const given = left || last.id === third.id ? "offered" : "given";
check(`undelivered answer, ${values}`, `is ${given}`, isQuestion ? "is given" : "is offered");
await host.kill();
process.exit();
