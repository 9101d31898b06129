// A tap, an answer over HTTP and the asker's withdrawal at the same moment, with the real inbox: one of them counts, and each
// learns it. RACES says how often; `../../run races` does this 1,000 times.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Machine, until } from "../machine.js";
import { Telegram, TOKEN } from "../telegram.js";

const RACES = Number(process.env.RACES ?? 100);

const machine = new Machine();
const telegram = new Telegram();
let bot;
before(async () => {
  await Promise.all([machine.start(), telegram.start()]);
  machine.set(`text = "all"\n[telegram]\ntoken = "${TOKEN}"\napi-root = "${telegram.url}"\npace = "0"\nchats = ["1"]\nusers = { "1" = "Ben" }\n`);
  bot = await machine.connected("telegram");
});
after(async () => {
  await machine.end();
  telegram.end();
});

test(`${RACES} races`, { timeout: 60_000 + RACES * 2_000 }, async () => {
  const inbox = machine.client();
  const won = { tap: 0, http: 0, withdrawal: 0 };
  const options = ["tap", "http"].map(value => ({ value, label: value }));
  for (let race = 0; race < RACES; race++) {
    const label = `Who is first in ${race}?`;
    const { id } = await inbox.keepQuestion({ message: "", fields: [{ name: "q0", label, kind: "choice", required: true, options }] });
    const message = await until(label, () => telegram.find(label), () => bot.said);
    // A tap takes the way over the chat and the bot, so the others wait for as long in some races.
    const pause = (race * 7) % 8;
    const late = doing => new Promise(resolve => setTimeout(resolve, pause)).then(doing).then(() => "done", error => error.name);
    const tap = telegram.tap("ben", message, "tap");
    const [http, withdrawal] = await Promise.all([
      race % 3 === 1 ? "none" : late(() => inbox.replyQuestion(id, { q0: "http" })),
      race % 3 === 0 ? "none" : late(() => inbox.withdrawQuestion(id)),
    ]);
    const outcome = await inbox.waitFor(id);
    const counts = outcome.status === "answered" ? outcome.values.q0 : "withdrawal";
    won[counts]++;
    const told = await until("an answer to the tap", () => telegram.told("ben", tap)[0], () => bot.said);
    const where = `race ${race}: ${counts} counts, the tap was told "${told}", http ${http}, withdrawal ${withdrawal}`;
    assert.equal(told === "Sent.", counts === "tap", where);
    if (counts !== "tap") assert.match(told, /^Too late/, where);
    assert.equal(http === "done", counts === "http", where);
    if (withdrawal !== "none") assert.equal(withdrawal === "done", counts === "withdrawal", where);
    const ending = { tap: "Answered by Ben in Telegram: tap", http: "Answered over HTTP: http", withdrawal: "The agent took it back." }[counts];
    await until(ending, () => message.text.includes(ending) && !telegram.buttons(message).length, () => [where, message.text]);
  }
  console.log(`won by the tap, over HTTP, and by the withdrawal: ${Object.values(won)}`);
  assert.equal(telegram.calls.filter(({ method }) => method === "sendMessage").length, RACES);
  assert.ok(Object.values(won).every(count => count > 0 || RACES < 100), JSON.stringify(won));
});
