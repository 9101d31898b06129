// Random orders of what persons, the page, the agent, the chat and restarts do, against an oracle. RACES says how many.

import assert from "node:assert/strict";
import { test } from "node:test";

import { plain } from "../dist/core/card.js";
import { keyOf, readData, readSlot } from "../dist/core/entry.js";
import { limits } from "../dist/telegram/render.js";
import { SAMPLES } from "./samples.js";
import { policy, World } from "./world.js";

const RACES = Number(process.env.RACES ?? 300);
const FIRST = Number(process.env.SEED ?? 1);
const NAMES = [...Object.keys(SAMPLES), "dangerous", "dangerous", "risky", "acts", "grants"];
const TEXTS = ["1", "no, because", "Postgres", "8080", "yes", "a text", "1,2"];

/** How often each kind of step is taken: mostly, messages arrive and persons tap. */
const TURNS = [0, 0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 9, 10, 10, 10, 10, 10, 11, ...Array(16).fill(12), ...Array(16).fill(13)];

/** Numbers that look random, the same for the same seed. */
function random(seed) {
  let state = seed >>> 0;
  return most => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}

/** What a decision does. */
const role = ({ fields: [field] }, { values }) => field.options?.find(({ value }) => value === values[field.name])?.role ?? "";

class Race {
  seen = [];
  samples = new Map();
  /** By question: what each edition of it has beyond its sample. */
  editions = new Map();
  deleted = new Map();
  /** What was tapped: by the ID of the tap, the button and what its message said at that moment. */
  taps = new Map();
  #taps = 0;

  constructor(seed) {
    this.seed = seed;
    this.pick = random(seed);
    const users = new Map([["1", "Ben"], ["2", "Ada"]].slice(0, 1 + this.pick(2)));
    const most = [4_096, 400, 150][this.pick(3)];
    const fits = card => plain(card.blocks).length <= most;
    const text = ["all", "all", "all", "title", "none"][this.pick(5)];
    const escalate = this.pick(2) ? { escalate: { afterMs: 60_000, to: "1", ...(this.pick(2) && { chat: "other" }) } } : {};
    this.world = new World(policy({ users, text, oneTap: ["plain", "acts"][this.pick(2)], ...escalate }), { ...limits, fits, formFields: this.pick(2) * 5 });
    this.world.isInstant = false;
    this.world.connect();
  }

  /** What a question has at an edition: an image that is another one, or the same. */
  images(name, variant) {
    const { images } = SAMPLES[name];
    return images ? { question: { images: images.map((image, place) => ({ ...image, digest: `sha256:${place ? 0 : variant}${place}` })) } } : {};
  }

  one = list => (list.length ? list[this.pick(list.length)] : undefined);

  open(isOver) {
    return [...this.world.questions.entries()].filter(([, { settlement }]) => !settlement !== isOver).map(([id]) => id);
  }

  step() {
    const { world } = this;
    const ids = this.open(false);
    const user = this.one(["1", "1", "1", "2", "9"]);
    switch (this.one(TURNS)) {
      case 0:
        if (world.questions.size >= 4) return;
        const [name, id] = [this.one(NAMES), `q-${world.questions.size}`];
        this.samples.set(id, name);
        this.editions.set(id, [this.images(name, 0)]);
        return world.open(name, id, this.images(name, 0));
      case 1:
        return void (world.refusesImages = !this.pick(3));
      case 2:
        return ids.length ? world.settle(this.one(ids), { status: "answered", values: {} }) : undefined;
      case 3:
        return ids.length ? world.settle(this.one(ids), { status: "rejected", reason: "withdrawn" }, { responder: "bridge" }, undefined, this.pick(3) > 0) : undefined;
      case 4: {
        if (!ids.length) return;
        const changed = this.one(ids);
        const name = this.samples.get(changed);
        const more = this.images(name, this.pick(3));
        this.editions.get(changed).push(more);
        return world.change(name, changed, more);
      }
      case 5:
        return world.reply(user, String(1 + this.pick(8)), this.one(TEXTS), this.one(["room", "other"]));
      case 6:
        return void world.restart();
      case 7: {
        if (!world.messages.size) return;
        const [name, message] = this.one([...world.messages]) ?? [];
        if (!name || !message.slot) return;
        this.deleted.set(message.slot, 1 + (this.deleted.get(message.slot) ?? 0));
        world.messages.delete(name);
        // Some chats tell it.
        return this.pick(2) && world.board.shown(message.slot)?.ref === message.ref ? world.hear({ type: "lost", slot: message.slot }) : undefined;
      }
      case 8:
        return world.pass([1_000, 61_000, 700_000][this.pick(3)]);
      case 9:
        return world.form && this.pick(2) ? world.fill(user, Object.fromEntries(world.form.fields.map(({ name, options }) => [name, options[0]?.value ?? "1"]))) : undefined;
      case 10:
        return world.arrive();
      case 11:
        return world.connect();
      case 12:
        return world.waiting.size ? world.deliverOne() : undefined;
      default:
        return this.tap(user);
    }
  }

