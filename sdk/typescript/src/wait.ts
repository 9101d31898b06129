/** Waits; rejects with the reason of the signal as soon as it is aborted. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Returns what a promise returns; rejects with the reason of the signal as soon as it is aborted. */
export function abortable<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Lets so many run at once; the others wait for their turn. */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async take<T>(run: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>(resolve => this.#waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.free++;
    }
  }
}

/** Times to wait between attempts: each is twice the one before, and no two clients keep step. */
export class BackOff {
  #next: number;

  constructor(
    private readonly first: number,
    private readonly last: number,
  ) {
    this.#next = first;
  }

  /** Begins again at the first time. */
  reset(): void {
    this.#next = this.first;
  }

  /** Waits for the next time, and at least for this one. */
  async wait(signal?: AbortSignal, least = 0): Promise<void> {
    const time = Math.max(least, this.#next * (0.75 + Math.random() / 2));
    this.#next = Math.min(2 * this.#next, this.last);
    await wait(time, signal);
  }
}

/** A signal that is aborted with another one, or after a time that can be set again. */
export class Limit {
  readonly #abort = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #stop = () => {
    const isLate = !this.#outer?.aborted;
    this.#abort.abort(isLate ? new DOMException("nothing came in time", "TimeoutError") : this.#outer.reason);
  };
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined, milliseconds?: number) {
    this.#outer = outer;
    if (outer?.aborted) this.#stop();
    outer?.addEventListener("abort", this.#stop, { once: true });
    if (milliseconds !== undefined) this.set(milliseconds);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Begins the time again. */
  set(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#stop, milliseconds);
  }

  /** Aborts what the signal is given to, and forgets the time and the other signal. */
  abort(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#stop);
    this.#stop();
  }
}
