// Connects the inbox, the board and a chat: it carries out what the board wants done, and decides nothing.

import { Askbridge, AskbridgeError, type InboxEvent } from "@askbridge/client";
import { createHash } from "node:crypto";

import { type Adapter, ChatError, type Heard } from "./adapter.js";
import { Board } from "./core/board.js";
import type { CardImage } from "./core/card.js";
import type { Act, BoardEvent, Decision, Effect, Refusal } from "./core/events.js";
import type { Policy } from "./core/policy.js";
import { asChatError, Courier } from "./courier.js";
import type { StateFile } from "./state.js";

/** What a bot is made of. */
export interface BotParts {
  /** Finds the inbox; called again until it is found. */
  inbox(): Promise<Askbridge> | Askbridge;
  adapter: Adapter;
  policy: Policy;
  state: StateFile;
  /** Says something to the person who runs the bot. */
  report(text: string): void;
}

/** How often an inbox is looked for, and a question that its machine does not tell of. */
const LOOK_AGAIN = 2_000;
const RECALL_AGAIN = 60_000;
/** The longest sleep: the clock may be set meanwhile. */
const LONGEST_SLEEP = 60_000;
/** How long, and how much of what persons did waits until it is known what is open. */
const EARLY = 10_000;
const MOST_EARLY = 100;
/** Of how many persons it is said that they may not answer. */
const MOST_STRANGERS = 100;
/** How soon what changed is written, besides the names of messages, which are written at once. */
const WRITE_AFTER = 2_000;

/** A bot for one chat. */
export class Bot {
  readonly #board: Board;
  readonly #courier: Courier;
  readonly #stop = new AbortController();
  #inbox: Askbridge | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  readonly #strangers = new Set<string>();
  #waking: NodeJS.Immediate | undefined;
  #writer: NodeJS.Timeout | undefined;
  /** What persons did before it is known what is open; it waits for that, but not for long. */
  #early: Heard[] | undefined = [];
  #earlyTimer: NodeJS.Timeout | undefined;
  #position: string | undefined;
  #ended!: (error?: Error) => void;
  /** Fulfilled once the bot has ended; rejected if it cannot go on. */
  readonly ended: Promise<void>;

