// A real Matrix server, Synapse, in a folder of its own, and persons with clients of their own.
// SYNAPSE names its Python: `python3 -m venv FOLDER && FOLDER/bin/pip install matrix-synapse`.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { until } from "./machine.js";

const PYTHON = process.env.SYNAPSE ?? "python3";
const SERVER = "synapse.test";

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

export class Synapse {
  /** `limits` are those of the server: each sender may send 10 messages, and then one in 5 s. */
  async start({ limits = "rc_message:\n  per_second: 1000\n  burst_count: 1000\n" } = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "synapse-"));
    const config = join(this.folder, "homeserver.yaml");
    const args = ["-m", "synapse.app.homeserver", "--config-path", config];
    execFileSync(PYTHON, [...args, "--server-name", SERVER, "--generate-config", "--report-stats=no", "--data-directory", this.folder, "--config-directory", this.folder], { cwd: this.folder, stdio: "pipe" });
    this.port = await freePort();
    const generated = readFileSync(config, "utf8").replace(/port: 8008/, `port: ${this.port}`);
    const easy = ["rc_registration", "rc_joins:\n  local", "rc_invites:\n  per_room", "rc_login:\n  account"].map(name => `${name}:\n${name.includes("\n") ? "    " : "  "}per_second: 1000\n${name.includes("\n") ? "    " : "  "}burst_count: 1000\n`);
    writeFileSync(config, `${generated}\nsuppress_key_server_warning: true\nenable_registration: true\nmax_upload_size: 2M\nenable_registration_without_verification: true\nbind_addresses: ["127.0.0.1"]\n${easy.join("")}${limits}`);
    this.url = `http://127.0.0.1:${this.port}`;
    this.config = config;
    await this.run();
    return this;
  }

  async run() {
    this.process = spawn(PYTHON, ["-m", "synapse.app.homeserver", "--config-path", this.config], { cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] });
    this.process.said = "";
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on("data", data => (this.process.said += data));
    await until("Synapse", async () => {
      if (this.process.exitCode !== null) throw new Error(`Synapse ended: ${this.process.said}`);
      return (await fetch(`${this.url}/_matrix/client/versions`).catch(() => undefined))?.ok;
    }, () => this.process.said);
  }

  async kill() {
    const ended = once(this.process, "close");
    this.process.kill("SIGKILL");
    await ended;
  }

  async end() {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async person(name) {
    const person = new Person(this.url);
    const { access_token: token, user_id: id } = await person.call("POST", "/_matrix/client/v3/register", { username: name, password: `${name}-secret`, auth: { type: "m.login.dummy" } });
    Object.assign(person, { token, id });
    return person;
  }
}

/** A client: it sees the rooms as their persons do. */
export class Person {
  #next = 0;

  constructor(url) {
    this.url = url;
  }

  async call(method, path, body) {
    const response = await fetch(this.url + path, { method, headers: { ...(this.token && { Authorization: `Bearer ${this.token}` }), "Content-Type": "application/json" }, ...(body && { body: JSON.stringify(body) }) });
    const json = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(json)}`);
    return json;
  }

  /** Returns a file of the server. */
  async download(url) {
    const response = await fetch(`${this.url}/_matrix/client/v1/media/download/${url.slice("mxc://".length)}`, { headers: { Authorization: `Bearer ${this.token}` } });
    return Buffer.from(await response.arrayBuffer());
  }

  async makeRoom(more = {}) {
    const { room_id: room } = await this.call("POST", "/_matrix/client/v3/createRoom", { preset: "private_chat", ...more });
    return room;
  }

  send(room, type, content) {
    return this.call("PUT", `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/${type}/${Date.now()}-${this.#next++}`, content).then(({ event_id: id }) => id);
  }

  react = (room, ref, key) => this.send(room, "m.reaction", { "m.relates_to": { rel_type: "m.annotation", event_id: ref, key } });

  reply = (room, ref, body) => this.send(room, "m.room.message", { msgtype: "m.text", body, "m.relates_to": { "m.in_reply_to": { event_id: ref } } });

  redact = (room, ref) => this.call("PUT", `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/redact/${encodeURIComponent(ref)}/${Date.now()}-${this.#next++}`, {});

  /** Returns the messages of a room as they are shown: each with its last edit. */
  async messages(room) {
    const { chunk } = await this.call("GET", `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/messages?dir=b&limit=500`);
    const shown = new Map();
    for (const event of chunk.reverse()) {
      if (event.type !== "m.room.message" || !event.content.body) continue;
      const relation = event.content["m.relates_to"];
      if (relation?.rel_type === "m.replace") Object.assign(shown.get(relation.event_id) ?? {}, { content: event.content["m.new_content"], edits: 1 + (shown.get(relation.event_id)?.edits ?? 0) });
      else shown.set(event.event_id, { id: event.event_id, sender: event.sender, content: event.content, edits: 0 });
    }
    return [...shown.values()];
  }

  /** Waits for a message with these words. */
  see(room, words) {
    let seen = [];
    return until(words, async () => {
      seen = await this.messages(room);
      return seen.filter(({ content }) => content.body.includes(words)).pop();
    }, () => seen.map(({ content }) => content.body));
  }
}
