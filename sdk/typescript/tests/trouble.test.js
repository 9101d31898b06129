// Each question once and each end once, though the server is killed again and again; and no decision is guessed.
// KILLS says how often it is killed.

import assert from "node:assert/strict";
import { createServer, connect } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Askbridge } from "../dist/index.js";
import { Machine, until } from "./server.js";

const KILLS = Number(process.env.KILLS ?? 10);

const machine = new Machine();
before(() => machine.start());
after(() => machine.end());

/** The same moments in each run. */
let seed = 1;
const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;

/** What each question is asked for, and what the test says about its end. */
const ENDS = ["replied", "answered elsewhere", "withdrawn"];

test(`a server that is killed ${KILLS} times loses nothing and tells nothing twice`, { timeout: 120_000 + KILLS * 2_000 }, async t => {
  const inbox = machine.client();
  const asked = new Map();
  const told = [];
  const ended = [];
  const replies = [];
  const stops = [
    inbox.onQuestion(question => {
      told.push(question.text);
      // Some replies meet a dead server: they arrive once all the same.
      if (asked.get(question.text).end === "replied") replies.push(reply(question).catch(error => error));
    }),
    inbox.onResolved(({ question, outcome }) => ended.push([question.text, outcome])),
  ];
  t.after(() => stops.forEach(stop => stop()));
  // A server that is hardly ever there takes more patience than the library has: it says so, and the reply is repeated.
  let unconfirmed = 0;
  const reply = async question => {
    for (;;) {
      try {
        // A changed question is not a new one.
        await question.extend(60_000).catch(() => {});
        return await question.reply({ q0: "b" });
      } catch (error) {
        if (error.name !== "unconfirmed") throw error;
        unconfirmed++;
      }
    }
  };
  let number = 0;
  const answers = [];
  const open = () => [...asked].filter(([, { child }]) => child.exitCode === null && child.signalCode === null);
  for (let kill = 0; kill < KILLS; kill++) {
    for (let many = 0; many < 3; many++) {
      const label = `Question ${++number}?`;
      asked.set(label, { child: machine.ask(label), end: ENDS[number % 3] });
    }
    // The moments differ: before, while and after the questions are told.
    await sleep(random() * 250);
    await machine.kill();
    // Some end while there is no server: mostly those that were told.
    const ending = open().filter(([text, { end }]) => end !== "replied" && (told.includes(text) || random() < 0.2));
    for (const [, { child, end }] of ending.slice(0, 4)) {
      const id = /question (\S+) waits/.exec(child.said)?.[1];
      if (end === "withdrawn") child.kill("SIGTERM");
      else if (end === "answered elsewhere" && id) answers.push(machine.spawn(["answer", id, "a"]).ended);
    }
    await sleep(random() * 60);
    await machine.start();
    await Promise.all(answers.splice(0));
    if ((kill + 1) % 20) continue;
    // The library catches up when the server is there for a while.
    await Promise.all(replies);
    const isOver = text => asked.get(text).child.exitCode ?? asked.get(text).child.signalCode;
    const behind = () => told.filter(text => isOver(text) !== null && !ended.some(([other]) => other === text));
    await until("ends", () => behind().length === 0, behind);
    if ((kill + 1) % 100 === 0) console.log(`${kill + 1} kills: ${told.length} told, ${ended.length} ends, ${unconfirmed} unconfirmed`);
  }
  for (const [, { child, end }] of open()) {
    if (end === "withdrawn") child.kill("SIGTERM");
    else if (end === "answered elsewhere") {
      const id = await until("ID", () => /question (\S+) waits/.exec(child.said)?.[1], () => child.said);
      machine.spawn(["answer", id, "a"]);
    }
  }
  await Promise.all([...asked.values()].map(({ child }) => child.ended));
  assert.deepEqual((await Promise.all(replies)).filter(Boolean), []);
  const missing = () => told.filter(text => !ended.some(([other]) => other === text));
  await until("end of all", () => missing().length === 0, missing);

  const twice = texts => texts.filter((text, place) => texts.indexOf(text) !== place);
  assert.deepEqual(twice(told), [], "told twice");
  assert.deepEqual(twice(ended.map(([text]) => text)), [], "ended twice");
  for (const [text, outcome] of ended) {
    const { child, end } = asked.get(text);
    const value = { replied: "b", "answered elsewhere": "a" }[end];
    // What the asker says counts.
    const printed = child.said.trim().split("\n").at(-1);
    if (value) assert.deepEqual([printed, outcome], [value, { status: "answered", values: { q0: value } }], text);
    else assert.notEqual(outcome.status, "answered", text);
  }
  const silent = [...asked].filter(([text, { end }]) => end === "replied" && !told.includes(text));
  assert.deepEqual(silent, [], "what only this client answers was told");
  console.log(`${told.length} questions told, ${ended.length} ends, ${replies.length} replies, ${unconfirmed} of them unconfirmed at first`);
});

