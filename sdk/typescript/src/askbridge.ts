import { AskbridgeError } from "./error.js";
import { Feed, type InboxEvent } from "./feed.js";
import { type AccessSource, type Call, Http, pathOf, rpc, unconfirmed } from "./http.js";
import { type Cancel, type Permission, type Question, questionOf, type RejectOptions, type ReplyOptions } from "./question.js";
import { readOutcome, readRecord } from "./read.js";
import { isDecidedSo, isOpen, recall } from "./recall.js";
import type { Answer, NewQuestion, Outcome, QuestionContext, QuestionRecord, Settlement, Value } from "./types.js";
import { abortable, wait } from "./wait.js";

/** Which questions a listener receives, and until when. */
export interface ListenOptions extends Cancel {
  /** The folder of the project, as an absolute path. */
  project?: string;
  /** The name of the machine; the empty text for the one that the inbox runs on. */
  machine?: string;
  /**
   * Called once if an error ends the listener, such as a refused token. Without it, the error is uncaught. A lost
   * connection is no such error: the library connects again.
   */
  onError?: (error: AskbridgeError) => void;
}

/** How a question ended. */
export interface Resolution {
  question: Question;
  outcome: Outcome;
  /** Who decided it, and when. Absent if nobody remembers how it ended. */
  settlement?: Settlement;
}

/** Stops a listener. */
export type Stop = () => void;

/** How often a question is looked up that is open but not in the stream. */
const LOOK_UP_AGAIN = 1_000;
/** How often a decision is sent about a question that was open and that the server does not know, and when again. */
const ATTEMPTS = 6;
const ATTEMPT_AGAIN = 500;

/** Returns who decides, for a program that passes on what a person decided. REST has no place for a name. */
const responder = (name: string) => ({ responder: "rpc", name });

/** A client of an inbox: receives its questions, answers them, and asks some. */
export class Askbridge {
  readonly #http: Http;
  readonly #feed: Feed;

  /** Makes no connection yet. Throws if the address is not a URL. */
  constructor(access: AccessSource) {
    this.#http = new Http(access);
    this.#feed = new Feed(this.#http, record => questionOf(this, record));
  }

