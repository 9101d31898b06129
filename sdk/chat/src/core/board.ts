// What the bot knows of its questions and messages, and what becomes of each event. It has no I/O and no clock: events and
// the time come in, effects come out, and `card` says what each message shows.

import type { Outcome, QuestionRecord, Settlement } from "@askbridge/client";

import { acts, type Doing, type Hand } from "./acts.js";
import { type Card, digestOf, type Limits } from "./card.js";
import { type Entry, type Kept, keyOf, readSlot, slotOf } from "./entry.js";
import type { BoardEvent, Effect } from "./events.js";
import { imageCards, outdatedCard } from "./images.js";
import { disclosureOf, type Policy, quietFor } from "./policy.js";
import { escalationCard, questionCard, type Scene, secondCard } from "./view.js";
import { ending } from "./words.js";

/** What the bot keeps over a restart. */
export interface BoardState {
  questions: Kept[];
  /** The IDs of the last taps and replies: one that comes again counts once. */
  acts: string[];
}

/** How many questions that are over are remembered, for taps that come late, and how many taps. */
const OVER = 1_000;
const ACTS = 500;

/** The questions and messages of one chat. */
export class Board {
  readonly #entries = new Map<string, Entry>();
  readonly #acts = new Set<string>();
  /** Whether all that is open is known. */
  #isKnown = false;

  /** `minuteOf` returns the minute of the day, where the bot runs. */
  constructor(
    private readonly policy: Policy,
    private readonly limits: Limits,
    private readonly minuteOf: (time: number) => number,
    state?: BoardState,
  ) {
    for (const kept of state?.questions ?? []) this.#entries.set(keyOf(kept.id), { ...kept, key: keyOf(kept.id) });
    for (const id of state?.acts ?? []) this.#acts.add(id);
  }

