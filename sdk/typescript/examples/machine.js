// An inbox for a test, in a folder of its own: the test sees no other questions, and your inbox none of the test.

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** The program: `askbridge` of the PATH, or the path in ASKBRIDGE. */
export const PROGRAM = process.env.ASKBRIDGE ?? "askbridge";
const PATIENCE = 60_000;

/** Waits for something, with a deadline. What was seen is said when it does not come. */
export async function until(what, check, seen = () => "") {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`no ${what} within ${PATIENCE} ms; seen: ${JSON.stringify(seen())}`);
    await sleep(5);
  }
}

export class Machine {
  #processes = new Set();

  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "askbridge-"));
    this.folder = join(this.home, "askbridge");
    this.env = { PATH: process.env.PATH, HOME: this.home, XDG_RUNTIME_DIR: this.home, ASKBRIDGE_RUN_USER: this.home };
  }

  get token() {
    return readFileSync(join(this.folder, "token"), "utf8").trim();
  }

  spawn(args, stdio = ["ignore", "pipe", "pipe"]) {
    const child = spawn(PROGRAM, args, { env: this.env, stdio, cwd: this.home });
    this.#processes.add(child);
    child.said = "";
    child.stdout?.on("data", data => (child.said += data));
    child.stderr?.on("data", data => (child.said += data));
    child.ended = once(child, "close").then(([code]) => (this.#processes.delete(child), code));
    return child;
  }

  /** Starts the inbox, on the port that it had before. */
  async start() {
    this.inbox = this.spawn(["inbox", "--addr", `127.0.0.1:${this.port ?? 0}`]);
    const at = await until("address", () => {
      if (this.inbox.exitCode !== null) throw new Error(`the inbox ended: ${this.inbox.said}`);
      return /listening on (http:\/\/[^,]*:(\d+)),/.exec(this.inbox.said);
    });
    [, this.url, this.port] = at;
    return this;
  }

  /** Kills the inbox without a warning. */
  async kill() {
    this.inbox.kill("SIGKILL");
    await this.inbox.ended;
  }

  /** Runs a mock agent that does what this prompt says. */
  agent(prompt) {
    return this.run([PROGRAM, "mock-agent"], prompt);
  }

  /** Runs an agent that speaks ACP, behind askbridge, and prompts it. `said` has what it sends to its client. */
  run(command, prompt) {
    const child = this.spawn(["run", "--client-questions", "none", "--", ...command], ["pipe", "pipe", "ignore"]);
    const send = (id, method, params) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    send(0, "initialize", { protocolVersion: 1 });
    send(1, "session/new", { cwd: "/", mcpServers: [] });
    send(2, "session/prompt", { sessionId: "session-1", prompt: [{ type: "text", text: prompt }] });
    return child;
  }

  async end() {
    const all = [...this.#processes];
    for (const child of all) child.kill("SIGKILL");
    await Promise.all(all.map(child => child.ended));
    rmSync(this.home, { recursive: true, force: true });
  }
}
