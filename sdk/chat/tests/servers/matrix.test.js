// Matrix with a real server and two real clients. `../../run matrix` starts it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Machine, until } from "../machine.js";
import { png } from "../multipart.js";
import { Synapse } from "../synapse.js";

const machine = new Machine();
const synapse = new Synapse();
let bot, ben, ada, eve, robot, room;

const settings = (more = "") => `text = "all"
${more}
[matrix]
homeserver = "${synapse.url}"
token = "${robot.token}"
pace = "0"
chats = ["${room}"]
users = { "${ben.id}" = "Ben", "${ada.id}" = "Ada" }
`;
const keys = ({ content }) => (content["dev.askbridge.keys"] ?? []).map(({ key, label }) => `${key} ${label}`);

before(async () => {
  await Promise.all([machine.start(), synapse.start()]);
  [ben, ada, eve, robot] = [await synapse.person("ben"), await synapse.person("ada"), await synapse.person("eve"), await synapse.person("robot")];
  room = await ben.makeRoom({ name: "Team", invite: [ada.id, eve.id, robot.id] });
  for (const person of [ada, eve]) await person.call("POST", `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/join`, {});
  machine.set(settings());
  bot = await machine.connected("matrix");
});
after(async () => {
  await machine.end();
  await synapse.end();
});

test("a question is answered by a reaction, and another person sees how it ended", async () => {
  const child = machine.ask("Which **database**?", ["SQLite", "Postgres"]);
  const message = await ada.see(room, "Which database?");
  assert.deepEqual(keys(message), ["1️⃣ SQLite", "2️⃣ Postgres", "❌ Reject", "✋ I answer this"]);
  assert.match(message.content.formatted_body, /<strong>database<\/strong>/);
  assert.deepEqual(message.content["m.mentions"], {});
  await ben.react(room, message.id, "2️⃣");
  assert.equal(await child.ended, 0);
  assert.match(child.said, /Postgres/);
  const ended = await ada.see(room, "Answered by Ben in Matrix: Postgres");
  assert.deepEqual([ended.id, keys(ended)], [message.id, []]);
  assert.match(await machine.history(), /answered by JSON-RPC \(Ben in Matrix\): Postgres/);
  await ada.reply(room, message.id, "1");
  await ada.see(room, "Too late. Answered by Ben in Matrix");
});

test("who is not in the list is told no", async () => {
  const child = machine.ask("Who asks?", ["a"]);
  const message = await ben.see(room, "Who asks?");
  await eve.react(room, message.id, "1️⃣");
  await eve.see(room, "You may not answer here.");
  await ben.reply(room, message.id, "no, not today");
  assert.notEqual(await child.ended, 0);
  await ada.see(room, "Rejected by Ben in Matrix: not today");
});

test("what is dangerous takes a second message, and keeps the others from it meanwhile", async () => {
  const agent = machine.agent("dangerous");
  const message = await ben.see(room, "rm -rf build");
  await ben.react(room, message.id, "1️⃣");
  const second = await ben.see(room, "Allow once? Read all of it first.");
  assert.ok(second.content.body.includes("Remove the build folder"), second.content.body);
  await ada.see(room, "Ben is answering.");
  await ada.react(room, second.id, "✅");
  await until("the sentence", async () => (await ada.messages(room)).some(({ content }) => content.body === "Ben is answering."));
  assert.ok(!/Permission: selected/.test(agent.said));
  await ben.reply(room, second.id, "yes");
  await until("the answer", () => /Permission: selected allow-once/.test(agent.said), () => agent.said);
  await ada.see(room, "It is over: see above.");
});

test("toggles, and a text with markup", async () => {
  const child = machine.ask("Which parts?", ["api", "web"], ["--many"]);
  const message = await ben.see(room, "Which parts?");
  await ben.reply(room, message.id, "web");
  await ben.see(room, "☑ web");
  await ben.react(room, message.id, "📨");
  assert.equal(await child.ended, 0);
  assert.match(child.said, /^web$/m);

  const agent = machine.agent("free question");
  const asked = await ben.see(room, "Reply to this message with your answer");
  await ben.reply(room, asked.id, "Ship <b>it</b> @room");
  await until("the answer", () => agent.said.includes("Ship <b>it</b> @room"), () => agent.said);
});

test("images are in the room before the answers that allow, also over a kill; one that the server does not take allows nothing", async () => {
  const images = async () => (await ben.messages(room)).filter(({ content }) => content.msgtype === "m.image");
  const agent = machine.publishes([png(640, 480), png(2, 3, 1_000_000)]);
  const message = await ben.see(room, "Image 2: PNG, 2×3, shots/2.png");
  // What is posted is changed once its images are there.
  await until("the answers", async () => keys((await ben.messages(room)).find(({ id }) => id === message.id)).includes("1️⃣ Allow"));
  const there = await images();
  assert.deepEqual(there.map(({ content }) => [content.body, content.filename, content.info, content["m.relates_to"]["m.in_reply_to"].event_id]), [
    ["Image 1: PNG, 640×480, shots/1.png", "image-1.png", { mimetype: "image/png", size: png(640, 480).length, w: 640, h: 480 }, message.id],
    ["Image 2: PNG, 2×3, shots/2.png", "image-2.png", { mimetype: "image/png", size: png(2, 3, 1_000_000).length, w: 2, h: 3 }, message.id],
  ]);
  assert.ok((await ada.download(there[1].content.url)).equals(png(2, 3, 1_000_000)));
  bot.kill("SIGKILL");
  await bot.ended;
  bot = await machine.connected("matrix");
  await ben.react(room, message.id, "1️⃣");
  const second = await ben.see(room, "Allow? Read all of it first.");
  await ben.react(room, second.id, "✅");
  await until("the answer", () => /"optionId":"a"/.test(agent.said), () => agent.said);
  assert.equal((await images()).length, 2);

  const large = machine.publishes([png(9, 9, 2_500_000)]);
  const asked = await ben.see(room, "1 image is not shown here.");
  assert.deepEqual(keys(asked), ["❌ Reject", "✋ I answer this"]);
  assert.match(bot.said, /an image is not shown: the Matrix server does not take a message, because it is too long/);
  await ben.react(room, asked.id, "❌");
  await until("the answer", () => /"(cancelled|optionId":"r)"/.test(large.said), () => large.said);
  assert.equal((await images()).length, 2);
});

