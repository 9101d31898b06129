// One stream of events for all listeners of an `Askbridge`: begins with the open questions, survives lost connections,
// and tells each question and each end once.

import { AskbridgeError } from "./error.js";
import { asError, type Http, isFinal, readText } from "./http.js";
import type { Question } from "./question.js";
import { readRecord } from "./read.js";
import { isOpen, recall } from "./recall.js";
import { EventReader, type Message } from "./sse.js";
import type { Outcome, QuestionRecord, Settlement } from "./types.js";
import { BackOff, Limit, Turns } from "./wait.js";

/** What happens to questions, in order. */
export type InboxEvent =
  /** A question is open. */
  | { type: "requested"; question: Question }
  /** An open question changed: its deadline, its state, or what the client answered of it. */
  | { type: "changed"; question: Question }
  /** A question is over. `settlement` is absent if nobody remembers how it ended. */
  | { type: "resolved"; question: Question; outcome: Outcome; settlement?: Settlement }
  /** The IDs of all open questions: each was in a `requested` event before. Comes after each new connection. */
  | { type: "snapshot"; open: string[] }
  /** The connection was lost, or could not be made. The library tries again. */
  | { type: "offline"; error: AskbridgeError }
  /** An event of a name that this version does not know. */
  | { type: "unknown"; raw: { event: string; data: string } };

/** Who hears of the events. */
export interface Subscriber {
  hear(event: InboxEvent): void;
  /** Nothing will come any more: the token is refused, for example. */
  fail(error: AskbridgeError): void;
}

/** The server sends a comment each 4 s. */
const SILENCE = 20_000;
/** It responds at once; a server that is killed at the wrong moment leaves a request without an end in Node. */
const HEAD = 5_000;
const FIRST_BACK_OFF = 100;
const LAST_BACK_OFF = 5_000;
/** How many ended questions are remembered. */
const REMEMBERED = 4_096;
/** How often a question is looked up that nobody knows: a server that has just started may not know its bridge yet. */
const LOOKUPS = 7;
/** How many questions are looked up at once: a server takes a limited number of connections. */
const LOOKUPS_AT_ONCE = 8;

/** The stream, which runs while anyone listens. */
export class Feed {
  /** The open questions, by ID. */
  readonly #open = new Map<string, Question>();
  /** What ended lately, and whether it may be open again: its bridge was lost, and may come back. */
  readonly #ended = new Map<string, boolean>();
  /** What is looked up, and what ends looking it up. */
  readonly #missing = new Map<string, AbortController>();
  readonly #subscribers = new Set<Subscriber>();
  readonly #turns = new Turns(LOOKUPS_AT_ONCE);
  #run: AbortController | undefined;
  #isKnown = false;
  #lastId = "";

  constructor(
    private readonly http: Http,
    private readonly questionOf: (record: QuestionRecord) => Question,
  ) {}