  /** Takes an event. Returns what has to be done, in order. */
  handle(event: BoardEvent, now: number): Effect[] {
    switch (event.type) {
      case "opened":
      case "changed":
        return this.#put(event.record, now);
      case "ended":
        return this.#end(event.record, event.outcome, event.settlement);
      case "snapshot":
        return this.#snapshot(new Set(event.open));
      case "forgotten":
        return this.#forget(event.id);
      case "posting":
      case "posted":
        return this.#posting(event.slot, event.type === "posting" ? 1 : -1);
      case "shown":
        return this.#shown(event.slot, event.ref, event.digest);
      case "lost":
        return this.#lost(event.slot);
      case "refused":
        return this.#refused(event.slot);
      case "time":
        return [...this.#entries.values()].flatMap(entry => this.#time(entry, now));
      default:
        return acts(event, this.#hand(now, chatOf(event)));
    }
  }

  /** Returns what a message shows; nothing if there shall be none. */
  card(slot: string): Card | undefined {
    const { key, kind, chat } = readSlot(slot);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const isThere = slot in entry.slots;
    // Before the inbox has told what became of it, nothing new is said.
    if ((!entry.record && !entry.isForgotten) || entry.isDone) return undefined;
    const scene = this.#scene(chat);
    if (kind === "image") return this.#imageCard(entry, slot, chat);
    if (kind === "second") return isThere || (entry.second?.chat === chat && entry.over === undefined) ? secondCard(entry, scene) : undefined;
    if (kind === "escalation") return isThere || (entry.escalatedAt !== undefined && entry.over === undefined) ? escalationCard(entry, scene) : undefined;
    return isThere || (entry.isDue && entry.over === undefined) ? questionCard(entry, scene) : undefined;
  }

  #scene = (chat: string): Scene => ({ policy: this.policy, limits: this.limits, chat });

  /** An image follows the message of its question, and stays where it is when the question ends. */
  #imageCard(entry: Entry, slot: string, chat: string): Card | undefined {
    if (entry.over !== undefined) return undefined;
    const { key, slots, unsent } = entry;
    const card = this.#isShowable(entry) ? imageCards(entry, chat).get(slot) : undefined;
    if (!card) return slot in slots ? outdatedCard : undefined;
    return slotOf(key, "question", chat) in slots && !unsent?.has(slot) ? card : undefined;
  }

  /** Whether images of a question may leave the machine. */
  #isShowable = ({ record, isRefused }: Entry): boolean => !!record && !isRefused && disclosureOf(this.policy, record) === "all";

  /** Returns the message that is there. */
  shown(slot: string): { ref: string; digest: string } | undefined {
    return this.#entries.get(readSlot(slot).key)?.slots[slot];
  }

  /** Whether the question of a message is over. */
  isOver(slot: string): boolean {
    return this.#entries.get(readSlot(slot).key)?.over !== undefined;
  }

  /** Returns the message that another one replies to. */
  above(slot: string): string | undefined {
    const { key, kind, chat } = readSlot(slot);
    return kind === "question" ? undefined : this.shown(slotOf(key, "question", chat))?.ref;
  }

  /** Returns a name that is the same for each attempt to post a message, and another one once that message was lost. */
  once(slot: string): string {
    return `${slot}.${this.#entries.get(readSlot(slot).key)?.losses ?? 0}`;
  }

  /** Returns the name of a message that is in the chat. */
  slotAt(chat: string, ref: string): string | undefined {
    for (const { slots } of this.#entries.values()) {
      for (const slot in slots) if (slots[slot]!.ref === ref && readSlot(slot).chat === chat) return slot;
    }
    return undefined;
  }

  /** Returns all messages that shall be there or are. */
  slots(): string[] {
    return [...this.#entries.values()].flatMap(entry => this.#slotsOf(entry));
  }

  /** Returns when `time` is due next. */
  nextTime(now: number): number | undefined {
    let next = Infinity;
    for (const entry of this.#entries.values()) {
      for (const time of this.#timesOf(entry, now)) next = Math.min(next, time);
    }
    return next === Infinity ? undefined : next;
  }

  /** Returns what to keep over a restart. */
  state(): BoardState {
    return { questions: [...this.#entries.values()].map(keptOf), acts: [...this.#acts] };
  }

  /** Returns what to keep of the question of a message; nothing if it is forgotten. */
  kept(slot: string): Kept | undefined {
    const entry = this.#entries.get(readSlot(slot).key);
    return entry && keptOf(entry);
  }

  /** How many questions are open. */
  get open(): number {
    return [...this.#entries.values()].filter(entry => entry.over === undefined).length;
  }

  #hand(now: number, chat: string): Hand {
    return {
      now,
      scene: this.#scene(chat),
      isKnown: this.#isKnown,
      find: key => this.#entries.get(key),
      findByMessage: (chat, ref) => {
        const slot = this.slotAt(chat, ref);
        return slot === undefined ? undefined : this.#entries.get(readSlot(slot).key);
      },
      isNew: id => {
        if (this.#acts.has(id)) return false;
        this.#acts.add(id);
        if (this.#acts.size > ACTS) this.#acts.delete(this.#acts.keys().next().value!);
        return true;
      },
      show: entry => this.#show(entry),
    };
  }

  /** Takes an open question. */
  #put(record: QuestionRecord, now: number): Effect[] {
    const key = keyOf(record.id);
    const edition = record.edition ?? 0;
    const opened = Date.parse(record.openedAt);
    const dueAt = (Number.isNaN(opened) ? now : Math.min(opened, now)) + this.policy.delayMs;
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = { id: record.id, key, edition, dueAt, isDue: false, draft: {}, at: 0, slots: {} };
      this.#entries.set(key, entry);
    }
    // One that was lost with its bridge may come back.
    for (const name of ["over", "isDone", "isForgotten"] as const) delete entry[name];
    if (entry.edition !== edition || entry.at > record.question.fields.length) {
      // What was chosen was for another text.
      Object.assign(entry, { edition, draft: {}, at: 0 });
      if (Object.keys(entry.slots).length) entry.note = "This has changed: read it again.";
      delete entry.second;
    }
    if (!entry.record) Object.assign(entry, { draft: { ...defaults(record), ...entry.draft } });
    entry.record = record;
    delete entry.unsent;
    return [...this.#time(entry, now), ...this.#show(entry)];
  }

  #end(record: QuestionRecord, outcome: Outcome, settlement: Settlement | undefined): Effect[] {
    const entry = this.#entries.get(keyOf(record.id));
    if (!entry || entry.isDone) return [];
    entry.record = record;
    return this.#close(entry, ending(record, outcome, settlement, disclosureOf(this.policy, record)));
  }

  #close(entry: Entry, over: string): Effect[] {
    entry.over = over;
    this.#forgetUnseen(entry);
    entry.draft = {};
    for (const name of ["second", "claim", "note", "sending"] as const) delete entry[name];
    this.#prune();
    return this.#show(entry);
  }

  #snapshot(open: Set<string>): Effect[] {
    this.#isKnown = true;
    const known = [...this.#entries.values()];
    const missing = known.filter(entry => !open.has(entry.id) && !entry.record && !entry.isDone);
    return missing.map(({ id }): Effect => ({ do: "recall", id }));
  }

  #forget(id: string): Effect[] {
    const entry = this.#entries.get(keyOf(id));
    if (!entry || entry.record || entry.isDone) return [];
    entry.isForgotten = true;
    return this.#close(entry, "It is over. How it ended is not known here.");
  }

  #posting(slot: string, more: number): Effect[] {
    const entry = this.#entries.get(readSlot(slot).key);
    if (!entry) return [];
    entry.posting = (entry.posting ?? 0) + more;
    this.#forgetUnseen(entry);
    return [];
  }

  /** Forgets a question that is over and that no message shows. */
  #forgetUnseen({ key, over, slots, posting = 0 }: Entry): void {
    if (over !== undefined && !Object.keys(slots).length && posting <= 0) this.#entries.delete(key);
  }

  #shown(slot: string, ref: string, digest: string): Effect[] {
    const { key, kind, chat } = readSlot(slot);
    const entry = this.#entries.get(key);
    if (!entry) return kind === "image" ? [] : [{ do: "clear", chat, ref }];
    const isNew = !(slot in entry.slots);
    entry.slots[slot] = { ref, digest };
    if (kind === "second" && !entry.second && this.#isShown(slot)) {
      // The next second step is a message of its own.
      delete entry.slots[slot];
      entry.losses = (entry.losses ?? 0) + 1;
    }
    if (entry.over !== undefined && Object.keys(entry.slots).every(one => this.#isShown(one))) {
      entry.isDone = true;
      delete entry.record;
    }
    if (!isNew || entry.over !== undefined) return [];
    // Images follow the message of their question, and the buttons follow the images.
    return kind === "question" ? this.#showImages(entry, chat) : kind === "image" ? [{ do: "show", slot: slotOf(key, "question", chat) }] : [];
  }

  #showImages(entry: Entry, chat: string): Effect[] {
    return this.#isShowable(entry) ? [...imageCards(entry, chat).keys()].map(slot => ({ do: "show", slot })) : [];
  }