test("restarts of the bot, the inbox and the server: one message each, and what was said meanwhile counts", async () => {
  const inbox = machine.client();
  const fields = [{ name: "q0", label: "Still there?", kind: "boolean", required: true }];
  const kept = await inbox.keepQuestion({ fields }, { key: "kept" });
  const gone = await inbox.keepQuestion({ fields: [{ ...fields[0], label: "Gone soon?" }] }, { key: "gone" });
  const [first, second] = [await ben.see(room, "Still there?"), await ben.see(room, "Gone soon?")];
  await until("its name", () => machine.state("matrix").questions.filter(({ over }) => over === undefined).length === 2);
  await machine.stopBot(bot);
  await inbox.rejectQuestion(gone.id);
  await ben.react(room, first.id, "1️⃣");
  await synapse.kill();
  await synapse.run();
  bot = await machine.connected("matrix");
  assert.deepEqual(await inbox.waitFor(kept.id), { status: "answered", values: { q0: true } });
  assert.equal((await ben.see(room, "Rejected over HTTP")).id, second.id);
  const all = await ben.messages(room);
  for (const words of ["Still there?", "Gone soon?"]) assert.equal(all.filter(({ content }) => content.body.includes(words)).length, 1, words);

  const child = machine.ask("Over a kill?", ["a"]);
  const message = await ben.see(room, "Over a kill?");
  bot.kill("SIGKILL");
  await bot.ended;
  bot = await machine.connected("matrix");
  await machine.kill();
  await machine.start();
  child.kill("SIGKILL");
  await ben.see(room, "It is over");
  assert.equal((await ben.messages(room)).filter(({ content }) => content.body.includes("Over a kill?") || content.body.includes("It is over. How")).length, 1, message.id);
});

test("a message that a person deletes is posted again", async () => {
  const child = machine.ask("Deleted?", ["a"]);
  const message = await ben.see(room, "Deleted?");
  await ben.redact(room, message.id);
  const other = await until("another", async () => (await ben.messages(room)).find(({ id, content }) => id !== message.id && content.body.includes("Deleted?")));
  await ben.react(room, other.id, "1️⃣");
  assert.equal(await child.ended, 0);
});

test("a bot that was put out, an encrypted room, and a token that was revoked: a clear sentence each", async () => {
  await ben.call("POST", `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/kick`, { user_id: robot.id });
  const child = machine.ask("Kicked?", ["a"]);
  await until("a sentence", () => /the bot may not write in its room \(.*\): invite it there/.test(bot.said), () => bot.said);
  const doctor = machine.bot(["doctor", "matrix"]);
  assert.equal(await doctor.ended, 1);
  assert.match(doctor.said, /problem +the bot is not in !.*: invite @robot/);
  await ben.call("POST", `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/invite`, { user_id: robot.id });
  await machine.stopBot(bot);
  bot = await machine.connected("matrix");
  const message = await ben.see(room, "Kicked?");
  await ben.react(room, message.id, "1️⃣");
  assert.equal(await child.ended, 0);
  await machine.stopBot(bot);

  const plain = room;
  room = await ben.makeRoom({ invite: [robot.id], initial_state: [{ type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } }] });
  machine.set(settings());
  bot = await machine.connected("matrix");
  const secret = machine.ask("Encrypted?", ["a"]);
  await until("a sentence", () => /is encrypted, and the bot cannot read such rooms/.test(bot.said), () => bot.said);
  assert.ok(!(await ben.messages(room)).some(({ sender }) => sender === robot.id));
  await machine.stopBot(bot);
  room = plain;
  machine.set(settings());
  bot = await machine.connected("matrix");
  await robot.call("POST", "/_matrix/client/v3/logout", {});
  assert.equal(await bot.ended, 1);
  assert.match(bot.said, /the Matrix server refuses the token: sign the bot in again/);
  assert.ok(!bot.said.includes(robot.token));
  secret.kill("SIGINT");
});

test("the limits that a server has by default: each question is posted, once", async () => {
  const strict = await new Synapse().start({ limits: "" });
  const other = await new Machine().start();
  try {
    const [owner, bot] = [await strict.person("ben"), await strict.person("robot")];
    const team = await owner.makeRoom({ invite: [bot.id] });
    other.set(`text = "all"\n[matrix]\nhomeserver = "${strict.url}"\ntoken = "${bot.token}"\nchats = ["${team}"]\nusers = { "${owner.id}" = "Ben" }\n`);
    const process = await other.connected("matrix");
    const inbox = other.client();
    for (let number = 0; number < 14; number++) await inbox.keepQuestion({ message: "", fields: [{ name: "q0", kind: "boolean", label: `Question ${number}?` }] });
    const posted = async () => (await owner.messages(team)).filter(({ content }) => content.body.includes("Question "));
    const all = await until("all questions", async () => {
      const seen = await posted();
      return seen.length >= 14 && seen;
    }, () => process.said);
    assert.equal(new Set(all.map(({ content }) => content.body)).size, 14);
    assert.ok(!process.said.includes("problem"), process.said);
  } finally {
    await other.end();
    await strict.end();
  }
});
