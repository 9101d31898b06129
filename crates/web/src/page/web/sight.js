// What of a question has been in sight. What acts or can do harm is allowed only after all of it was.

import { on } from "./dom.js";

/** A part that was seen whole stays so, however its lines are wrapped later. */
const WHOLE = [[0, Infinity]];

/** Pixels that count as seen with their neighbours: edges are no whole numbers. */
const SLACK = 4;

/** What shows more when it is pressed. */
const FOLDS = ".fold, .rest";

/** What the person writes between the lines is no part of what they read. */
const OWN = ".comment";

/** Returns where the boxes of what the person wrote in a part are, by their distance from its top. */
function ownIn(part) {
  const { top } = part.getBoundingClientRect();
  return [...part.querySelectorAll(OWN)].map(it => it.getBoundingClientRect()).map(it => [it.top - top, it.bottom - top]);
}

/** Returns a distance from the top of a part without what the person wrote above it. */
const without = (own, at) => own.reduce((rest, [from, to]) => rest - Math.max(0, Math.min(at, to) - from), at);

/** Returns the height of a part, without what the person wrote. */
const heightOf = part => without(ownIn(part), part.getBoundingClientRect().height);

/** Adds a span to others, and joins those that touch. */
function join(spans, [from, to]) {
  const isNear = ([start, end]) => start <= to + SLACK && end >= from - SLACK;
  const near = spans.filter(isNear);
  const joined = [Math.min(from, ...near.map(([start]) => start)), Math.max(to, ...near.map(([, end]) => end))];
  return [...spans.filter(span => !isNear(span)), joined].sort(([a], [b]) => a - b);
}

/** Returns the ancestors that scroll what stands in them, the nearest first. */
function scrollers(node) {
  const found = [];
  for (let it = node; it; it = it.assignedSlot ?? it.parentNode ?? it.host) {
    if (it instanceof Element && it != document.documentElement && /auto|scroll/.test(getComputedStyle(it).overflowY)) found.push(it);
  }
  return found;
}

/** The parts of one question, each with the spans of it that were in sight, by their distance from its top. */
export class Sight {
  #parts;
  #bar;
  #onchange;
  #heights = new Map();
  #scrollers = [];
  #end;

  /** @param {Element[]} parts what must be seen @param {Element} bar what covers them at the bottom @param {function} onchange called once all was seen */
  constructor(parts, bar, onchange) {
    this.#parts = new Map(parts.map(part => [part, []]));
    this.#bar = bar;
    this.#onchange = onchange;
  }

  /** Whether all of it was in sight. */
  get isWhole() {
    return !this.#unseen();
  }

  /** Watches from now on, until the next call or `stop`. The parts must be in a document. */
  watch() {
    this.stop();
    if (this.isWhole) return;
    this.#end = new AbortController();
    const { signal } = this.#end;
    this.#scrollers = scrollers(this.#bar);
    const look = () => this.#look();
    for (const it of [...this.#scrollers, window]) on(it, "scroll", look, { signal, passive: true });
    on(document, "visibilitychange", look, { signal });
    const sizes = new ResizeObserver(() => this.#measure());
    for (const part of this.#parts.keys()) sizes.observe(part);
    on(signal, "abort", () => sizes.disconnect());
  }

  /** Forgets what was in sight: something else stands there. */
  forget() {
    for (const part of this.#parts.keys()) this.#parts.set(part, []);
  }

  stop() {
    this.#end?.abort();
  }

  /** Shows the first of what was not in sight yet: opens what is folded, and scrolls there. */
  next() {
    const [part, at] = this.#unseen() ?? [];
    if (!part) return;
    for (const fold of part.querySelectorAll(FOLDS)) fold.click();
    const below = ownIn(part).reduce((sum, [from, to]) => (from <= sum ? sum + to - from : sum), at);
    const top = part.getBoundingClientRect().top + below - this.#port()[0];
    (this.#scrollers[0] ?? window).scrollBy({ top, behavior: "instant" });
  }

  /** Returns the first part that was not seen whole, and where its first gap begins. */
  #unseen() {
    for (const [part, spans] of this.#parts) {
      if (spans == WHOLE) continue;
      const [[from, to] = [], ...more] = spans;
      const height = heightOf(part);
      const isSeen = from <= SLACK && to >= height - SLACK && !more.length;
      if (!isSeen || part.querySelector(FOLDS)) return [part, from <= SLACK ? to : 0];
      this.#parts.set(part, WHOLE);
    }
    return null;
  }

  /** A part that has other lines than before, or wraps them elsewhere, is seen from its beginning again. */
  #measure() {
    for (const [part, spans] of this.#parts) {
      const height = heightOf(part);
      if (spans != WHOLE && Math.abs(height - (this.#heights.get(part) ?? height)) > SLACK) this.#parts.set(part, []);
      this.#heights.set(part, height);
    }
    this.#look();
  }

  #look() {
    if (document.hidden) return;
    const [top, bottom] = this.#port();
    for (const [part, seen] of this.#parts) {
      if (seen == WHOLE) continue;
      const box = part.getBoundingClientRect();
      const own = ownIn(part);
      const span = [Math.max(top, box.top), Math.min(bottom, box.bottom)].map(at => without(own, at - box.top));
      if (span[1] > span[0]) this.#parts.set(part, join(seen, span));
    }
    if (!this.isWhole) return;
    this.stop();
    this.#onchange();
  }

  /** Returns the top and the bottom of what is visible: what sticks there covers what is below it. */
  #port() {
    let [top, bottom] = [0, innerHeight];
    for (const it of this.#scrollers) {
      const box = it.getBoundingClientRect();
      top = Math.max(top, box.top + (parseFloat(getComputedStyle(it).scrollPaddingTop) || 0));
      bottom = Math.min(bottom, box.bottom);
    }
    return [top, Math.min(bottom, this.#bar.getBoundingClientRect().top)];
  }
}
