// What the bot costs: the time from a tap to the agent's stdin, and 1,000 open questions. Each figure has its goal.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Machine, until } from "./machine.js";
import { Telegram, TOKEN } from "./telegram.js";

const TAPS = Number(process.env.TAPS ?? 30);
const MANY = Number(process.env.MANY ?? 1_000);

const rss = pid => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const peak = pid => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;
const at = (times, share) => times.sort((a, b) => a - b)[Math.floor(times.length * share)].toFixed(1);

/** Fields of `askbridge mock-agent` name the option that was allowed as soon as the agent reads it. */
async function taps() {
  const machine = await new Machine().start();
  const telegram = await new Telegram().start();
  machine.set(`text = "all"\none-tap = "acts"\n[telegram]\ntoken = "${TOKEN}"\napi-root = "${telegram.url}"\npace = "0"\nchats = ["1"]\nusers = { "1" = "Ben" }\n`);
  const bot = await machine.connected("telegram");
  console.log(`memory after the start: ${rss(bot.pid).toFixed(0)} MiB`);
  const times = [];
  const before = new Set();
  for (let round = 0; round < TAPS; round++) {
    const agent = machine.agent("permission");
    const message = await until("the permission", () => [...telegram.messages.values()].find(one => !before.has(one.message_id) && telegram.buttons(one).includes("Reject")), () => bot.said);
    before.add(message.message_id);
    const heard = new Promise(resolve => agent.stdout.on("data", () => /Permission: selected/.test(agent.said) && resolve(performance.now())));
    const start = performance.now();
    telegram.tap("ben", message, "Reject");
    times.push((await heard) - start);
    agent.kill("SIGKILL");
  }
  console.log(`from a tap to what the agent says of it: ${at(times, 0.5)} ms in the middle, ${at(times, 0.95)} ms of 95 % (150 ms)`);
  await machine.end();
  telegram.end();
  assert.ok(Number(at(times, 0.95)) <= 150);
}

/** A group takes 20 messages a minute of a bot; the stand-in takes as many in 0.6 s, so that this does not take an hour. */
async function many() {
  const machine = await new Machine().start();
  const telegram = await new Telegram().start();
  Object.assign(telegram, { limit: 20, window: 600 });
  machine.set(`text = "all"\n[telegram]\ntoken = "${TOKEN}"\napi-root = "${telegram.url}"\npace = "31"\nchats = ["-1"]\nusers = { "1" = "Ben" }\n`);
  const bot = await machine.connected("telegram");
  const inbox = machine.client();
  const start = performance.now();
  for (let number = 0; number < MANY; number++) {
    const options = ["a", "b", "c"].map(value => ({ value, label: `Option ${value}`, description: "What it leads to, in a sentence." }));
    await inbox.keepQuestion({ agent: "agent", project: "/src/shop", message: "", fields: [{ name: "q0", kind: "choice", required: true, label: `Question ${number}?`, options }] });
  }
  const posts = () => telegram.calls.filter(({ method }) => method === "sendMessage").length;
  const end = Date.now() + 20 * 60_000;
  while (telegram.messages.size < MANY && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 100));
  console.log(`${telegram.messages.size} questions, ${posts()} requests to post, ${telegram.tooMany} of them too many, in ${((performance.now() - start) / 1000).toFixed(0)} s`);
  console.log(`memory with ${MANY} open questions: ${rss(bot.pid).toFixed(0)} MiB, ${peak(bot.pid).toFixed(0)} MiB at most (120 MiB)`);
  assert.equal(telegram.messages.size, MANY);
  assert.ok(peak(bot.pid) <= 120);
  bot.kill("SIGKILL");
  await bot.ended;
  const again = await machine.connected("telegram");
  await until("what is open", () => /connected/.test(again.said));
  await new Promise(resolve => setTimeout(resolve, 3_000));
  console.log(`after a restart: ${telegram.messages.size} messages, memory ${rss(again.pid).toFixed(0)} MiB`);
  assert.equal(telegram.messages.size, MANY);
  await machine.end();
  telegram.end();
}

await taps();
await many();
