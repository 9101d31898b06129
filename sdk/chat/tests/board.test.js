// What transcripts do not show: answers that are on their way, taps that come twice, what is kept, and limits at their edge.

import assert from "node:assert/strict";
import { test } from "node:test";

import { plain } from "../dist/core/card.js";
import { limits } from "../dist/telegram/render.js";
import { policy, World } from "./world.js";

const labels = world => world.buttons().map(({ label }) => label);
const find = (world, label) => world.buttons().find(button => button.label === label);

test("where the second message has no room for the whole, there is no button that allows", () => {
  const [least, most] = [0, 1_000];
  const seen = new Set();
  for (let room = least; room < most; room++) {
    const world = new World(policy(), { ...limits, fits: card => plain(card.blocks).length <= room });
    world.open("dangerous", "p-1");
    const allow = find(world, "Allow once");
    seen.add(!!allow);
    assert.ok(find(world, "Reject"), `room for ${room}`);
    if (!allow) continue;
    world.tap("1", allow);
    const second = [...world.messages.values()].pop();
    assert.ok(second.slot.includes("!"), `no second message in a room for ${room}`);
    assert.ok(plain(second.card.blocks).includes("`rm` removes or moves files"));
  }
  assert.deepEqual([...seen], [false, true]);
  // Where the message itself fits, and the second one does not.
  const world = new World(policy(), { ...limits, fits: card => !plain(card.blocks).includes("Read all of it first") });
  world.open("dangerous", "p-1");
  assert.deepEqual(labels(world), ["Reject"]);
  world.open("risky", "q-1");
  world.tap("1", find(world, "orders"));
  assert.equal(world.told, "It is too long to be answered here: decide at a computer.");
  assert.deepEqual(world.taken, []);
});

test("while an answer is on its way, no other one is sent", () => {
  const world = new World(policy({ users: new Map([["1", "Ben"], ["2", "Ada"]]) }));
  world.connect();
  world.open("choice", "q-1");
  const [pg, lite] = [find(world, "Postgres"), find(world, "SQLite")];
  world.isInstant = false;
  world.tap("1", pg);
  world.tap("2", lite);
  assert.equal(world.told, "Ben has just answered.");
  assert.equal(world.underway.length, 1);
  world.arrive();
  assert.deepEqual(world.taken.map(({ decision }) => decision.values), [{ q0: "pg" }]);
});

test("a tap that comes twice counts once, also after a restart", () => {
  const world = new World();
  world.open("choices", "q-1");
  world.tap("1", find(world, "☐ Login"), "same");
  world.tap("1", find(world, "☑ Login"), "same");
  assert.ok(find(world, "☑ Login"));
  world.restart();
  world.tap("1", find(world, "☑ Login"), "same");
  assert.ok(find(world, "☑ Login"));
});

test("what is over is kept without its text, and nothing is kept of what was never posted", () => {
  const world = new World(policy({ delayMs: 5_000 }));
  world.open("dangerous", "p-1");
  world.settle("p-1", { status: "answered", values: { q0: "allow-once" } });
  assert.deepEqual(world.board.state().questions, []);
  world.open("dangerous", "p-2");
  world.pass(6_000);
  assert.ok(!JSON.stringify(world.board.state()).includes("rm -rf"), "the text is kept");
  world.settle("p-2", { status: "answered", values: { q0: "allow-once" } });
  const [kept] = world.board.state().questions;
  assert.deepEqual([kept.id, kept.isDone, kept.over], ["p-2", true, "Allowed on the page: Allow once"]);
  assert.ok(!JSON.stringify(world.board.state()).includes("rm -rf"), "the text is kept");
});

test("a thousand that are over are remembered, and no more", () => {
  const world = new World();
  for (let number = 0; number < 1_200; number++) {
    world.open("choice", `q-${number}`);
    world.settle(`q-${number}`, { status: "rejected", reason: "withdrawn" });
  }
  assert.equal(world.board.state().questions.length, 1_000);
});

