// A chat and an inbox in memory, with a clock that only the test moves: what persons see there is what the board says.

import { Board } from "../dist/core/board.js";
import { digestOf, plain } from "../dist/core/card.js";
import { readSlot } from "../dist/core/entry.js";
import { limits as telegramLimits } from "../dist/telegram/render.js";
import { record } from "./samples.js";

export const START = Date.parse("2026-01-01T09:00:00Z");

export const policy = (more = {}) => ({
  chat: "Telegram",
  chats: ["room"],
  users: new Map([["1", "Ben"]]),
  text: "all",
  rules: [],
  delayMs: 0,
  quiet: [],
  claimMs: 600_000,
  oneTap: "plain",
  ...more,
});

/** Shows a message as lines. */
export function draw({ blocks, rows, file, image }) {
  const mark = image ? "(image) " : "| ";
  const text = blocks.flatMap(block => plain([block]).split("\n").map(line => `${block.folded ? "> " : mark}${line}`.trimEnd()));
  const buttons = rows.map(row => row.map(({ label }) => `[${label}]`).join(" "));
  return [...text, ...(file ? [`(file ${file.name}, ${file.text.length} characters)`] : []), ...buttons];
}

export class World {
  now = START;
  lines = [];
  /** What is in the chat: by chat and ID. */
  messages = new Map();
  /** The inbox: how each question ended, once it did. */
  questions = new Map();
  /** What persons decided and the inbox took. */
  taken = [];
  /** Answers that are on their way, where they do not arrive at once. */
  underway = [];
  /** Messages that are to be brought up to date. */
  waiting = new Set();
  isInstant = true;
  /** Which images came into which chat. */
  images = [];
  #acts = 0;
  #refs = 0;

  constructor(settings = policy(), limits = telegramLimits) {
    this.policy = settings;
    this.limits = limits;
    this.#start();
  }