  /** Whether a message shows what it shall show. */
  #isShown(slot: string): boolean {
    const card = this.card(slot);
    return !card || digestOf(card) === this.shown(slot)?.digest;
  }

  /** A message is gone. An open question gets another one: nobody may miss it. */
  #lost(slot: string): Effect[] {
    const { key, kind, chat } = readSlot(slot);
    const entry = this.#entries.get(key);
    if (!entry) return [];
    delete entry.slots[slot];
    entry.losses = (entry.losses ?? 0) + 1;
    if (kind === "second") delete entry.second;
    if (kind === "question") dropImages(entry, chat);
    this.#forgetUnseen(entry);
    if (entry.over !== undefined) return [];
    const question = slotOf(key, "question", chat);
    // Without the image, its question has no buttons that allow.
    return kind === "image" ? [{ do: "show", slot: question }, { do: "show", slot }] : [{ do: "show", slot }];
  }

  #refused(slot: string): Effect[] {
    const { key, kind, chat } = readSlot(slot);
    const entry = this.#entries.get(key);
    if (!entry || entry.isRefused) return [];
    if (kind === "image") {
      (entry.unsent ??= new Set()).add(slot);
      return [{ do: "show", slot: slotOf(key, "question", chat) }];
    }
    entry.isRefused = true;
    if (kind === "second") delete entry.second;
    return this.#show(entry);
  }

  /** Does what is due for a question. */
  #time(entry: Entry, now: number): Effect[] {
    if (entry.over !== undefined || !entry.record) return [];
    const { escalate, quiet } = this.policy;
    let isChanged = false;
    const isQuiet = quietFor(quiet, this.minuteOf(now)) > 0;
    if (!entry.isDue && now >= entry.dueAt && !isQuiet) {
      Object.assign(entry, { isDue: true, dueAt: now });
      isChanged = true;
    }
    if (entry.claim && now >= entry.claim.until) {
      delete entry.claim;
      delete entry.second;
      isChanged = true;
    }
    if (escalate && entry.escalatedAt === undefined && entry.isDue && !entry.claim && !isQuiet && now >= entry.dueAt + escalate.afterMs) {
      entry.escalatedAt = now;
      isChanged = true;
    }
    return isChanged ? this.#show(entry) : [];
  }

  #timesOf(entry: Entry, now: number): number[] {
    if (entry.over !== undefined || !entry.record) return [];
    const { escalate, quiet } = this.policy;
    // A minute that has begun counts from its beginning.
    const begun = ((now % 60_000) + 60_000) % 60_000;
    const afterQuiet = (time: number) => {
      const left = quietFor(quiet, this.minuteOf(Math.max(time, now)));
      return left ? Math.max(time, now + left * 60_000 - begun) : time;
    };
    return [
      ...(entry.isDue ? [] : [afterQuiet(entry.dueAt)]),
      ...(entry.claim ? [entry.claim.until] : []),
      ...(escalate && entry.escalatedAt === undefined && !entry.claim ? [afterQuiet(entry.dueAt + escalate.afterMs)] : []),
    ];
  }

  #show(entry: Entry): Effect[] {
    return this.#slotsOf(entry).map(slot => ({ do: "show", slot }));
  }

  #slotsOf(entry: Entry): string[] {
    const { escalate, chats } = this.policy;
    const { key, second, escalatedAt, slots } = entry;
    const wanted = chats.map(chat => slotOf(key, "question", chat));
    if (second) wanted.push(slotOf(key, "second", second.chat));
    if (escalate && escalatedAt !== undefined) {
      const there = escalate.chat && !chats.includes(escalate.chat) ? escalate.chat : undefined;
      if (there) wanted.push(slotOf(key, "question", there));
      wanted.push(slotOf(key, "escalation", there ?? chats[0]!));
    }
    const images = this.#isShowable(entry) ? wanted.filter(slot => readSlot(slot).kind === "question").flatMap(slot => [...imageCards(entry, readSlot(slot).chat).keys()]) : [];
    return [...new Set([...wanted, ...images, ...Object.keys(slots)])];
  }

  /** Forgets the oldest that are over. */
  #prune(): void {
    const over = [...this.#entries.values()].filter(entry => entry.over !== undefined);
    for (const entry of over.slice(0, Math.max(0, over.length - OVER))) this.#entries.delete(entry.key);
  }
}

/** The chat in which a person did something. */
const chatOf = (event: Doing): string => (event.type === "tap" ? event.tap : event.type === "reply" ? event.reply : event.type === "filled" ? event.filled : event.act).chat;

/** Forgets the images beside a message that is gone: they are no more, or would stand alone. */
function dropImages({ slots }: Entry, chat: string): void {
  for (const slot of Object.keys(slots)) {
    const { kind, chat: there } = readSlot(slot);
    if (kind === "image" && there === chat) delete slots[slot];
  }
}

/** Returns what is kept of a question: nothing that the inbox tells again. */
const keptOf = ({ key: _, record: __, note: ___, sending: ____, isForgotten: _____, isRefused: ______, posting: _______, unsent: ________, ...kept }: Entry): Kept => kept;

/** Returns the choices that a question has from the beginning, where several can be chosen. */
function defaults({ question }: QuestionRecord): Entry["draft"] {
  const chosen = question.fields.filter(field => field.kind === "choices" && field.default?.length && !field.secret);
  return Object.fromEntries(chosen.map(field => [field.name, (field as { default: string[] }).default]));
}
