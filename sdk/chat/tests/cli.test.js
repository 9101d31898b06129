// The command line, and what is wrong with settings, as a person sees it.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { Machine, until } from "./machine.js";
import { Telegram, TOKEN } from "./telegram.js";

const machine = new Machine();
after(() => machine.end());

const run = async (words, settings, name = "chat.toml") => {
  machine.config = join(machine.home, name);
  if (settings !== undefined) writeFileSync(machine.config, settings, { mode: 0o600 });
  const bot = machine.bot(words);
  return { code: await bot.ended, said: bot.said };
};

test("the command line", async () => {
  for (const [words, code, said] of [
    [["--help"], 0, /^Answer the questions/],
    [["--version"], 0, /^\d+\.\d+\.\d+\n$/],
    [[], 2, /Usage: askbridge-chat telegram/],
    [["irc"], 2, /Usage:/],
    [["telegram", "matrix"], 2, /Usage:/],
    [["doctor", "irc"], 2, /Usage:/],
    [["telegram", "--colour"], 2, /Unknown option '--colour'/],
    [["doctor"], 2, /no chat is set up in /],
  ]) {
    const seen = await run(words, "");
    assert.equal(seen.code, code, `${words}: ${seen.said}`);
    assert.match(seen.said, said);
  }
});

test("what is wrong with the settings is named with its place, and never quoted", async () => {
  const secret = "123456:AAH-secret-secret";
  for (const [settings, said, name] of [
    [`[telegram]\ntoken = "${secret}\nchats = []`, /chat\.toml is not TOML: line 2, column \d+\n$/],
    [`{"telegram": {"token": "${secret}"`, /chat\.json is not JSON\n$/, "chat.json"],
    [`[telegram]\ntoken = "${secret}"\nchats = ["1"]\nusers = {}\ncolour = "red"`, /telegram\.colour: there is no such setting.*\n.*telegram\.users: needs at least one person/],
    [`text = "all"\n[telegram]\nchats = ["1"]\nusers = { "1" = "Ben" }`, /telegram\.token: is missing: set it in the file, or ASKBRIDGE_CHAT_TELEGRAM_TOKEN/],
    [`[matrix]\ntoken = "${secret}"\nchats = ["!a:b"]\nusers = { "@ben:b" = "Ben" }`, /matrix\.homeserver: is missing/],
  ]) {
    const seen = await run([/matrix/.test(settings) ? "matrix" : "telegram"], settings, name);
    assert.equal(seen.code, 2, seen.said);
    assert.match(seen.said, said);
    assert.ok(!seen.said.includes(secret), seen.said);
  }
  const missing = join(machine.home, "nowhere.toml");
  machine.config = missing;
  const bot = machine.bot("telegram");
  assert.equal(await bot.ended, 2);
  assert.ok(bot.said.includes(`cannot read ${missing}`), bot.said);
});

test("a bot that starts before its chat and before the inbox finds both", async () => {
  const telegram = await new Telegram().start();
  const { port } = telegram.server.address();
  const settings = `{"text": "all", "telegram": {"token": "${TOKEN}", "api-root": "${telegram.url}", "pace": "0", "chats": [1], "users": {"1": "Ben"}}}`;
  telegram.end();
  machine.config = join(machine.home, "chat.json");
  writeFileSync(machine.config, settings);
  chmodSync(machine.config, 0o644);
  const bot = machine.bot("telegram");
  await until("a sentence", () => /Telegram is not reached; trying again/.test(bot.said), () => bot.said);
  assert.match(bot.said, /chat\.json has a token, and others can read it: chmod 600/);
  await telegram.start(port);
  await until("a sentence", () => /no inbox runs in .*; waiting for one/.test(bot.said), () => bot.said);
  await machine.start();
  const child = machine.ask("At last?", ["a"]);
  const message = await until("the message", () => telegram.find("At last?"), () => bot.said);
  telegram.tap("ben", message, "a");
  assert.equal(await child.ended, 0);
  assert.equal(await machine.stopBot(bot), 0);
  telegram.end();
});