  #start(state) {
    const minuteOf = time => Math.floor(time / 60_000) % 1440;
    this.board = new Board(this.policy, this.limits, minuteOf, state);
  }

  say(line) {
    this.lines.push(line);
  }

  /** The bot is killed and starts again, with what it kept. What was on its way is lost. */
  restart() {
    const state = JSON.parse(JSON.stringify(this.board.state()));
    this.waiting.clear();
    this.#start(state);
    this.underway = [];
    this.connect();
  }

  /** The inbox tells what is open. */
  connect() {
    const open = [...this.questions.values()].filter(({ settlement }) => !settlement);
    for (const { record } of open) this.hear({ type: "opened", record });
    this.hear({ type: "snapshot", open: open.map(({ record }) => record.id) });
  }

  hear(event) {
    for (const effect of this.board.handle(event, this.now)) this.#do(effect);
    if (this.isInstant) this.deliver();
  }

  #do(effect) {
    switch (effect.do) {
      case "show":
        return void this.waiting.add(effect.slot);
      case "tell":
        this.told = effect.text;
        return effect.text ? this.say(`  ${this.nameOf(effect.act.user)} is told: ${effect.text}`) : undefined;
      case "form":
        this.form = effect.form;
        return this.say(`  form ${effect.form.title}: ${effect.form.fields.map(({ name, kind }) => `${name} (${kind})`).join(", ")}`);
      case "clear":
        return this.write(effect.chat, effect.ref, { blocks: [], rows: [] });
      case "decide":
        this.underway.push(effect);
        return this.isInstant ? this.arrive() : undefined;
      case "recall": {
        const found = this.questions.get(effect.id);
        if (!found) return this.hear({ type: "forgotten", id: effect.id });
        return found.settlement ? this.hear({ type: "ended", record: found.record, ...found.end }) : this.hear({ type: "opened", record: found.record });
      }
    }
  }

  nameOf = user => ({ 1: "ben", 2: "ada", 9: "eve" })[user] ?? user;

  /** Brings all messages up to date. */
  deliver() {
    while (this.waiting.size) this.deliverOne();
  }

  deliverOne() {
    const [slot] = this.waiting;
    this.waiting.delete(slot);
    const card = this.board.card(slot);
    const shown = this.board.shown(slot);
    if (!card) return;
    const { chat } = readSlot(slot);
    const digest = digestOf(card);
    if (shown?.digest === digest) return this.hear({ type: "shown", slot, ...shown });
    if (shown && !card.image && readSlot(slot).kind === "image") return this.detach(chat, shown.ref, slot);
    if (card.image && this.refusesImages) {
      this.say("  chat refuses an image");
      return this.hear({ type: "refused", slot });
    }
    if (shown && !this.messages.has(`${chat}#${shown.ref}`)) return this.hear({ type: "lost", slot });
    const ref = shown?.ref ?? String(++this.#refs);
    this.write(chat, ref, card, slot);
    this.hear({ type: "shown", slot, ref, digest });
    this.waiting.add(slot);
  }

  /** An image that is no part of its question any more is taken away. */
  detach(chat, ref, slot) {
    this.messages.delete(`${chat}#${ref}`);
    this.say(`  ${chat}#${ref} gone`);
    this.hear({ type: "lost", slot });
  }

  write(chat, ref, card, slot) {
    const name = `${chat}#${ref}`;
    const before = this.messages.get(name);
    if (card.image) this.images.push({ chat, ...card.image });
    this.messages.set(name, { chat, ref, card, slot: slot ?? before?.slot });
    this.say(`  ${name} ${before ? "now" : "new"}`);
    for (const line of draw(card)) this.say(`    ${line}`);
  }

  /** The oldest answer that is on its way reaches the inbox, and its result the bot. */
  arrive() {
    const effect = this.underway.shift();
    if (!effect) return;
    const { id, act, by, decision } = effect;
    const found = this.questions.get(id);
    const refuse = (why, text) => this.hear({ type: "decided", id, act, refusal: { why, text } });
    if (!found || found.settlement) return refuse("late", "Too late: somebody else has answered this.");
    if (decision.kind === "answer" && decision.seen !== (found.record.edition ?? 0)) return refuse("changed", "Not sent: this has changed since. Read it again.");
    if (this.refusesNext) {
      const text = this.refusesNext;
      this.refusesNext = undefined;
      return refuse("wrong", text);
    }
    this.taken.push({ id, by, decision, act });
    const outcome = decision.kind === "reject" ? { status: "rejected", reason: "user" } : { status: "answered", values: decision.values };
    this.say(`  inbox: ${id} ${decision.kind === "reject" ? "rejected" : JSON.stringify(decision.values)} by ${by}${decision.reason ? `: ${decision.reason}` : ""}`);
    this.settle(id, outcome, { responder: "rpc", name: by }, decision.reason);
    this.hear({ type: "decided", id, act });
  }

  open(sample, id, more = {}) {
    const opened = record(sample, id, { openedAt: new Date(this.now).toISOString(), ...more });
    this.questions.set(id, { record: opened });
    this.hear({ type: "opened", record: opened });
  }

  change(sample, id, more = {}) {
    const found = this.questions.get(id);
    found.record = record(sample, id, { openedAt: found.record.openedAt, edition: (found.record.edition ?? 0) + 1, ...more });
    this.hear({ type: "changed", record: found.record });
  }

  /** A question ends, somewhere. `isHeard` is false where the bot does not hear of it. */
  settle(id, outcome, by = { responder: "page" }, remark, isHeard = true) {
    const found = this.questions.get(id);
    const settlement = { at: "2026-01-01T10:00:00Z", by, outcome, ...(remark && { remark }) };
    found.settlement = settlement;
    found.end = { outcome, settlement };
    if (isHeard) this.hear({ type: "ended", record: found.record, outcome, settlement });
  }

  /** Returns the buttons that are in the chat now, newest last. */
  buttons() {
    return [...this.messages.values()].flatMap(({ chat, ref, card, slot }) => card.rows.flat().map(button => ({ ...button, chat, ref, slot })));
  }

  tap(user, { data, chat, ref }, id = `t${++this.#acts}`) {
    this.hear({ type: "tap", tap: { id, chat, user, data, ref } });
  }

  /** A person taps the newest button with this label. */
  tapLabel(user, label) {
    const button = this.buttons().filter(one => one.label === label).pop();
    if (!button) throw new Error(`no button ${label} in ${JSON.stringify(this.buttons().map(one => one.label))}`);
    this.last = button;
    this.tap(user, button);
  }

  reply(user, ref, text, chat = "room") {
    this.hear({ type: "reply", reply: { id: `t${++this.#acts}`, chat, user, text, to: ref } });
  }

  fill(user, values) {
    const { data } = this.form;
    this.hear({ type: "filled", filled: { id: `t${++this.#acts}`, chat: "room", user, data, values } });
  }

  /** Time passes; what is due on the way is done when it is due. */
  pass(milliseconds) {
    const end = this.now + milliseconds;
    for (;;) {
      const next = this.board.nextTime(this.now);
      if (next === undefined || next > end) break;
      this.now = Math.max(next, this.now + 1);
      this.hear({ type: "time" });
    }
    this.now = end;
  }
}

/** Returns what writes the card of a sample for a chat. */
export const cardFor = (chat, limits) => (name, question = {}) => {
  const world = new World(policy({ chat }), limits);
  world.open(name, "q-1", { question });
  return [...world.messages.values()][0].card;
};
