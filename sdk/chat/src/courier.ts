// Brings messages into the chats: one after another in each chat, no faster than the chat takes them, and again where that
// failed. What a message says is asked for when its turn comes, so that changes in between cost no message, and what is over
// before its turn is never posted.

import { type Adapter, ChatError, type Pace, type Post, type Trouble } from "./adapter.js";
import type { Board } from "./core/board.js";
import { type CardImage, digestOf, plain, text } from "./core/card.js";
import { isSlot, readSlot, slotOf } from "./core/entry.js";
import type { BoardEvent } from "./core/events.js";

/** What the courier needs. */
export interface CourierParts {
  adapter: Adapter;
  board: Board;
  /** Returns the data of an image, or throws why it is not there. */
  load(image: CardImage): Promise<Uint8Array<ArrayBuffer>>;
  /** Takes what happened to a message. */
  hear(event: BoardEvent): void;
  /** Says something to the person who runs the bot. */
  report(text: string): void;
  /** The bot cannot go on. */
  fail(error: ChatError): void;
  now?: () => number;
  sleep?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const FORBIDDEN_AGAIN = 60_000;
const FIRST_AGAIN = 1_000;
const LAST_AGAIN = 60_000;
/** How often an image is tried, where the network or a server fails. The messages behind it wait meanwhile. */
const IMAGE_TRIES = 3;

/** So many at once, and then one each so often. */
export class Bucket {
  #tokens: number;
  #at = 0;

  constructor(private readonly pace: Pace) {
    this.#tokens = pace.burst;
  }

  /** Takes one. Returns how long to wait before; nothing is taken then. */
  take(now: number): number {
    const { burst, everyMs } = this.pace;
    this.#tokens = Math.min(burst, this.#tokens + (everyMs ? (now - this.#at) / everyMs : burst));
    this.#at = now;
    if (this.#tokens < 1) return Math.ceil((1 - this.#tokens) * everyMs);
    this.#tokens -= 1;
    return 0;
  }
}

/** The messages of one chat that wait. */
interface Lane {
  chat: string;
  waiting: Set<string>;
  /** Messages that lose their buttons, by their IDs. */
  clear: Set<string>;
  bucket: Bucket;
  blockedUntil: number;
  again: number;
  /** What was last reported of this chat. */
  trouble?: Trouble;
  isRunning: boolean;
}

export class Courier {
  readonly #lanes = new Map<string, Lane>();
  readonly #all: Bucket;
  readonly #stop = new AbortController();
  readonly #refused = new Set<string>();
  /** How often each image has failed. */
  readonly #failures = new Map<string, number>();
  readonly #now: () => number;
  readonly #sleep: NonNullable<CourierParts["sleep"]>;
  #blockedUntil = 0;
  #running = new Set<Promise<void>>();

  constructor(private readonly parts: CourierParts) {
    this.#all = new Bucket(parts.adapter.paceOfAll);
    this.#now = parts.now ?? Date.now;
    this.#sleep = parts.sleep ?? wait;
  }

  /** Brings a message up to date. */
  show(slot: string): void {
    const lane = this.#lane(readSlot(slot).chat);
    lane.waiting.add(slot);
    this.#run(lane);
  }

  /** Takes the buttons from a message. */
  clear(chat: string, ref: string): void {
    const lane = this.#lane(chat);
    lane.clear.add(ref);
    this.#run(lane);
  }

  /** Ends. What is on its way arrives before, so that its name is known. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** How many messages wait. */
  get waiting(): number {
    return [...this.#lanes.values()].reduce((sum, { waiting, clear }) => sum + waiting.size + clear.size, 0);
  }

  #lane(chat: string): Lane {
    let lane = this.#lanes.get(chat);
    if (!lane) {
      const bucket = new Bucket(this.parts.adapter.pace(chat));
      lane = { chat, waiting: new Set(), clear: new Set(), bucket, blockedUntil: 0, again: FIRST_AGAIN, isRunning: false };
      this.#lanes.set(chat, lane);
    }
    return lane;
  }

  #run(lane: Lane): void {
    if (lane.isRunning || this.#stop.signal.aborted) return;
    lane.isRunning = true;
    const running = this.#work(lane)
      .catch(() => {})
      .finally(() => {
        lane.isRunning = false;
        this.#running.delete(running);
      });
    this.#running.add(running);
  }

  async #work(lane: Lane): Promise<void> {
    const { signal } = this.#stop;
    // What is asked for in one go is one message.
    await Promise.resolve();
    while (!signal.aborted && lane.waiting.size + lane.clear.size > 0) {
      const next = this.#next(lane);
      if (!next) continue;
      const pause = this.#pause(lane);
      if (pause > 0) {
        await this.#sleep(pause, signal);
        continue;
      }
      await this.#send(lane, next);
    }
  }

  /** Returns what to send next: second steps first, since a person waits for them. */
  #next(lane: Lane): string | undefined {
    const slot = firstSecond(lane.waiting) ?? lane.waiting.values().next().value;
    if (slot === undefined) return lane.clear.values().next().value;
    const card = this.parts.board.card(slot);
    const shown = this.parts.board.shown(slot);
    if (card && digestOf(card) !== shown?.digest) return slot;
    lane.waiting.delete(slot);
    // It says already what it shall say.
    if (shown && this.parts.board.isOver(slot)) this.parts.hear({ type: "shown", slot, ...shown });
    return undefined;
  }

