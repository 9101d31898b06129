// The questions as the server last said they are: which wait, in which order, and which were settled lately.

import { tell } from "./dom.js";
import { isOpen } from "./words.js";

/** A question that ended keeps its place for a while, so that the person sees what became of it. */
const FOLD = 10_000;
const SETTLED = 50;

const endedAt = ({ settlement, seen }) => Date.parse(settlement?.at) || seen;

/** First what expires soonest, then what an agent waits for, what can do harm, and what is oldest. */
const rank = ({ expiring, deadline, question: { blocking, dangerous }, openedAt, id }) =>
  [expiring ? deadline : "~", !blocking, !dangerous, openedAt, id].join();

/**
 * Events: `change`; `arrival`, with the records that are new since the first snapshot; `gap`, with the records that were
 * open and are not in a snapshot.
 */
export class Store extends EventTarget {
  /** All that are known, by id. */
  records = new Map();
  #folds = new Set();
  #snapshot;
  #isFirst = true;

  /** Forgets a snapshot whose rest did not come. */
  reset() {
    this.#snapshot = null;
  }

  /** Takes a `QuestionDelta`. */
  apply({ snapshot, more, questions }) {
    if (snapshot) this.#snapshot ??= new Set();
    for (const { id } of questions) this.#snapshot?.add(id);
    const arrived = questions.filter(record => this.#put(record));
    if (arrived.length && !this.#isFirst) tell(this, "arrival", arrived);
    if (!more) {
      if (this.#snapshot) tell(this, "gap", this.open().filter(({ id }) => !this.#snapshot.has(id)));
      this.#snapshot = null;
      this.#isFirst = false;
    }
    tell(this, "change");
  }

  /** Takes records from elsewhere. Where the person settled them here, they do not keep their place. */
  put(records, isOwn) {
    for (const record of records) {
      this.#put(record);
      if (isOwn) this.#folds.delete(record.id);
    }
    tell(this, "change");
  }

  /** Returns what can be answered. */
  open() {
    return [...this.records.values()].filter(isOpen);
  }

  /** Returns what waits by project, the most urgent first. @returns {Map<string, object[]>} */
  groups() {
    const waiting = [...this.records.values()].filter(record => this.#waits(record));
    return Map.groupBy(waiting.sort((a, b) => (a.rank < b.rank ? -1 : 1)), ({ question }) => question.project ?? "");
  }

  /** Returns what was settled, latest first. */
  settled() {
    const ended = [...this.records.values()].filter(record => !this.#waits(record));
    return ended.sort((a, b) => endedAt(b) - endedAt(a)).slice(0, SETTLED);
  }

  #waits(record) {
    return isOpen(record) || record.state == "delivering" || this.#folds.has(record.id);
  }

  /** Returns whether it is new and open. */
  #put(record) {
    const { id } = record;
    const old = this.records.get(id);
    // A late reply does not open again what was settled. What was lost may come back with its bridge.
    if (old?.settlement && !record.settlement) return false;
    record.seen = old?.seen ?? Date.now();
    record.rank = rank(record);
    this.records.set(id, record);
    if (isOpen(old) && !isOpen(record)) {
      this.#folds.add(id);
      setTimeout(() => this.#fold(id), FOLD);
    }
    return isOpen(record) && !old;
  }

  #fold(id) {
    this.#folds.delete(id);
    const settled = new Set(this.settled());
    for (const [id, record] of this.records) if (!settled.has(record) && !this.#waits(record)) this.records.delete(id);
    tell(this, "change");
  }
}
