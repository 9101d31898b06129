// An inbox with mock agents, and the bot as a program beside it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Askbridge } from "@askbridge/client";

import { StateFile } from "../dist/state.js";
import { Machine as Base, PROGRAM, until } from "../../typescript/examples/machine.js";

export { PROGRAM, until };

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
/** What its first line says to start it with. */
const FLAGS = readFileSync(CLI, "utf8").split("\n")[0].split(" ").slice(3);

export class Machine extends Base {
  client() {
    return new Askbridge({ url: this.url, token: this.token });
  }

  ask(label, options = ["a", "b"], more = []) {
    return this.spawn(["ask", label, ...more, ...options.flatMap(option => ["--option", option])]);
  }

  /** An agent asks for a permission with these images. `said` has the line that it gets. */
  publishes(images) {
    // An agent that says what its client says.
    const child = this.spawn(["run", "--client-questions", "none", "--", "cat"], ["pipe", "pipe", "pipe"]);
    const content = images.map((image, place) => ({ type: "content", content: { type: "image", mimeType: "image/png", data: image.toString("base64"), uri: `shots/${place + 1}.png` } }));
    const options = [{ optionId: "a", name: "Allow", kind: "allow_once" }, { optionId: "r", name: "Reject", kind: "reject_once" }];
    const params = { sessionId: "s", toolCall: { toolCallId: "t", title: "Publish this", kind: "read", content }, options };
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/request_permission", params })}\n`);
    return child;
  }

  /** Writes the settings of the bot. */
  set(text) {
    this.config = join(this.home, "chat.toml");
    writeFileSync(this.config, text, { mode: 0o600 });
  }

  /** Starts the bot. Its log is in `said`. */
  bot(kind, more = [], environment = {}) {
    const env = { ...this.env, XDG_STATE_HOME: join(this.home, "state"), ...environment };
    const child = spawn(process.execPath, [...FLAGS, CLI, ...[kind].flat(), "--config", this.config, ...more], { env, cwd: this.home, stdio: ["ignore", "pipe", "pipe"] });
    child.said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", data => (child.said += data));
    child.ended = once(child, "close").then(([code, signal]) => code ?? signal);
    this.bots = [...(this.bots ?? []), child];
    return child;
  }

  /** Starts the bot, and waits until it is connected. */
  async connected(kind, ...more) {
    const bot = this.bot(kind, ...more);
    await until("the bot", () => {
      if (bot.exitCode !== null) throw new Error(`the bot ended: ${bot.said}`);
      return /connected as/.test(bot.said);
    }, () => bot.said);
    return bot;
  }

  /** Ends the bot, and waits. */
  async stopBot(bot, signal = "SIGTERM") {
    bot.kill(signal);
    return bot.ended;
  }

  state(kind) {
    const path = join(this.home, "state/askbridge", `chat-${kind}.json`);
    return existsSync(path) ? new StateFile(path).read() : undefined;
  }

  history() {
    const child = this.spawn(["history"]);
    return child.ended.then(() => child.said);
  }

  async end() {
    for (const bot of this.bots ?? []) bot.kill("SIGKILL");
    await Promise.all((this.bots ?? []).map(bot => bot.ended));
    await super.end();
  }
}