  /** Tells a subscriber the open questions, and then what happens, until the returned function is called. */
  subscribe(subscriber: Subscriber): () => void {
    let isStopped = false;
    // It hears nothing before it has the function that stops it.
    queueMicrotask(() => {
      if (isStopped) return;
      this.#subscribers.add(subscriber);
      for (const question of [...this.#open.values()]) {
        if (!isStopped) guarded(() => subscriber.hear({ type: "requested", question }));
      }
      if (!isStopped && this.#isKnown) guarded(() => subscriber.hear({ type: "snapshot", open: [...this.#open.keys()] }));
      if (!isStopped && !this.#run) this.#start();
    });
    return () => {
      isStopped = true;
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#stop();
    };
  }

  /** Says whether a question was open when the server was last heard. */
  has(id: string): boolean {
    return this.#open.has(id);
  }

  #start(): void {
    this.#run = new AbortController();
    void this.#follow(this.#run.signal);
  }

  #stop(): void {
    this.#run?.abort();
    this.#run = undefined;
    this.#isKnown = false;
    this.#lastId = "";
    for (const id of [...this.#missing.keys()]) this.#endLookUp(id);
    for (const known of [this.#open, this.#ended]) known.clear();
  }

  #emit(event: InboxEvent): void {
    for (const subscriber of [...this.#subscribers]) guarded(() => subscriber.hear(event));
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const backOff = new BackOff(FIRST_BACK_OFF, LAST_BACK_OFF);
    let least = 0;
    while (!signal.aborted) {
      let error: AskbridgeError;
      try {
        await this.#connect(signal, backOff, retry => (least = retry));
        error = new AskbridgeError("no_connection", "askbridge ended the stream of events");
      } catch (caught) {
        error = asError(caught);
      }
      if (signal.aborted) return;
      // A proxy may say 404 or redirect while there is no server behind it. An address where it never was is a wrong one.
      if (isFinal(error) && !(this.#isKnown && (error.status < 400 || error.status === 404))) return this.#fail(error);
      this.#emit({ type: "offline", error });
      await backOff.wait(signal, least).catch(() => {});
    }
  }

  #fail(error: AskbridgeError): void {
    const subscribers = [...this.#subscribers];
    this.#subscribers.clear();
    this.#stop();
    for (const subscriber of subscribers) guarded(() => subscriber.fail(error));
  }

  /** Reads one connection to its end. A connection on which nothing comes is dead. */
  async #connect(signal: AbortSignal, backOff: BackOff, onRetry: (least: number) => void): Promise<void> {
    const limit = new Limit(signal, HEAD);
    try {
      const headers = { Accept: "text/event-stream", ...(this.#lastId && { "Last-Event-ID": this.#lastId }) };
      const response = await this.http.open("/v1/events", { headers, signal: limit.signal });
      limit.set(SILENCE);
      const events = new EventReader(this.#lastId, message => {
        backOff.reset();
        if (!signal.aborted) this.#take(message);
      });
      await readText(response, text => {
        limit.set(SILENCE);
        events.push(text);
        // A listener may have been the last one, and stopped: the next connection begins anew.
        if (signal.aborted) return;
        this.#lastId = events.lastId;
        if (events.retry !== undefined) onRetry(events.retry);
      });
    } finally {
      limit.abort();
    }
  }

  #take({ event, data }: Message): void {
    if (event === "snapshot") return this.#snapshot((JSON.parse(data) as { open: string[] }).open);
    const kind = /^question\.(requested|changed|resolved)$/.exec(event)?.[1];
    if (!kind) return this.#emit({ type: "unknown", raw: { event, data } });
    const record = readRecord((JSON.parse(data) as { question: QuestionRecord }).question);
    if (kind === "resolved") this.#resolve(record);
    else this.#put(record);
  }

  /** Takes an open question. */
  #put(record: QuestionRecord): void {
    const { id } = record;
    this.#endLookUp(id);
    const known = this.#open.get(id);
    // A decision that was told does not become undone: what says so was sent before it.
    if (!known && this.#ended.get(id) === false) return;
    if (known && JSON.stringify(known.record) === JSON.stringify(record)) return;
    this.#ended.delete(id);
    const question = this.questionOf(record);
    this.#open.set(id, question);
    this.#emit({ type: known ? "changed" : "requested", question });
  }

  /** Takes a question that is over. */
  #resolve(record: QuestionRecord): void {
    const { id, settlement } = record;
    this.#endLookUp(id);
    if (!this.#open.delete(id) && this.#ended.has(id)) return;
    const outcome: Outcome = settlement?.outcome ?? { status: "unknown" };
    const isLost = outcome.status === "unknown" || (outcome.status === "rejected" && outcome.reason === "agent_gone");
    this.#ended.set(id, isLost);
    if (this.#ended.size > REMEMBERED) this.#ended.delete(this.#ended.keys().next().value!);
    this.#emit({ type: "resolved", question: this.questionOf(record), outcome, ...(settlement && { settlement }) });
  }

  /** Takes the IDs of all that are open: what is not there ended while nobody listened. */
  #snapshot(open: string[]): void {
    const ids = new Set(open);
    for (const [id, { record }] of this.#open) {
      if (ids.has(id) || this.#missing.has(id)) continue;
      const lookup = new AbortController();
      this.#missing.set(id, lookup);
      void this.#lookUp(record, lookup.signal).catch(() => {});
    }
    this.#isKnown = true;
    // What was settled before it was written was not told: only its end comes.
    this.#emit({ type: "snapshot", open: open.filter(id => this.#open.has(id)) });
  }

  /** Ends looking a question up. */
  #endLookUp(id: string): void {
    this.#missing.get(id)?.abort();
    this.#missing.delete(id);
  }

  /** Finds out what became of a question. */
  async #lookUp(record: QuestionRecord, signal: AbortSignal): Promise<void> {
    const { id } = record;
    const backOff = new BackOff(250, LAST_BACK_OFF);
    for (let lookups = 1; ; lookups++) {
      let found: QuestionRecord | undefined;
      let error: unknown;
      try {
        found = await this.#turns.take(() => recall(this.http, id, signal));
      } catch (caught) {
        error = caught;
      }
      if (signal.aborted) return;
      if (found?.settlement || found?.state === "lost") return this.#resolve(found);
      // After a while of 503, its bridge is gone. Any other error is one of a connection: nothing is known.
      const isGone = error
        ? error instanceof AskbridgeError && error.name === "unavailable"
        : !isOpen(found) && lookups >= LOOKUPS;
      if (isGone) return this.#resolve(found ?? { ...record, state: "lost" });
      await backOff.wait(signal);
    }
  }
}

/** Calls a listener. What it throws is an uncaught error, and does not keep others from the event. */
function guarded(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