  #pause(lane: Lane): number {
    const now = this.#now();
    const blocked = Math.max(lane.blockedUntil, this.#blockedUntil) - now;
    return blocked > 0 ? blocked : lane.bucket.take(now) || this.#all.take(now);
  }

  async #send(lane: Lane, next: string): Promise<void> {
    const { adapter, board, hear } = this.parts;
    try {
      if (lane.waiting.has(next)) {
        const card = board.card(next)!;
        const shown = board.shown(next);
        const digest = digestOf(card);
        const above = board.above(next);
        lane.waiting.delete(next);
        if (shown && readSlot(next).kind === "image") return await this.#detach(lane, next, shown.ref);
        const ref = shown?.ref ?? (await this.#post({ chat: lane.chat, card, once: board.once(next), ...(above !== undefined && { above }) }, next));
        if (shown) await adapter.edit(lane.chat, ref, card);
        hear({ type: "shown", slot: next, ref, digest });
        if (!shown) hear({ type: "posted", slot: next });
        // It may have changed meanwhile.
        if (board.card(next)) lane.waiting.add(next);
      } else {
        lane.clear.delete(next);
        await adapter.edit(lane.chat, next, { blocks: [text("This question is over.")], rows: [] });
      }
      lane.again = FIRST_AGAIN;
      delete lane.trouble;
    } catch (error) {
      this.#failed(lane, next, asChatError(error));
    }
  }

  /** Posts a message. The board keeps its question meanwhile, whatever becomes of that: only then can the message be changed. */
  async #post(post: Post, slot: string): Promise<string> {
    const { adapter, hear } = this.parts;
    hear({ type: "posting", slot });
    try {
      return await (post.card.image ? this.#attach(post, post.card.image) : adapter.post(post));
    } catch (error) {
      hear({ type: "posted", slot });
      throw error;
    }
  }

  async #attach({ chat, card, once, above = "" }: Post, image: CardImage): Promise<string> {
    const bytes = await this.parts.load(image);
    return this.parts.adapter.attach({ chat, above, once, image, caption: plain(card.blocks), bytes });
  }

  /** Takes away an image that is no part of its question any more. */
  async #detach({ chat }: Lane, slot: string, ref: string): Promise<void> {
    await this.parts.adapter.detach(chat, ref).catch((error: unknown) => {
      const { kind } = asChatError(error);
      // One that stays is older than its question, as the message of the question says.
      if (kind === "rate" || kind === "passing" || kind === "revoked") throw error;
    });
    this.parts.hear({ type: "lost", slot });
  }

  #failed(lane: Lane, slot: string, thrown: ChatError): void {
    const { hear, fail } = this.parts;
    const isClear = !isSlot(slot);
    const isImage = !isClear && readSlot(slot).kind === "image";
    const error = isImage ? this.#forImage(slot, thrown) : thrown;
    const again = (after: number) => {
      lane.blockedUntil = this.#now() + after;
      if (isClear) lane.clear.add(slot);
      else lane.waiting = new Set([slot, ...lane.waiting]);
    };
    switch (error.kind) {
      case "rate":
        return again(Math.max(error.retryAfterMs, 1));
      case "forbidden":
        this.#report(lane, error);
        return again(FORBIDDEN_AGAIN);
      case "passing":
        this.#report(lane, error);
        again(lane.again);
        lane.again = Math.min(2 * lane.again, LAST_AGAIN);
        return;
      case "gone": {
        if (isClear) return;
        // What is gone is what the image was to stand beside.
        const { key, chat } = readSlot(slot);
        return hear({ type: "lost", slot: isImage ? slotOf(key, "question", chat) : slot });
      }
      case "refused":
        this.parts.report(error.message);
        // What is refused in every form is left as it is.
        if (isClear || (this.#refused.has(slot) && !isImage)) return;
        this.#refused.add(slot);
        return hear({ type: "refused", slot });
      case "revoked":
        this.#stop.abort();
        return fail(error);
    }
  }

  /** Returns what becomes of an image: one that fails again and again does not keep the messages behind it waiting. */
  #forImage(slot: string, error: ChatError): ChatError {
    const tries = 1 + (this.#failures.get(slot) ?? 0);
    const isOver = error.kind === "refused" || error.kind === "forbidden" || (error.kind === "passing" && tries >= IMAGE_TRIES);
    if (error.kind === "passing" && !isOver) this.#failures.set(slot, tries);
    else if (error.kind !== "rate") this.#failures.delete(slot);
    return isOver ? new ChatError("refused", `an image is not shown: ${error.message}`) : error;
  }

  /** Says what is wrong with a chat, once. */
  #report(lane: Lane, error: ChatError): void {
    if (lane.trouble === error.kind || this.#stop.signal.aborted) return;
    lane.trouble = error.kind;
    this.parts.report(error.message);
  }
}

function firstSecond(slots: Iterable<string>): string | undefined {
  for (const slot of slots) if (readSlot(slot).kind === "second") return slot;
  return undefined;
}

/** Returns the error of the chat; any other one is a mistake of the bot or of a library, and passes as a failure of the network. */
export const asChatError = (error: unknown): ChatError =>
  error instanceof ChatError ? error : new ChatError("passing", error instanceof Error ? error.message : String(error));

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end, { once: true });
  });
}
