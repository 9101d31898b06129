import { tooLarge } from "./http.js";

/** One server-sent event. */
export interface Message {
  event: string;
  data: string;
}

/** How many characters of an event are kept: a record has at most 4 MiB. */
const LONGEST_EVENT = 1 << 23;
/** The longest time that a server may ask for, while what is shown grows old. A time above 24 days is none to `setTimeout`. */
const LONGEST_RETRY = 60_000;

/** Reads server-sent events from text that comes in pieces, as the HTML standard describes. */
export class EventReader {
  /** The ID to continue from. */
  lastId = "";
  /** The time to wait before a new connection, where the server says so. */
  retry: number | undefined;
  #rest = "";
  /** Whether the last piece ended with a CR, so that a LF belongs to the same line break. */
  #wasCr = false;
  #event = "";
  /** The data, with a line break behind each line. */
  #data = "";
  #id: string;

  constructor(
    lastId: string,
    private readonly onMessage: (message: Message) => void,
  ) {
    this.lastId = this.#id = lastId;
  }

  /** Takes the next piece. Throws if an event is too long. */
  push(text: string): void {
    const parts = text.slice(this.#wasCr && text[0] === "\n" ? 1 : 0).split(/\r\n|\n|\r/);
    this.#wasCr = text.endsWith("\r");
    parts[0] = this.#rest + parts[0];
    this.#rest = parts.pop()!;
    for (const line of parts) this.#line(line);
    if (this.#rest.length + this.#data.length > LONGEST_EVENT) throw tooLarge(LONGEST_EVENT);
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (name === "data") this.#data += value + "\n";
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Math.min(Number(value), LONGEST_RETRY);
  }

  #dispatch(): void {
    this.lastId = this.#id;
    const message = { event: this.#event || "message", data: this.#data.slice(0, -1) };
    const isEmpty = !this.#data;
    this.#event = this.#data = "";
    if (!isEmpty) this.onMessage(message);
  }
}
