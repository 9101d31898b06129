import "./question.js";

/** The connection of an inbox: the events `state`, and `delta` with a `QuestionDelta` of schema/ as its detail. */
export interface InboxConnection extends EventTarget {
  readonly state: "connecting" | "online" | "offline" | "signed-out";
  /** Calls a method of the control protocol. */
  call(method: string, params?: object): Promise<unknown>;
}

/**
 * `<askbridge-inbox>`: lists all questions and keeps the connection. The attribute `src` is the address of askbridge, by
 * default the one that the module came from.
 */
export interface AskbridgeInbox extends HTMLElement {
  /** A connection of the page's own. */
  connection: InboxConnection;
  /** The words that each listed question has. */
  search: string;
  /** What tells of a new question; both are off at first. `set` returns why it stays off, or the empty text. */
  readonly alerts: { set(name: "notify" | "sound", on: boolean): Promise<string> };
  /** Shows the question of this ID. */
  show(id: string): unknown;
}

/** The events of `<askbridge-inbox>`. */
export interface InboxEvents {
  "askbridge-count": CustomEvent<{ waiting: number }>;
  "askbridge-select": CustomEvent<{ id: string }>;
  "askbridge-search": CustomEvent<{ search: string }>;
  "askbridge-help": CustomEvent<unknown>;
}

declare global {
  interface HTMLElementTagNameMap {
    "askbridge-inbox": AskbridgeInbox;
  }
  interface HTMLElementEventMap extends InboxEvents {}
}
