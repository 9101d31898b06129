/** One server-sent event. */
export interface Message {
  event: string;
  data: string;
}

/** Reads server-sent events from text that comes in pieces, as the HTML standard describes. */
export class EventReader {
  /** The ID to continue from. */
  lastId = "";
  /** The time to wait before a new connection, where the server says so. */
  retry: number | undefined;
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string;

  constructor(
    lastId: string,
    private readonly onMessage: (message: Message) => void,
  ) {
    this.lastId = this.#id = lastId;
  }

  /** Takes the next piece. A CR at its end may be the first half of a line break, and waits for the next piece. */
  push(text: string): void {
    const parts = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = parts.pop()!;
    for (const line of parts) this.#line(line);
  }

  #line(line: string): void {
    if (line === "") return this.#dispatch();
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retry = Number(value);
  }

  #dispatch(): void {
    this.lastId = this.#id;
    const message = { event: this.#event || "message", data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#event = "";
    this.#data = [];
    if (!isEmpty) this.onMessage(message);
  }
}