test("with more options than buttons, a number in reply chooses", () => {
  const options = Array.from({ length: 30 }, (_, place) => ({ value: `v${place}`, label: `Option ${place}` }));
  const world = new World(policy(), { ...limits, buttons: 20 });
  const fields = [{ kind: "choice", name: "q0", label: "Which?", required: true, other: false, options }];
  world.open("choice", "q-1", { question: { fields } });
  assert.deepEqual(labels(world), ["Reject"]);
  world.reply("1", "1", "17");
  assert.deepEqual(world.taken[0].decision.values, { q0: "v16" });
});

test("a form of the chat answers all fields at once, and says what is wrong", () => {
  const world = new World(policy(), { ...limits, formFields: 5 });
  world.open("form", "q-1");
  world.tap("1", find(world, "Fill in …"));
  assert.deepEqual(world.form.fields.map(({ name, kind, required }) => [name, kind, required]), [["f0", "choice", true], ["f1", "choices", false], ["f2", "text", false]]);
  world.fill("1", { f0: "", f1: ["#1"], f2: "x" });
  assert.equal(world.told, "Where?: it needs an answer.");
  world.fill("1", { f0: "#0", f1: ["#1", "#0"], f2: "With care" });
  assert.deepEqual(world.taken[0].decision.values, { where: "eu", what: ["web", "api"], note: "With care" });
});

test("a question that was posted twice by a kill is answered from either message, and both lose their buttons", () => {
  const world = new World();
  world.open("choice", "q-1");
  const [name, first] = [...world.messages][0];
  const copy = { ...first, ref: "99", slot: undefined };
  world.messages.set("room#99", copy);
  world.tap("1", { ...first.card.rows[0][0], chat: "room", ref: "99" });
  assert.deepEqual(world.taken.map(({ decision }) => decision.values), [{ q0: "pg" }]);
  for (const one of [name, "room#99"]) assert.deepEqual(world.messages.get(one).card.rows, [], one);
});

test("whoever opens a form keeps the question from the others", () => {
  const world = new World(policy({ users: new Map([["1", "Ben"], ["2", "Ada"]]) }), { ...limits, formFields: 5 });
  world.open("form", "q-1");
  world.tap("1", find(world, "Fill in …"));
  world.tap("2", find(world, "Fill in …"));
  assert.equal(world.told, "Ben is answering.");
  assert.ok([...world.messages.values()].some(({ card }) => plain(card.blocks).includes("Ben is answering.")));
});

test("an image that is gone, or is another one by now, takes the buttons that allow; each chat has its own images", () => {
  const world = new World(policy({ chats: ["room", "other"] }));
  world.connect();
  world.open("pictured", "q-1");
  const cards = chat => [...world.messages.values()].filter(one => one.chat === chat);
  const labelsOf = chat => cards(chat).flatMap(({ card }) => card.rows.flat().map(({ label }) => label));
  for (const chat of ["room", "other"]) assert.deepEqual([cards(chat).length, labelsOf(chat)], [2, ["Red", "Blue", "Reject"]]);
  // A person deletes it in one chat, which tells so, and the chat takes no other one.
  const image = cards("room").find(({ card }) => card.image);
  const red = find(world, "Red");
  const early = world.buttons().find(({ label, chat }) => label === "Red" && chat === "room");
  world.messages.delete(`room#${image.ref}`);
  world.refusesImages = true;
  world.hear({ type: "lost", slot: image.slot });
  assert.deepEqual([labelsOf("room"), labelsOf("other")], [["Reject"], ["Red", "Blue", "Reject"]]);
  world.tap("1", early);
  assert.equal(world.told, "That is not possible any more.");
  assert.deepEqual(world.taken, []);
  // What the chat did not take is not kept: after a restart it is tried again.
  world.refusesImages = false;
  world.restart();
  assert.deepEqual(labelsOf("room"), ["Red", "Blue", "Reject"]);
  world.tap("1", red);
  assert.deepEqual(world.taken.map(({ decision }) => decision.values), [{ q0: "red" }]);
});

test("settings that tell less take the images away", () => {
  const world = new World();
  world.connect();
  world.open("images", "p-1");
  assert.equal([...world.messages.values()].filter(({ card }) => card.image).length, 2);
  world.policy = policy({ text: "title" });
  world.restart();
  assert.equal([...world.messages.values()].filter(({ card }) => card.image).length, 0);
  assert.ok(!JSON.stringify([...world.messages.values()].map(({ card }) => card)).includes("before.png"));
});
