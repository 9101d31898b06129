// The questions as the server last said they are: which wait, in which order, and which were settled lately.

import { tell } from "./dom.js";
import { isHarmful, isOpen, machineOf, riskOf } from "./words.js";

/** A question that ended keeps its place for a while, so that the person sees what became of it. */
const FOLD = 10_000;
const SHOWN = 50;

/** Returns when a question ended. Of a lost one, it is known when it was asked. */
const endedAt = ({ state, openedAt, settlement, seen }) => Date.parse(state == "lost" ? openedAt : settlement?.at) || seen;

/** What ends within this comes first, by when it ends. */
const SOON = 600_000;

/** First what ends soon, then what an agent waits for, what can do harm, and what is oldest. */
const rank = ({ deadline, question, openedAt }, isSoon) =>
  [isSoon ? deadline : "~", !question.blocking, !isHarmful(riskOf(question)), openedAt].join();

/** Ids end in the number of the question: what was asked within one millisecond is in the order of these. */
const { compare } = new Intl.Collator("en", { numeric: true });
const order = (a, b) => (a.rank == b.rank ? compare(a.id, b.id) : a.rank < b.rank ? -1 : 1);

/**
 * Events: `change`; `arrival`, with the records that are new since the first snapshot; `gap`, with the records that were
 * open and are not in a snapshot.
 */
export class Store extends EventTarget {
  /** All that are known, by id. */
  records = new Map();
  /** Returns the time by the clock of a record's bridge. */
  now = () => Date.now();
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

  /** Takes what is known to be lost by now, instead of what was: a question that was asked again is not lost. */
  lose(questions) {
    for (const [id, { isListed }] of this.records) if (isListed) this.records.delete(id);
    for (const record of questions) {
      if ((this.records.get(record.id) ?? record).state == "lost") this.records.set(record.id, { ...record, isListed: true });
    }
    tell(this, "change");
  }

  /** Returns the records that this holds for. */
  all(holds) {
    return [...this.records.values()].filter(holds);
  }

  /** Returns what can be answered. */
  open() {
    return this.all(isOpen);
  }

  /** Returns what waits, and is not set aside until later. */
  waiting() {
    return this.open().filter(({ later }) => !later);
  }

  /** Returns what is set aside, what is back first at the beginning. */
  aside(isFound = () => true) {
    return this.all(record => isOpen(record) && !!record.later && isFound(record)).sort((a, b) => Date.parse(a.later) - Date.parse(b.later));
  }

  /** Returns the open permissions that may be like this one: the server knows which of them are. */
  alike(id) {
    const of = ({ question, bridge }) => [question.purpose, question.agent, question.project, question.subject?.kind, riskOf(question), machineOf({ bridge })].join("\n");
    const record = this.records.get(id);
    const canBe = isOpen(record) && !isHarmful(riskOf(record.question));
    return canBe ? this.all(it => it.id != id && isOpen(it) && of(it) == of(record)) : [];
  }

  /** Takes questions of the past, of a search or of all, instead of those that were there. */
  remember(records, isMore) {
    if (!isMore) for (const [id, { isPast }] of this.records) if (isPast) this.records.delete(id);
    for (const record of records) if (!this.records.has(record.id)) this.records.set(record.id, { ...record, isPast: true });
    tell(this, "change");
  }

  /** Returns which of what waits ends soon, or has used up most of its time: these come first. */
  soon() {
    return this.open().filter(record => record.deadline && (record.expiring || Date.parse(record.deadline) - this.now(record) <= SOON));
  }

  /** Returns what waits by machine and project, the most urgent first. @returns {Map<string, object[]>} */
  groups(isFound) {
    const waiting = this.all(record => this.#waits(record) && !(record.later && isOpen(record)) && isFound(record));
    const soon = new Set(this.soon());
    for (const record of waiting) record.rank = rank(record, soon.has(record));
    return Map.groupBy(waiting.sort(order), record => `${machineOf(record)}\n${record.question.project ?? ""}`);
  }

  /** Returns what was lost with its bridge, or what is over, latest first. What was lost long ago is over. */
  ended(isLost, isFound = () => true) {
    const ended = this.all(record => !this.#waits(record) && (record.state == "lost" && !record.isPast) == isLost && isFound(record));
    return ended.sort((a, b) => endedAt(b) - endedAt(a));
  }

  #waits(record) {
    return isOpen(record) || record.state == "delivering" || this.#folds.has(record.id);
  }

  /** Returns whether it is open and new, or back. */
  #put(record) {
    const { id } = record;
    const old = this.records.get(id);
    // A late reply does not open again what was settled. What was lost may come back with its bridge.
    if (old?.settlement && old.state != "lost" && !record.settlement) return false;
    record.seen = old?.seen ?? Date.now();
    this.records.set(id, record);
    if (isOpen(old) && !isOpen(record)) {
      this.#folds.add(id);
      setTimeout(() => this.#fold(id), FOLD);
    }
    // What was set aside and is back is news again.
    return isOpen(record) && (!old || (isOpen(old) && !!old.later && !record.later));
  }

  #fold(id) {
    this.#folds.delete(id);
    const live = this.ended(false, ({ isPast }) => !isPast);
    for (const { id } of live.slice(SHOWN)) this.records.delete(id);
    tell(this, "change");
  }
}
