#!/usr/bin/env -S node --max-semi-space-size=4
// The command line: `askbridge-chat telegram` runs a bot, `askbridge-chat doctor` looks whether everything is set up.
// The flag keeps the memory of a thousand questions a quarter smaller: without it, Node collects garbage rarely.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import { Askbridge } from "@askbridge/client";
import { Askbridge as Local } from "@askbridge/client/local";

import { Secrets } from "./adapter.js";
import { Bot } from "./bot.js";
import { CHATS, type ChatKind } from "./chats.js";
import { examine } from "./doctor.js";
import { defaultPath, type Settings, SettingsError, readFile, settingsOf } from "./settings.js";
import { hold, StateFile } from "./state.js";

const KINDS = Object.keys(CHATS) as ChatKind[];

const HELP = `Answer the questions and permissions of coding agents in a chat

Usage: askbridge-chat ${KINDS.join("|")} [--config FILE]
       askbridge-chat doctor [CHAT] [--config FILE]

Options:
  --config FILE  The settings, as TOML or JSON [default: ${defaultPath({ HOME: "~" })}]
  --help         Print help
  --version      Print version

Each setting can be a variable as well, such as ASKBRIDGE_CHAT_TELEGRAM_TOKEN.
https://github.com/askbridge/askbridge/blob/main/docs/chat.md

Exit codes:
  0  the bot was ended by a signal; doctor found no problem
  1  the bot cannot go on; doctor found a problem
  2  the command line or the settings were not understood
`;

const say = (text: string) => process.stderr.write(`askbridge-chat: ${text}\n`);

async function main(): Promise<number> {
  let parsed;
  try {
    const options = { config: { type: "string" }, help: { type: "boolean" }, version: { type: "boolean" } } as const;
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    say((error as Error).message);
    return 2;
  }
  const { values, positionals } = parsed;
  const [command, chosen, ...more] = positionals;
  if (values.help) return print(HELP);
  if (values.version) return print(`${version()}\n`);
  const isDoctor = command === "doctor";
  const kind = isDoctor ? chosen : command;
  if (more.length || (!isDoctor && (chosen !== undefined || kind === undefined)) || (kind !== undefined && !isKind(kind))) {
    process.stderr.write(HELP);
    return 2;
  }
  try {
    const { table, warnings } = readFile(values.config, process.env);
    for (const warning of warnings) say(warning);
    if (!isDoctor) return await run(settingsOf(kind as ChatKind, table, process.env));
    const wanted = kind === undefined ? KINDS.filter(one => one in table) : [kind];
    if (!wanted.length) throw new SettingsError([`no chat is set up in ${values.config ?? defaultPath(process.env)}`]);
    const codes = [];
    for (const one of wanted) codes.push(await doctor(settingsOf(one, table, process.env)));
    return Math.max(...codes);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    for (const problem of error.problems) say(problem);
    return 2;
  }
}

const isKind = (name: string): name is ChatKind => name in CHATS;

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

const version = (): string => (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;

/** Finds the inbox of the settings, or that of this user. */
const finder = ({ inbox }: Settings) => () =>
  inbox ? new Askbridge(() => ({ url: inbox.url, token: readFileSync(inbox.tokenFile, "utf8").trim() })) : Local.local();

async function run(settings: Settings): Promise<number> {
  const secrets = new Secrets(settings.secrets);
  const report = (text: string) => say(secrets.hide(text));
  // Whatever a library throws, no token is in what is said of it.
  process.on("uncaughtException", error => {
    report(error.stack ?? String(error));
    process.exit(1);
  });
  try {
    const lock = await hold(`${settings.stateFile}.lock`);
    const adapter = await CHATS[settings.kind].load(settings.own, settings.policy);
    const bot = new Bot({ inbox: finder(settings), adapter, policy: settings.policy, state: new StateFile(settings.stateFile), report });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void bot.stop());
    await bot.start();
    await bot.ended;
    lock.close();
    return 0;
  } catch (error) {
    report(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

async function doctor(settings: Settings): Promise<number> {
  const secrets = new Secrets(settings.secrets);
  const adapter = await CHATS[settings.kind].load(settings.own, settings.policy);
  let code = 0;
  for await (const { isWell, text } of examine(settings.policy, adapter, finder(settings))) {
    process.stdout.write(`${settings.kind}  ${isWell ? "ok     " : "problem"}  ${secrets.hide(text)}\n`);
    if (!isWell) code = 1;
  }
  return code;
}

process.exitCode = await main();
// A library of a chat may keep a connection that nobody needs any more.
process.exit();