  constructor(private readonly parts: BotParts) {
    const { adapter, policy, state } = parts;
    const minuteOf = (time: number) => new Date(time).getHours() * 60 + new Date(time).getMinutes();
    const kept = state.read();
    this.#position = kept?.position;
    this.#board = new Board(policy, adapter.limits, minuteOf, kept);
    this.#save();
    this.#courier = new Courier({
      adapter,
      board: this.#board,
      load: image => this.#load(image),
      hear: event => this.#hear(event),
      report: text => parts.report(text),
      fail: error => this.#fail(error),
    });
    this.ended = new Promise((resolve, reject) => (this.#ended = error => (error ? reject(error) : resolve())));
    this.ended.catch(() => {});
  }

  /** Begins. Returns once the chat is connected. */
  async start(): Promise<void> {
    const { adapter, report } = this.parts;
    this.#earlyTimer = setTimeout(() => this.#takeEarly(), EARLY);
    for (let isFirst = true; !this.#stop.signal.aborted; isFirst = false) {
      try {
        const name = await adapter.start(heard => this.#heard(heard), error => this.#fail(error), this.#position);
        report(`connected as ${name}`);
        return void this.#follow();
      } catch (error) {
        const { kind, message, retryAfterMs } = asChatError(error);
        if (kind !== "passing" && kind !== "rate") throw error;
        if (isFirst) report(message);
        await new Promise(resolve => setTimeout(resolve, Math.max(LOOK_AGAIN, retryAfterMs)));
      }
    }
  }

  /** Ends. What is on its way arrives before. */
  async stop(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    for (const timer of [this.#timer, this.#earlyTimer]) clearTimeout(timer);
    await this.#courier.stop();
    await this.parts.adapter.stop().catch(() => {});
    clearTimeout(this.#writer);
    this.#write();
    this.#ended();
  }

  /** How many messages wait to be sent. */
  get waiting(): number {
    return this.#courier.waiting;
  }

  #fail(error: ChatError | Error): void {
    if (this.#stop.signal.aborted) return;
    this.#ended(error);
    void this.stop();
  }

  /** Follows the inbox, wherever it is by now. */
  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    try {
      const inbox = (this.#inbox = await this.#find());
      for await (const event of inbox.events({ signal })) this.#inboxSays(event);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      this.#fail(new Error(`the inbox cannot be followed: ${why}`));
    }
  }

  async #find(): Promise<Askbridge> {
    for (let isFirst = true; ; isFirst = false) {
      try {
        return await this.parts.inbox();
      } catch (error) {
        this.#stop.signal.throwIfAborted();
        if (!(error instanceof AskbridgeError) || error.name !== "no_inbox") throw error;
        if (isFirst) this.parts.report(`${error.message}; waiting for one`);
        await new Promise(resolve => setTimeout(resolve, LOOK_AGAIN));
        this.#stop.signal.throwIfAborted();
      }
    }
  }

  #isOffline = false;

  #inboxSays(event: InboxEvent): void {
    switch (event.type) {
      case "requested":
        return this.#hear({ type: "opened", record: event.question.record });
      case "changed":
        return this.#hear({ type: "changed", record: event.question.record });
      case "resolved": {
        const { question, outcome, settlement } = event;
        return this.#hear({ type: "ended", record: question.record, outcome, ...(settlement && { settlement }) });
      }
      case "snapshot":
        if (this.#isOffline) this.parts.report("the inbox is back");
        this.#isOffline = false;
        this.#hear({ type: "snapshot", open: event.open });
        return this.#takeEarly();
      case "offline":
        if (!this.#isOffline) this.parts.report(`the inbox is not reached: ${event.error.message}; trying again`);
        this.#isOffline = true;
    }
  }

  #takeEarly(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    clearTimeout(this.#earlyTimer);
    for (const heard of early) this.#heard(heard);
  }

  #heard(heard: Heard): void {
    if (this.#early && this.#early.length < MOST_EARLY) return void this.#early.push(heard);
    if (heard.type === "position") return void (this.#position = heard.position);
    if (heard.type === "deleted") {
      const slot = this.#board.slotAt(heard.chat, heard.ref);
      return slot === undefined ? undefined : this.#hear({ type: "lost", slot });
    }
    const act = heard.type === "tap" ? heard.tap : heard.type === "reply" ? heard.reply : heard.filled;
    this.#noteStranger(act);
    this.#hear(heard);
  }

  /** Says once who tried to answer and may not: it may be somebody who is missing in the settings. */
  #noteStranger({ user, chat }: Act): void {
    if (this.parts.policy.users.has(user) || this.#strangers.has(user) || this.#strangers.size >= MOST_STRANGERS) return;
    this.#strangers.add(user);
    this.parts.report(`somebody who may not answer tried to: user ${user} in chat ${chat}`);
  }

  #hear(event: BoardEvent): void {
    for (const effect of this.#board.handle(event, Date.now())) this.#do(effect);
    if (event.type === "shown" || event.type === "lost") this.#note(event.slot);
    this.#writer ??= setTimeout(() => this.#write(), WRITE_AFTER);
    this.#wake();
  }

  #do(effect: Effect): void {
    const { adapter } = this.parts;
    const attempt = (doing: Promise<void>) => void doing.catch(error => this.#cannotTell(asChatError(error)));
    switch (effect.do) {
      case "show":
        return this.#courier.show(effect.slot);
      case "clear":
        return this.#courier.clear(effect.chat, effect.ref);
      case "tell":
        return attempt(adapter.tell(effect.act, effect.text));
      case "form":
        return attempt(adapter.open(effect.act, effect.form));
      case "decide":
        return void this.#decide(effect.id, effect.act, effect.by, effect.decision);
      case "recall":
        return void this.#recall(effect.id);
    }
  }

  /** A person was not told. What was decided is in the message of the question. */
  #cannotTell(error: ChatError): void {
    if (error.kind === "revoked") this.#fail(error);
    else if (error.kind !== "gone" && error.kind !== "rate") this.parts.report(error.message);
  }

  async #decide(id: string, act: Act, by: string, decision: Decision): Promise<void> {
    const inbox = this.#inbox;
    let refusal: Refusal | undefined;
    try {
      const options = { by: nameFor(by), signal: this.#stop.signal };
      if (!inbox) throw new Error("the inbox is not connected");
      if (decision.kind === "reject") await inbox.rejectQuestion(id, decision.reason, options);
      else await inbox.replyQuestion(id, decision.values, { ...options, seen: decision.seen });
    } catch (error) {
      refusal = refusalOf(error);
    }
    this.#hear({ type: "decided", id, act, ...(refusal && { refusal }) });
  }

  /** Returns the data of an image. Another one than the message speaks of is none: the question has changed. */
  async #load({ id, number, digest }: CardImage): Promise<Uint8Array<ArrayBuffer>> {
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      const { signal } = this.#stop;
      bytes = new Uint8Array(await (await this.#inbox!.imageOfQuestion(id, number, { signal })).arrayBuffer());
    } catch (error) {
      const isOver = error instanceof AskbridgeError && error.status === 404;
      throw new ChatError(isOver ? "refused" : "passing", `the inbox did not tell image ${number} of ${id}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (`sha256:${createHash("sha256").update(bytes).digest("hex")}` === digest) return bytes;
    throw new ChatError("passing", `image ${number} of ${id} is another one by now`);
  }

  async #recall(id: string): Promise<void> {
    const { signal } = this.#stop;
    try {
      const { record } = await this.#inbox!.question(id, { signal });
      const { settlement, state = "open" } = record;
      if (settlement) this.#hear({ type: "ended", record, outcome: settlement.outcome, settlement });
      else if (state === "lost") this.#hear({ type: "ended", record, outcome: { status: "unknown" } });
      else this.#hear({ type: "opened", record });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof AskbridgeError && error.status === 404) return this.#hear({ type: "forgotten", id });
      // Its machine may be connected later.
      setTimeout(() => signal.aborted || void this.#recall(id), RECALL_AGAIN).unref();
    }
  }

  /** Sleeps until something is due. Of many events at once, only the last one matters. */
  #wake(): void {
    this.#waking ??= setImmediate(() => {
      this.#waking = undefined;
      if (!this.#stop.signal.aborted) this.#sleep();
    });
  }

  #sleep(): void {
    const now = Date.now();
    const at = Math.min(this.#board.nextTime(now) ?? Infinity, now + LONGEST_SLEEP);
    if (at === this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      this.#hear({ type: "time" });
    }, Math.max(0, at - now));
  }

  #write(): void {
    clearTimeout(this.#writer);
    this.#writer = undefined;
    this.#keep(() => this.#save());
  }

  #save(): void {
    const position = this.#position;
    this.parts.state.write({ ...this.#board.state(), ...(position !== undefined && { position }) });
  }

  /** Keeps the name of a message at once: without it, the message would be posted again. */
  #note(slot: string): void {
    const kept = this.#board.kept(slot);
    if (kept) this.#keep(() => this.parts.state.add(kept));
  }

  #keep(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.parts.report(`the state is not kept: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Returns a name that is not too long for the history. */
function nameFor(by: string): string {
  let name = by;
  while (Buffer.byteLength(name) > 200) name = [...name].slice(0, -1).join("");
  return name;
}

/** Says why a decision did not count. */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof AskbridgeError)) return { why: "failed", text: `Not sent: ${error instanceof Error ? error.message : String(error)}.` };
  switch (error.name) {
    case "conflict":
      return { why: "late", text: "Too late: somebody else has answered this." };
    case "gone":
    case "not_found":
      return { why: "late", text: "Too late: this question is over." };
    case "changed":
      return { why: "changed", text: "Not sent: this has changed since. Read it again." };
    case "does_not_fit":
      return { why: "wrong", text: `Not sent: ${error.errors.map(({ message }) => `it ${message}`).join("; ") || error.message}.` };
    case "unconfirmed":
    case "unknown":
      return { why: "failed", text: "It is not known whether this was sent. Try again: the same answer counts once." };
    case "no_connection":
      return { why: "failed", text: "Not sent: the inbox is not reached. Try again later." };
    default:
      return { why: "failed", text: `Not sent: ${error.message}.` };
  }
}

