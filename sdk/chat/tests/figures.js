// What the bot costs in each chat (CHATS="telegram slack"): the time from a tap to the agent's stdin, 1,000 open
// questions, and images. Each figure but the last has its goal.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Discord, PEOPLE, TEAM, TOKEN as DISCORD_TOKEN } from "./discord.js";
import { Machine, until } from "./machine.js";
import { png } from "./multipart.js";
import { APP_TOKEN, BOT_TOKEN, Slack } from "./slack.js";
import { Telegram, TOKEN } from "./telegram.js";

const TAPS = Number(process.env.TAPS ?? 30);
const MANY = Number(process.env.MANY ?? 1_000);
const IMAGES = Number(process.env.IMAGES ?? 30);

/** The chats: a stand-in, its settings, and a group of the size that it takes in a while (a minute of Telegram is 0.6 s here). */
const SPECS = {
  telegram: { make: () => new Telegram(), own: `token = "${TOKEN}"\nchats = ["-1"]\nusers = { "1" = "Ben" }`, root: "", busy: { limit: 20, window: 600 } },
  slack: { make: () => new Slack(), own: `bot-token = "${BOT_TOKEN}"\napp-token = "${APP_TOKEN}"\nchats = ["C0TEAM"]\nusers = { U01BEN = "Ben" }`, root: "/api", busy: { limit: 20, window: 600 } },
  discord: { make: () => new Discord(), own: `token = "${DISCORD_TOKEN}"\nchats = ["${TEAM}"]\nusers = { "${PEOPLE.ben.id}" = "Ben" }`, root: "/api", busy: { limit: 5, window: 150 } },
};

const set = (machine, kind, { url }, pace) => machine.set(`text = "all"\none-tap = "acts"\n[${kind}]\n${SPECS[kind].own}\napi-root = "${url}${SPECS[kind].root}"\npace = "${pace}"\n`);

const rss = pid => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const peak = pid => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const at = (times, share) => times.sort((a, b) => a - b)[Math.floor(times.length * share)].toFixed(1);

/** Fields of `askbridge mock-agent` name the option that was allowed as soon as the agent reads it. */
async function taps(kind) {
  const machine = await new Machine().start();
  const chat = await SPECS[kind].make().start();
  set(machine, kind, chat, 0);
  const bot = await machine.connected(kind);
  console.log(`${kind}: memory after the start: ${rss(bot.pid).toFixed(0)} MiB`);
  const times = [];
  const before = new Set();
  for (let round = 0; round < TAPS; round++) {
    const agent = machine.agent("permission");
    const message = await until("the permission", () => [...chat.messages.values()].find(one => !before.has(one) && chat.buttons(one).includes("Reject")), () => bot.said);
    before.add(message);
    const heard = new Promise(resolve => agent.stdout.on("data", () => /Permission: selected/.test(agent.said) && resolve(performance.now())));
    const start = performance.now();
    chat.tap("ben", message, "Reject");
    times.push((await heard) - start);
    agent.kill("SIGKILL");
  }
  console.log(`${kind}: from a tap to what the agent says of it: ${at(times, 0.5)} ms in the middle, ${at(times, 0.95)} ms of 95 % (150 ms)`);
  await machine.end();
  chat.end();
  assert.ok(Number(at(times, 0.95)) <= 150);
}

async function many(kind) {
  const machine = await new Machine().start();
  const chat = await SPECS[kind].make().start();
  Object.assign(chat, SPECS[kind].busy);
  set(machine, kind, chat, 31);
  const bot = await machine.connected(kind);
  const inbox = machine.client();
  const start = performance.now();
  for (let number = 0; number < MANY; number++) {
    const options = ["a", "b", "c"].map(value => ({ value, label: `Option ${value}`, description: "What it leads to, in a sentence." }));
    await inbox.keepQuestion({ agent: "agent", project: "/src/shop", message: "", fields: [{ name: "q0", kind: "choice", required: true, label: `Question ${number}?`, options }] });
  }
  const end = Date.now() + 20 * 60_000;
  while (chat.messages.size < MANY && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 100));
  console.log(`${kind}: ${chat.messages.size} messages of as many questions, ${chat.tooMany} requests too many, in ${((performance.now() - start) / 1000).toFixed(0)} s`);
  console.log(`${kind}: memory with ${MANY} open questions: ${rss(bot.pid).toFixed(0)} MiB, ${peak(bot.pid).toFixed(0)} MiB at most (120 MiB)`);
  assert.equal(chat.messages.size, MANY);
  assert.ok(peak(bot.pid) <= 120);
  bot.kill("SIGKILL");
  await bot.ended;
  const again = await machine.connected(kind);
  await until("what is open", () => /connected/.test(again.said));
  await new Promise(resolve => setTimeout(resolve, 3_000));
  console.log(`${kind}: after a restart: ${chat.messages.size} messages, memory ${rss(again.pid).toFixed(0)} MiB`);
  assert.equal(chat.messages.size, MANY);
  await machine.end();
  chat.end();
}

/** Images as large as askbridge takes them, one for each question. */
async function images(kind) {
  const machine = await new Machine().start();
  const chat = await SPECS[kind].make().start();
  set(machine, kind, chat, 0);
  const bot = await machine.connected(kind);
  const start = performance.now();
  for (let number = 0; number < IMAGES; number++) machine.publishes([png(1 + number, 100, 2_900_000)]);
  await until("the images", () => chat.images.length === IMAGES, () => [chat.images.length, bot.said]);
  console.log(`${kind}: ${IMAGES} images of 2.9 MB in ${((performance.now() - start) / 1000).toFixed(0)} s: ${rss(bot.pid).toFixed(0)} MiB afterwards, ${peak(bot.pid).toFixed(0)} MiB at most`);
  await machine.end();
  chat.end();
}

for (const kind of (process.env.CHATS ?? Object.keys(SPECS).join(" ")).split(" ")) {
  await taps(kind);
  await many(kind);
  await images(kind);
}
// A library of a chat may keep a connection that nobody needs any more.
process.exit();
