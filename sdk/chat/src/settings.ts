// The settings: one file, and the environment over it. A mistake is named with its place.

import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";

import { CHATS, type ChatKind, type ChatSpec } from "./chats.js";
import type { Disclosure, DisclosureRule, Policy, Span } from "./core/policy.js";

type Table = Record<string, unknown>;

/** What the bot needs to know. */
export interface Settings {
  kind: ChatKind;
  policy: Policy;
  /** What is the chat's own, such as its token. */
  own: Record<string, string>;
  /** What must be in no log. */
  secrets: string[];
  /** The inbox, if not that of this user on this machine. */
  inbox?: { url: string; tokenFile: string };
  /** Where the bot keeps its messages. */
  stateFile: string;
}

/** What is wrong with the settings. Each is a sentence. */
export class SettingsError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join("\n"));
    this.name = "SettingsError";
  }
}

export type Environment = Record<string, string | undefined>;

/** Returns where the file is, if it is not named. */
export function defaultPath(environment: Environment): string {
  return join(environment["XDG_CONFIG_HOME"] || join(environment["HOME"] || homedir(), ".config"), "askbridge", "chat.toml");
}

/** Reads the file. One that nobody named may be missing: the environment may say everything. */
export function readFile(path: string | undefined, environment: Environment): { table: Table; warnings: string[] } {
  const used = path ?? defaultPath(environment);
  let text: string;
  try {
    text = readFileSync(used, "utf8");
  } catch (error) {
    if (path === undefined && (error as NodeJS.ErrnoException).code === "ENOENT") return { table: {}, warnings: [] };
    throw new SettingsError([`cannot read ${used}: ${(error as Error).message}`]);
  }
  const warnings = /token\s*[=:"]/.test(text) && statSync(used).mode & 0o077 ? [`${used} has a token, and others can read it: chmod 600 ${used}`] : [];
  try {
    const table = (used.endsWith(".json") ? JSON.parse(text) : parse(text)) as Table;
    return { table, warnings };
  } catch (error) {
    // The message of a parser may quote the line, and so a token: only the place is said.
    const { line, column } = error as { line?: number; column?: number };
    throw new SettingsError([`${used} is not ${used.endsWith(".json") ? "JSON" : "TOML"}${line ? `: line ${line}, column ${column}` : ""}`]);
  }
}

/** Reads what the settings say of one chat. */
export function settingsOf(kind: ChatKind, table: Table, environment: Environment): Settings {
  const reader = new Reader(environment);
  const spec = CHATS[kind];
  const top = reader.table("", table, ["text", "delay", "quiet", "claim", "one-tap", "texts", "server", ...Object.keys(CHATS)]);
  const chat = reader.table(kind, top[kind], ["chats", "users", "escalate", ...Object.keys(spec.own)]);
  const own = reader.own(kind, spec, chat);
  const users = reader.users(kind, chat["users"]);
  const chats = reader.texts(`${kind}.chats`, chat["chats"], `${kind.toUpperCase()}_CHATS`);
  if (!chats.length) reader.wrong(`${kind}.chats`, "needs the ID of at least one chat");
  if (!users.size) reader.wrong(`${kind}.users`, 'needs at least one person who may answer, such as { "12345" = "Ben" }');
  const escalate = reader.escalate(`${kind}.escalate`, chat["escalate"], users);
  const policy: Policy = {
    chat: spec.name,
    chats,
    users,
    text: reader.word("text", top["text"], ["none", "title", "all"], "none", "TEXT") as Disclosure,
    rules: reader.rules(top["texts"]),
    delayMs: reader.duration("delay", top["delay"], 0, "DELAY"),
    quiet: reader.quiet(top["quiet"]),
    claimMs: reader.duration("claim", top["claim"], 10 * 60_000, "CLAIM"),
    oneTap: reader.word("one-tap", top["one-tap"], ["plain", "acts"], "plain", "ONE_TAP") as Policy["oneTap"],
    ...(escalate && { escalate }),
  };
  const inbox = reader.inbox(top["server"]);
  if (reader.problems.length) throw new SettingsError(reader.problems);
  const state = environment["XDG_STATE_HOME"] || join(environment["HOME"] || homedir(), ".local", "state");
  const secrets = Object.entries(spec.own).flatMap(([name, { isSecret }]) => (isSecret && own[name] ? [own[name]] : []));
  return { kind, policy, own, secrets, ...(inbox && { inbox }), stateFile: join(state, "askbridge", `chat-${kind}.json`) };
}

/** Reads values, and collects what is wrong. */
class Reader {
  readonly problems: string[] = [];

  constructor(private readonly environment: Environment) {}

  wrong(place: string, text: string): void {
    this.problems.push(`${place}: ${text}`);
  }

  #variable(name: string | undefined): string | undefined {
    return name === undefined ? undefined : this.environment[`ASKBRIDGE_CHAT_${name}`] || undefined;
  }

  table(place: string, value: unknown, names: string[]): Table {
    if (value === undefined) return {};
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.wrong(place, "must be a table");
      return {};
    }
    for (const name of Object.keys(value)) {
      if (!names.includes(name)) this.wrong(place ? `${place}.${name}` : name, `there is no such setting; there are ${names.join(", ")}`);
    }
    return value as Table;
  }

  text(place: string, value: unknown, variable?: string): string | undefined {
    const given = this.#variable(variable) ?? value;
    if (given === undefined || typeof given === "string") return given;
    this.wrong(place, "must be a text");
    return undefined;
  }

  texts(place: string, value: unknown, variable?: string): string[] {
    const set = this.#variable(variable);
    const given = set === undefined ? (value ?? []) : set.split(",").map(part => part.trim()).filter(Boolean);
    if (Array.isArray(given) && given.every(one => typeof one === "string" || Number.isSafeInteger(one))) return given.map(String);
    this.wrong(place, "must be a list of texts");
    return [];
  }

  word(place: string, value: unknown, words: string[], otherwise: string, variable?: string): string {
    const given = this.text(place, value, variable) ?? otherwise;
    if (words.includes(given)) return given;
    this.wrong(place, `must be ${words.join(" or ")}`);
    return otherwise;
  }

  duration(place: string, value: unknown, otherwise: number, variable?: string): number {
    const given = this.text(place, value, variable);
    if (given === undefined) return otherwise;
    const [, number, unit] = /^(\d{1,6})(ms|s|m|h)$/.exec(given) ?? [];
    if (number) return Number(number) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[unit as "s"];
    this.wrong(place, 'must be a time such as "90s", "10m" or "2h"');
    return otherwise;
  }

  quiet(value: unknown): Span[] {
    return this.texts("quiet", value, "QUIET").flatMap(text => {
      const [, h1, m1, h2, m2] = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(text) ?? [];
      const [from, to] = [Number(h1) * 60 + Number(m1), Number(h2) * 60 + Number(m2)];
      if (Number(m1) < 60 && Number(m2) < 60 && from < 1440 && to <= 1440) return [{ from, to: to % 1440 }];
      this.wrong("quiet", 'must be hours such as "22:00-07:00"');
      return [];
    });
  }

  users(kind: string, value: unknown): Map<string, string> {
    const set = this.#variable(`${kind.toUpperCase()}_USERS`);
    const pairs = set === undefined ? Object.entries(this.#people(kind, value)) : set.split(",").map(part => part.split("="));
    const users = new Map<string, string>();
    for (const [id = "", name] of pairs) {
      if (id.trim() && typeof name === "string" && name.trim()) users.set(id.trim(), name.trim());
      else this.wrong(`${kind}.users`, "each ID needs a name, which the history shows");
    }
    return users;
  }

  #people(kind: string, value: unknown): Table {
    if (value === undefined) return {};
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Table;
    this.wrong(`${kind}.users`, 'must be a table such as { "12345" = "Ben" }');
    return {};
  }

  escalate(place: string, value: unknown, users: Map<string, string>): Policy["escalate"] {
    if (value === undefined) return undefined;
    const table = this.table(place, value, ["after", "to", "chat"]);
    const to = this.text(`${place}.to`, table["to"]) ?? "";
    if (!users.has(to)) this.wrong(`${place}.to`, "must be the ID of one of the users");
    const chat = this.text(`${place}.chat`, table["chat"]);
    const afterMs = this.duration(`${place}.after`, table["after"], 10 * 60_000);
    return { afterMs, to, ...(chat !== undefined && { chat }) };
  }

  rules(value: unknown): DisclosureRule[] {
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      this.wrong("texts", "must be a list of tables: [[texts]]");
      return [];
    }
    return value.map((entry, number) => {
      const place = `texts[${number}]`;
      const table = this.table(place, entry, ["folder", "machine", "kinds", "text"]);
      const folder = this.text(`${place}.folder`, table["folder"]);
      if (folder !== undefined && !folder.startsWith("/")) this.wrong(`${place}.folder`, "must be an absolute path");
      const machine = this.text(`${place}.machine`, table["machine"]);
      const kinds = table["kinds"] === undefined ? undefined : this.texts(`${place}.kinds`, table["kinds"]);
      const text = this.word(`${place}.text`, table["text"], ["none", "title", "all"], "none") as Disclosure;
      return { text, ...(folder !== undefined && { folder }), ...(machine !== undefined && { machine }), ...(kinds && { kinds }) };
    });
  }

  /** Reads what is the chat's own. A secret may be in a file of its own. */
  own(kind: ChatKind, { own }: ChatSpec, table: Table): Record<string, string> {
    const values: Record<string, string> = {};
    for (const [name, { isRequired, isSecret }] of Object.entries(own)) {
      const variable = `${kind}_${name}`.toUpperCase().replaceAll("-", "_");
      const value = this.text(`${kind}.${name}`, table[name], variable);
      if (value !== undefined) values[name] = value;
      else if (isRequired) this.wrong(`${kind}.${name}`, `is missing: set it in the file${isSecret ? `, or ASKBRIDGE_CHAT_${variable}` : ""}`);
    }
    return values;
  }

  inbox(value: unknown): Settings["inbox"] {
    const table = this.table("server", value, ["url", "token-file"]);
    const url = this.text("server.url", table["url"], "SERVER_URL");
    const tokenFile = this.text("server.token-file", table["token-file"], "SERVER_TOKEN_FILE");
    if (url === undefined && tokenFile === undefined) return undefined;
    if (url !== undefined && tokenFile !== undefined) return { url, tokenFile };
    this.wrong("server", "needs both url and token-file");
    return undefined;
  }
}