  /** A person taps a button that is there, or one that was there, perhaps twice. */
  tap(user) {
    // A person may tap what a deleted message, or an earlier edition of one, has said.
    const said = ({ chat, ref }) => plain(this.world.messages.get(`${chat}#${ref}`).card.blocks);
    const now = this.world.buttons().map(button => ({ ...button, said: said(button) }));
    this.seen.push(...now);
    const second = now.filter(({ slot }) => slot && readSlot(slot).kind === "second");
    const button = this.one(this.pick(8) === 0 ? this.seen : second.length && this.pick(3) ? second : now);
    if (!button) return;
    const id = `x${++this.#taps}`;
    this.taps.set(id, { button, user, said: button.said });
    this.world.tap(user, button, id);
    if (!this.pick(5)) this.world.tap(user, button, id);
  }

  finish() {
    const { world } = this;
    for (const id of this.open(false)) world.settle(id, { status: "rejected", reason: "withdrawn" }, { responder: "bridge" }, undefined, this.pick(2) > 0);
    while (world.underway.length) world.arrive();
    world.deliver();
    world.restart();
    world.deliver();
  }

  check() {
    const { world } = this;
    const where = `seed ${this.seed}:\n${world.lines.join("\n")}`;
    const ids = world.taken.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, `answered twice: ${where}`);
    for (const { id, by, decision, act } of world.taken) {
      const name = world.policy.users.get(act.user);
      assert.equal(by, `${name} in Telegram`, where);
      if (decision.kind === "answer") this.checkAllowed(id, decision, act, where);
    }
    for (const { card, slot, ref } of world.messages.values()) {
      assert.deepEqual(card.rows.flat(), [], `buttons of ${slot} ${ref} are there: ${where}`);
    }
    const posted = new Map();
    for (const line of world.lines) {
      const [, chat, ref] = /^ {2}(\w+)#(\d+) new$/.exec(line) ?? [];
      const slot = ref && (world.messages.get(`${chat}#${ref}`)?.slot ?? undefined);
      if (slot && readSlot(slot).kind === "question") posted.set(slot, 1 + (posted.get(slot) ?? 0));
    }
    for (const [slot, count] of posted) assert.equal(count, 1, `${slot} is there ${count} times: ${where}`);
  }

  /** What is dangerous was allowed by a tap in a second message that had the whole text (I12). */
  checkAllowed(id, decision, act, where) {
    const question = SAMPLES[this.samples.get(id)];
    // Whatever has images is answered where all of them are.
    for (const { digest } of this.editions.get(id)[decision.seen].question?.images ?? []) {
      const isThere = this.world.images.some(one => one.id === id && one.chat === act.chat && one.digest === digest);
      assert.ok(isThere || role(question, decision).startsWith("reject"), `answered without its image ${digest}: ${where}`);
    }
    const [field] = question.fields;
    const option = field.options?.find(({ value }) => value === decision.values[field.name]);
    const does = role(question, decision);
    if (question.purpose !== "permission" && !question.dangerous) return;
    if (does.startsWith("reject")) return;
    const tapped = this.taps.get(act.id);
    assert.ok(tapped, `allowed without a tap: ${where}`);
    assert.ok(!["cut", "recording"].includes(this.samples.get(id)), `allowed though it was not shown whole: ${where}`);
    assert.equal(readData(tapped.button.data).key, keyOf(id), where);
    const isOneTap = question.risk === "plain" || (question.risk === "acts" && this.world.policy.oneTap === "acts");
    if (isOneTap && does === "allow_once") return;
    assert.equal(readSlot(tapped.button.slot).kind, "second", `allowed in one step: ${where}`);
    for (const words of [question.subject?.command, question.riskReason, ...(option?.grants ?? [])]) {
      if (words) assert.ok(tapped.said.includes(words), `allowed without ${words}: ${where}`);
    }
  }
}

test(`${RACES} random races, from seed ${FIRST}`, { timeout: 60_000 + RACES * 100 }, () => {
  let taken = 0;
  let allowed = 0;
  for (let seed = FIRST; seed < FIRST + RACES; seed++) {
    const race = new Race(seed);
    for (let step = 0; step < 120; step++) {
      try {
        race.step();
      } catch (error) {
        throw new Error(`seed ${seed}: ${error.stack}\n${race.world.lines.join("\n")}`);
      }
    }
    race.finish();
    race.check();
    taken += race.world.taken.length;
    allowed += race.world.taken.filter(({ act }) => /\.!/.test(race.taps.get(act.id)?.button.data ?? "")).length;
  }
  console.log(`${taken} decisions, ${allowed} of them by a second message`);
  assert.ok(taken >= RACES / 3 && allowed > 0, "the races decide too little to say anything");
});