test("a question that ends while there is no server is told once, with its outcome", async () => {
  const inbox = machine.client();
  const told = [];
  const ended = [];
  const stops = [inbox.onQuestion(({ id }) => told.push(id)), inbox.onResolved(({ question, outcome }) => ended.push([question.id, outcome]))];
  try {
    const { child, id } = await opened("Who answers meanwhile?");
    const { child: other, id: open } = await opened("Who waits?");
    await until("both questions", () => told.length === 2, () => told);
    await machine.kill();
    machine.spawn(["answer", id, "a"]);
    await child.ended;
    await machine.start();
    await until("end", () => ended.length, () => ended);
    await inbox.replyQuestion(open, { q0: "b" });
    await other.ended;
    await until("second end", () => ended.length > 1, () => ended);
    assert.deepEqual(ended, [
      [id, { status: "answered", values: { q0: "a" } }],
      [open, { status: "answered", values: { q0: "b" } }],
    ]);
    assert.deepEqual(told, [id, open]);
  } finally {
    for (const stop of stops) stop();
  }
});

/** Passes bytes on to the inbox. `onReply` is called in the place of passing on what it responds to a reply. */
async function proxy(onReply) {
  const server = createServer(client => {
    const upstream = connect(machine.port, "127.0.0.1");
    let isReply = false;
    client.on("data", data => {
      isReply = /^POST \S*\/(reply|reject) /.test(data.toString("latin1"));
      upstream.write(data.toString("latin1").replace(/host: \S+/i, `host: 127.0.0.1:${machine.port}`), "latin1");
    });
    upstream.on("data", data => (isReply && onReply ? onReply(client) : client.write(data)));
    for (const socket of [client, upstream]) socket.on("error", () => {}).on("close", () => (client.destroy(), upstream.destroy()));
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const inbox = new Askbridge({ url: `http://127.0.0.1:${server.address().port}`, token: machine.token });
  return { inbox, close: () => (onReply = undefined), end: () => server.close() };
}

async function opened(label) {
  const child = machine.ask(label);
  const id = await until("ID", () => /question (\S+) waits/.exec(child.said)?.[1], () => child.said);
  const inbox = machine.client();
  await until("question", () => inbox.question(id).catch(() => undefined));
  return { child, id };
}

test("a reply whose response is lost is sent again", async () => {
  let losses = 0;
  const { inbox, close, end } = await proxy(client => {
    client.destroy();
    if (++losses === 3) close();
  });
  const { child, id } = await opened("Lost?");
  await inbox.replyQuestion(id, { q0: "a" });
  end();
  assert.equal(losses, 3);
  assert.equal(await child.ended, 0);
});

for (const [verb, decide, other] of [
  ["reply", (inbox, id) => inbox.replyQuestion(id, { q0: "a" }), undefined],
  ["rejection", (inbox, id) => inbox.rejectQuestion(id, "no"), undefined],
  ["reply that came second", (inbox, id) => inbox.replyQuestion(id, { q0: "a" }), "b"],
]) {
  test(`a ${verb} that was lost with the server is resolved from the history`, async () => {
    let isLost;
    const lost = new Promise(resolve => (isLost = resolve));
    const { inbox, close, end } = await proxy(client => {
      close();
      isLost(client);
    });
    const { child, id } = await opened(`Lost ${verb}?`);
    if (other) await machine.client().replyQuestion(id, { q0: other });
    if (other) await child.ended;
    const decided = decide(inbox, id).then(() => "decided", error => error);
    const client = await lost;
    // The asker has it and ends: no server remembers the question after this.
    await child.ended;
    await machine.kill();
    client.destroy();
    await machine.start();
    const result = await decided;
    end();
    if (!other) return assert.equal(result, "decided");
    assert.equal(result.name, "conflict");
    assert.deepEqual(result.outcome, { status: "answered", values: { q0: other } });
  });
}