  /** Calls the listener once for each question: first for those that are open, then for each new one. */
  onQuestion(listener: (question: Question) => unknown, options: ListenOptions = {}): Stop {
    return this.#on(options, event => {
      if (event.type === "requested" && !event.question.isPermission()) listener(event.question);
    });
  }

  /** Calls the listener once for each permission: first for those that are open, then for each new one. */
  onPermission(listener: (permission: Permission) => unknown, options: ListenOptions = {}): Stop {
    return this.#on(options, event => {
      if (event.type === "requested" && event.question.isPermission()) listener(event.question);
    });
  }

  /** Calls the listener once for each question or permission that ends, also for those that ended without a connection. */
  onResolved(listener: (resolution: Resolution) => unknown, options: ListenOptions = {}): Stop {
    return this.#on(options, event => {
      if (event.type !== "resolved") return;
      const { type: _, ...resolution } = event;
      listener(resolution);
    });
  }

  /** Yields everything that happens: first the open questions, then a snapshot, then each change. */
  async *events(options: Cancel = {}): AsyncGenerator<InboxEvent, void, undefined> {
    const { signal } = options;
    const events: InboxEvent[] = [];
    let failure: AskbridgeError | undefined;
    let wake = () => {};
    const hear = (event: InboxEvent) => {
      events.push(event);
      wake();
    };
    const fail = (error: AskbridgeError) => {
      failure = error;
      wake();
    };
    signal?.throwIfAborted();
    const stop = this.#feed.subscribe({ hear, fail });
    // The caller may never ask for the next event.
    signal?.addEventListener("abort", stop, { once: true });
    try {
      for (;;) {
        yield* events.splice(0);
        signal?.throwIfAborted();
        if (events.length) continue;
        if (failure) throw failure;
        await abortable(new Promise<void>(resolve => (wake = resolve)), signal);
      }
    } finally {
      stop();
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Returns the open questions and permissions, oldest first. */
  async questions(options: Cancel = {}): Promise<Question[]> {
    const call = { ...options, isSafe: true };
    const { questions } = await this.#http.call<{ questions: QuestionRecord[] }>("/v1/questions", call);
    return questions.map(record => questionOf(this, readRecord(record)));
  }

  /** Returns a question, open or over. */
  async question(id: string, options: Cancel = {}): Promise<Question> {
    return questionOf(this, readRecord(await this.#http.call(pathOf(id), { ...options, isSafe: true })));
  }

  /**
   * Answers a question, by field name. When this returns, the asker has the answer. Over a lost connection the answer is
   * sent again, which is the same as once.
   */
  async replyQuestion(id: string, values: Record<string, Value>, options: ReplyOptions = {}): Promise<void> {
    const { notes, seen, comments, images, by, signal } = options;
    const answer = { values, ...(notes && { notes }), ...(images && { images }) };
    // A server of an earlier version knows no editions and no comments, and refuses the members.
    const more = { ...(seen && { seen }), ...(comments && { comments }) };
    const call =
      by === undefined
        ? { path: pathOf(id, "reply"), body: { ...answer, ...more } }
        : rpc("question_answer", { id, answer, ...more, by: responder(by) });
    await this.#decide(id, call, { values }, signal);
  }

  /** Rejects a question or a permission. */
  async rejectQuestion(id: string, reason?: string, options: RejectOptions = {}): Promise<void> {
    const { comments, by, signal } = options;
    const why = { ...(reason !== undefined && { reason }), ...(comments && { comments }) };
    const call =
      by === undefined
        ? { path: pathOf(id, "reject"), body: why }
        : rpc("question_reject", { id, ...why, by: responder(by) });
    await this.#decide(id, call, undefined, signal);
  }

  /** Moves the deadline of a question, and returns the question with its new one. */
  extendQuestion(id: string, milliseconds: number, options?: Cancel): Promise<Question> {
    return this.#move(id, "extend", milliseconds, options);
  }

  /**
   * Sets a question aside for this long from now, and returns it with `later`; 0 brings it back. Lists have it last, and
   * nobody is notified of it until then. It can be answered all the time, and its agent hears nothing of this.
   */
  postponeQuestion(id: string, milliseconds: number, options?: Cancel): Promise<Question> {
    return this.#move(id, "later", milliseconds, options);
  }

  /** Returns what led to a question. It is empty where that is not known, or not any more. */
  contextOfQuestion(id: string, options: Cancel = {}): Promise<QuestionContext> {
    return this.#http.call<QuestionContext>(pathOf(id, "context"), { ...options, isSafe: true });
  }

  /** Returns an image of a question, by its number from 1. Images are kept until their question is over. */
  imageOfQuestion(id: string, image: number, options: Cancel = {}): Promise<Blob> {
    const read = (response: Response) => response.blob();
    return this.#http.call<Blob>(pathOf(id, `images/${image}`), { ...options, isSafe: true, read });
  }

  /** Waits until a question is over, and returns how it ended. It may be over already. */
  async waitFor(id: string, options: Cancel = {}): Promise<Outcome> {
    const { signal } = options;
    signal?.throwIfAborted();
    const done = new AbortController();
    let isKnown = false;
    const ended = new Promise<Outcome>((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason), { signal: done.signal });
      const hear = (event: InboxEvent) => {
        if ("question" in event) {
          if (event.question.id !== id) return;
          isKnown = true;
          if (event.type === "resolved") resolve(event.outcome);
        } else if (event.type === "snapshot" && !isKnown) {
          isKnown = true;
          this.#look(id, done.signal).then(resolve, reject);
        }
      };
      const stop = this.#feed.subscribe({ hear, fail: reject });
      done.signal.addEventListener("abort", stop);
    });
    try {
      return await ended;
    } finally {
      done.abort();
    }
  }

  /**
   * Asks a question, and waits for the answer. The question is withdrawn if the signal is aborted or the connection is
   * lost. Without an answer, this throws `not_answered`, whose `outcome` says why.
   */
  async ask(question: NewQuestion, options: Cancel & { timeoutMs?: number } = {}): Promise<Answer> {
    const { signal, ...rest } = options;
    const body = { message: "", ...question, ...rest };
    const settlement = await this.#http.call<Settlement>("/v1/questions", { body, signal, isLong: true });
    const outcome = readOutcome(settlement.outcome);
    if (outcome.status === "answered") {
      const { status: _, ...answer } = outcome;
      return answer;
    }
    const why = settlement.remark ?? (outcome.status === "rejected" ? outcome.reason : outcome.status);
    throw new AskbridgeError("not_answered", `the question was not answered: ${why}`, { outcome });
  }

  /**
   * Asks a question that no connection holds, and returns it at once. It outlives this program and the inbox: it is open
   * until it is answered, rejected or withdrawn, or its time is over, and `waitFor` tells how it ended whenever it is asked.
   * The same question under the same key is asked once, and is returned again; another one under it is `key_used`.
   */
  async keepQuestion(
    question: NewQuestion,
    options: Cancel & { key?: string; timeoutMs?: number } = {},
  ): Promise<Question> {
    const { signal, key, ...rest } = options;
    const body = { message: "", ...question, ...rest, wait: false };
    // With a key, a request that was sent twice asks once.
    const call = key === undefined ? {} : { headers: { "Idempotency-Key": key }, isSafe: true };
    return questionOf(this, readRecord(await this.#http.call("/v1/questions", { ...call, body, signal })));
  }

  /** Withdraws a question that no connection holds. To withdraw it again changes nothing; once it is decided, this throws. */
  async withdrawQuestion(id: string, options: Cancel = {}): Promise<void> {
    await this.#http.call(pathOf(id), { ...options, method: "DELETE", isSafe: true });
  }

  /**
   * Spends the approval of a permission that a program asked for, right before the program acts. An approval is spent once:
   * the second time is `spent`, unless it has the same key. One that does not count is `expired`, `stale` or `not_allowed`.
   */
  async consumeApproval(id: string, digest: string, { key, ...options }: Cancel & { key: string }): Promise<void> {
    const headers = { "Idempotency-Key": key };
    await this.#http.call(pathOf(id, "consume"), { ...options, body: { digest }, headers, isSafe: true });
  }

  /** Reports what came of what a program was allowed to do, for the history. */
  async reportOutcome(id: string, succeeded: boolean, options: Cancel & { note?: string } = {}): Promise<void> {
    const body = { status: succeeded ? "succeeded" : "failed", note: options.note };
    await this.#http.call(pathOf(id, "outcome"), { signal: options.signal, body, isSafe: true });
  }

  #on(options: ListenOptions, hear: (event: InboxEvent) => void): Stop {
    const { signal, project, machine, onError } = options;
    if (signal?.aborted) return () => {};
    const isWanted = (question: Question) =>
      (project === undefined || question.project === project) &&
      (machine === undefined || (question.machine ?? "") === machine);
    const unsubscribe = this.#feed.subscribe({
      hear: event => {
        if ("question" in event && isWanted(event.question)) hear(event);
      },
      fail: error => {
        signal?.removeEventListener("abort", stop);
        if (!onError) throw error;
        onError(error);
      },
    });
    const stop = () => {
      signal?.removeEventListener("abort", stop);
      unsubscribe();
    };
    signal?.addEventListener("abort", stop);
    return stop;
  }

  /** Looks up how a question ended that is not among the open ones. */
  async #look(id: string, signal: AbortSignal): Promise<Outcome> {
    for (;;) {
      try {
        const record = await recall(this.#http, id, signal);
        if (!record) throw new AskbridgeError("not_found", `nobody knows a question ${id}`);
        if (!isOpen(record)) return record.settlement?.outcome ?? { status: "unknown" };
      } catch (error) {
        // Its machine may be connected again. The others say that nothing more will be known.
        if (!(error instanceof AskbridgeError) || !["unreached", "no_connection"].includes(error.name)) throw error;
      }
      await wait(LOOK_UP_AGAIN, signal);
    }
  }

  async #move(id: string, verb: string, milliseconds: number, options: Cancel = {}): Promise<Question> {
    const record = await this.#http.call<QuestionRecord>(pathOf(id, verb), { ...options, body: { milliseconds } });
    return questionOf(this, readRecord(record));
  }

  /** Sends a decision. Where it is not known whether it arrived, finds out what counts. */
  async #decide(
    id: string,
    { path, ...call }: Call & { path: string },
    answer: Answer | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await this.#http.call(path, { ...call, signal, isSafe: true });
      } catch (error) {
        if (!(error instanceof AskbridgeError) || ![404, 409, 410].includes(error.status)) throw error;
        const wasThere = error.wasSent || attempts > 1 || (error.status === 404 && this.#feed.has(id));
        if (!wasThere) throw error;
        // It may have been this very decision that ended the question.
        const record = await recall(this.#http, id, signal).catch((cause: unknown) => {
          signal?.throwIfAborted();
          throw unconfirmed(cause);
        });
        if (record?.settlement) {
          if (isDecidedSo(record, answer)) return;
          const { outcome } = record.settlement;
          throw new AskbridgeError("conflict", `${id} was settled in another way`, { outcome, wasSent: true });
        }
        // A server that has just started may not know its bridge yet.
        if (error.status !== 404 || attempts >= ATTEMPTS) throw error;
        await wait(ATTEMPT_AGAIN, signal);
      }
    }
  }
}
