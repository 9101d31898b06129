// What every chat has in common, for the bot: an adapter writes cards as its chat does, and reads what persons do there.
// It decides nothing, and keeps nothing over a restart.
//
// To add a chat: a folder with a `render.ts` (pure: a card as the chat's own message, and whether it fits) and an
// `adapter.ts` that implements `Adapter`; a row in `chats.ts`; its table in `settings.ts`; a stand-in in `tests`, with
// which `tests/conversations.js` tries what all chats do alike.
//
// - `start` connects, and calls `hear` for each tap, reply and form, with a stable `id`, so that one which comes again counts
//   once. A tap has the `data` that its message had when the person tapped, since that says what the person saw. Anything else that persons write is none of the bot's business and is not looked at.
// - `post`, `edit` and `attach` return once the chat has taken the message. They throw a `ChatError`, whose kind says what
//   becomes of the message; the courier (`courier.ts`) does the waiting and the repeating, so an adapter sends each request once.
// - What `attach` throws as `refused` or `forbidden` is of the image alone: the message of its question says that the image is
//   missing, and nothing can be allowed there.
// - Texts of agents are hostile: `render` escapes them, so that they mention nobody, load nothing, and end no code block.
// - No error and no line of the log has a token: whatever is reported goes through `Secrets`.

import type { Card, CardImage, Form, Limits } from "./core/card.js";
import type { Act, Filled, Reply, Tap } from "./core/events.js";

export type { Act, Card, Filled, Form, Limits, Reply, Tap };

/** What is heard from a chat. */
export type Heard =
  | { type: "tap"; tap: Tap }
  | { type: "reply"; reply: Reply }
  | { type: "filled"; filled: Filled }
  /** A person deleted a message. Where a chat does not tell, it is noticed when the message is to change. */
  | { type: "deleted"; chat: string; ref: string }
  /** All before this is heard. `start` gets the last one after a restart, in chats that keep what happens meanwhile. */
  | { type: "position"; position: string };

/** What becomes of a message that was not taken. */
export type Trouble =
  /** There were too many: it is sent again after `retryAfterMs`. */
  | "rate"
  /** The network or the server failed: it is sent again. */
  | "passing"
  /** The bot may not write in this chat (any more): it is sent again each minute, for the case that this changes. */
  | "forbidden"
  /** The message to change is not there any more. */
  | "gone"
  /** It is too long, or the chat does not take it as it is: less is sent. */
  | "refused"
  /** The token does not count, or another process uses it: the bot ends. */
  | "revoked";

/** Why the chat did not take a message. The message is a sentence for the person who runs the bot. */
export class ChatError extends Error {
  constructor(
    readonly kind: Trouble,
    message: string,
    readonly retryAfterMs = 0,
  ) {
    super(message);
    this.name = "ChatError";
  }
}

/** How often a chat takes messages: so many at once, and then one each so often. */
export interface Pace {
  burst: number;
  everyMs: number;
}

/** A message to post. */
export interface Post {
  chat: string;
  card: Card;
  /** The same for each attempt to post this message, for chats that take a message once under such a name. */
  once: string;
  /** The message that it is a reply to. */
  above?: string;
}

/** An image to show beside the message of its question. */
export interface Picture {
  chat: string;
  /** The message of the question. */
  above: string;
  once: string;
  image: CardImage;
  caption: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** What `doctor` found: a sentence, and whether it is well. */
export interface Finding {
  isWell: boolean;
  text: string;
}

/** A chat. */
export interface Adapter {
  /** What the chat can show. */
  readonly limits: Limits;
  /** How often one chat takes messages, and all together. */
  pace(chat: string): Pace;
  readonly paceOfAll: Pace;
  /** Connects, and hears until `stop`. Returns the name of the bot. `fail` is called if it cannot go on. */
  start(hear: (heard: Heard) => void, fail: (error: ChatError) => void, position?: string): Promise<string>;
  stop(): Promise<void>;
  /** Posts a message. Returns the ID that the chat has for it. */
  post(post: Post): Promise<string>;
  /** Changes a message. `file` and `mentions` of the card count only when it is posted. */
  edit(chat: string, ref: string, card: Card): Promise<void>;
  /** Shows an image. Returns the ID that the chat has for it. */
  attach(picture: Picture): Promise<string>;
  /** Takes an image away, where it can be done. */
  detach(chat: string, ref: string): Promise<void>;
  /** Tells a person something in response to what the person did. An empty text says only that it was heard. */
  tell(act: Act, text: string): Promise<void>;
  /** Opens a form, where `limits.formFields` says that there are some. */
  open(act: Act, form: Form): Promise<void>;
  /** Looks whether the token counts, and whether the bot may write in these chats. */
  check(chats: string[], users: string[]): AsyncIterable<Finding>;
}

/** Replaces the secrets in a text, whoever wrote it. */
export class Secrets {
  readonly #secrets: string[];

  constructor(secrets: Iterable<string>) {
    // What is so short would stand in other words too.
    this.#secrets = [...secrets].filter(secret => secret.length >= 8).sort((a, b) => b.length - a.length);
  }

  hide(text: string): string {
    const forms = this.#secrets.flatMap(secret => [secret, encodeURIComponent(secret)]);
    return forms.reduce((hidden, form) => hidden.replaceAll(form, "(token)"), text);
  }
}
