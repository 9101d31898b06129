// Slack, in Socket Mode: the bot asks for a connection, so no port is opened.
//
// It is made of `@slack/socket-mode` and `@slack/web-api`, and not of `@slack/bolt`, which has both inside: 15 MiB in 16
// packages in place of 22 MiB in 112, 0.11 s in place of 0.23 s to load, and 8 MiB of memory less. What Bolt adds is a server
// for HTTP, and a way to find the listener of an event, of which there are two here.
//
// The library's own reconnecting is off: it waits 5 s before each connection, and ends the process if a token was revoked.

import { SocketModeClient } from "@slack/socket-mode";
import { WebClient, type WebClientOptions } from "@slack/web-api";

import { type Act, type Adapter, ChatError, type Finding, type Form, type Heard, type Pace, type Picture, type Post } from "../adapter.js";
import { type Card, cut } from "../core/card.js";
import { chatError, UNCHANGED } from "./errors.js";
import { modal } from "./form.js";
import { asksForIds, type Envelope, readDeleted, readEvent, readInteraction, readReply, type SlackMessageEvent, type SlackRaw } from "./hear.js";
import { escape, limits, render } from "./render.js";

export interface SlackOptions {
  botToken: string;
  appToken: string;
  /** An API other than Slack's own. */
  apiRoot?: string;
  /** Another pace than that of Slack, for a test. */
  everyMs?: number;
}

/** How long a request may take. */
const TIMEOUT = 30_000;
/** The most characters of what one person is told. */
const TOLD = 1_000;
/** How soon a lost connection is made again: at once, and then ever later. */
const FIRST_AGAIN = 500;
const LAST_AGAIN = 60_000;

const silent = { debug() {}, info() {}, warn() {}, error() {}, setLevel() {}, setName() {}, getLevel: () => "error" as never };

export class Slack implements Adapter {
  readonly limits = limits;
  readonly #web: WebClient;
  readonly #app: WebClient;
  readonly #socket: SocketModeClient;
  readonly #everyMs: number | undefined;
  readonly #stop = new AbortController();
  #me = "";

  constructor({ botToken, appToken, apiRoot, everyMs }: SlackOptions) {
    const options: WebClientOptions = {
      // Whoever calls waits and repeats.
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: TIMEOUT,
      ...(apiRoot && { slackApiUrl: `${apiRoot.replace(/\/$/, "")}/` }),
    };
    // The library would log addresses, in which there are secrets.
    this.#web = new WebClient(botToken, { ...options, logger: silent });
    this.#app = new WebClient(appToken, { ...options, logger: silent });
    this.#socket = new SocketModeClient({ appToken, logger: silent, autoReconnectEnabled: false, clientOptions: options });
    this.#everyMs = everyMs;
  }

  /** A channel takes one message each second, and a short burst; changes of messages are 50 a minute. */
  pace(): Pace {
    return { burst: 5, everyMs: this.#everyMs ?? 1_200 };
  }

  get paceOfAll(): Pace {
    return { burst: 20, everyMs: this.#everyMs ?? 200 };
  }

  async start(hear: (heard: Heard) => void, fail: (error: ChatError) => void): Promise<string> {
    const { user, user_id, team } = await attempt(() => this.#web.auth.test());
    this.#me = user_id!;
    // An attempt before may have failed.
    this.#socket.removeAllListeners("slack_event");
    this.#socket.on("slack_event", (envelope: Envelope) => this.#hear(envelope, hear));
    await this.#connect();
    this.#socket.on("disconnected", () => void this.#reconnect().catch(error => fail(chatError(error))));
    return `@${user} in Slack (${team})`;
  }

  async #connect(): Promise<void> {
    try {
      await this.#socket.start();
    } catch (error) {
      throw error === undefined ? new ChatError("passing", "Slack ended the connection; trying again") : chatError(error, "app-token");
    }
  }

  #isReconnecting = false;

  /** Connects again: Slack ends each connection after some hours, and any that is lost. */
  async #reconnect(): Promise<void> {
    if (this.#isReconnecting) return;
    this.#isReconnecting = true;
    try {
      for (let after = 0; !this.#stop.signal.aborted; after = Math.min(Math.max(2 * after, FIRST_AGAIN), LAST_AGAIN)) {
        if (after) await sleep(after, this.#stop.signal);
        try {
          return await this.#connect();
        } catch (error) {
          const { kind, retryAfterMs } = chatError(error);
          if (kind !== "passing" && kind !== "rate") throw error;
          after = Math.max(after, retryAfterMs);
        }
      }
    } finally {
      this.#isReconnecting = false;
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    // The other side may not answer that the connection is to be closed.
    await Promise.race([this.#socket.disconnect().catch(() => {}), sleep(1_000)]);
  }

  /** Acknowledges, before Slack's 3 s are over and whatever it is, and reads what is the bot's. */
  #hear({ ack, body }: Envelope, hear: (heard: Heard) => void): void {
    ack().catch(() => {});
    const event = readEvent(body);
    if (event && asksForIds(event, this.#me)) return void this.#tellIds(event).catch(() => {});
    const heard = event ? readReply(event, String(body["event_id"])) : (readInteraction(body) ?? readDeleted(body));
    if (heard) hear(heard);
  }

  /** Tells a person the IDs that the settings need. They are no secret: Slack shows them to everyone. */
  async #tellIds({ user, channel, ts }: SlackMessageEvent): Promise<void> {
    await this.#web.chat.postMessage({ channel, thread_ts: ts, text: `Your ID is ${user}. The ID of this chat is ${channel}.` });
  }

  async post({ chat, card, above }: Post): Promise<string> {
    const message = { channel: chat, ...render(card), unfurl_links: false, unfurl_media: false, parse: "none", link_names: false } as const;
    // What stands in a thread alone would be overlooked. Where the upper message was deleted, it stands by itself.
    const below = { ...message, thread_ts: above ?? "", reply_broadcast: true };
    const inThread = above === undefined ? undefined : await attempt(() => this.#web.chat.postMessage(below)).catch(onlyGone);
    const posted = inThread ?? (await attempt(() => this.#web.chat.postMessage(message)));
    const ref = posted.ts!;
    // The message is there: without its file, it still says what it has to.
    if (card.file) await this.#upload(chat, ref, { filename: card.file.name, title: card.file.name }, Buffer.from(card.file.text)).catch(() => {});
    return ref;
  }

  /** Shows a file in the thread of a message. */
  async #upload(channel: string, ref: string, { filename, title }: { filename: string; title: string }, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    const { upload_url: url, file_id: id } = await this.#web.files.getUploadURLExternal({ filename, length: bytes.length });
    // The address is a secret by itself: no token is sent to it.
    const { ok, status } = await fetch(url!, { method: "POST", body: bytes, redirect: "error", signal: AbortSignal.timeout(TIMEOUT) });
    if (!ok) throw new ChatError(status >= 500 || status === 429 ? "passing" : "refused", `Slack does not take a file (${status})`);
    await this.#web.files.completeUploadExternal({ files: [{ id: id!, title }], channel_id: channel, thread_ts: ref });
    return id!;
  }

  async attach({ chat, above, image, caption, bytes }: Picture): Promise<string> {
    return attempt(() => this.#upload(chat, above, { filename: image.name, title: caption }, bytes));
  }

  async detach(_chat: string, ref: string): Promise<void> {
    await attempt(() => this.#web.files.delete({ file: ref }));
  }

  async edit(chat: string, ref: string, card: Card): Promise<void> {
    await attempt(() => this.#web.chat.update({ channel: chat, ts: ref, ...render(card), parse: "none", link_names: false }));
  }

  async tell({ chat, user, raw }: Act, text: string): Promise<void> {
    if (!text) return;
    const { thread } = raw as SlackRaw;
    await attempt(() => this.#web.chat.postEphemeral({ channel: chat, user, text: escape(cut(text, TOLD)), ...(thread && { thread_ts: thread }), parse: "none", link_names: false }));
  }

  async open(act: Act, form: Form): Promise<void> {
    const { trigger = "" } = act.raw as SlackRaw;
    try {
      await attempt(() => this.#web.views.open({ trigger_id: trigger, view: modal(form, act.chat) }));
    } catch (error) {
      await this.tell(act, "The form did not open. Tap again, or reply in the thread of the message.");
      throw error;
    }
  }

  async *check(chats: string[], users: string[]): AsyncIterable<Finding> {
    const found = (doing: () => Promise<string>): Promise<Finding> =>
      doing().then(text => ({ isWell: true, text }), error => ({ isWell: false, text: chatError(error).message }));
    let scopes: string[] = [];
    const me = await found(async () => {
      const { user, team, response_metadata: more } = await this.#web.auth.test();
      scopes = more?.scopes ?? [];
      return `the bot-token is that of @${user} in ${team}`;
    });
    yield me;
    yield await found(() => this.#checkApp());
    for (const user of users) if (!/^[UW][A-Z0-9]+$/.test(user)) yield { isWell: false, text: `users: ${user} is no ID of a person: write “id” to the bot` };
    if (!me.isWell) return;
    yield* checkScopes(scopes);
    for (const chat of chats) yield await found(() => this.#checkChat(chat));
  }

  async #checkApp(): Promise<string> {
    try {
      // The address that comes back is used by nobody, and is over soon.
      await this.#app.apps.connections.open({});
    } catch (error) {
      throw chatError(error, "app-token");
    }
    return "the app-token opens connections";
  }

  async #checkChat(chat: string): Promise<string> {
    if (!/^[CDG][A-Z0-9]+$/.test(chat)) throw new ChatError("forbidden", `chats: ${chat} is no ID of a chat: write “id” to the bot there, or “@name id” in a channel`);
    const { channel } = await this.#web.conversations.info({ channel: chat });
    if (channel?.is_im) return `the bot may write in the chat ${chat} with one person`;
    const name = `#${channel?.name ?? chat}`;
    if (channel?.is_archived) throw new ChatError("forbidden", `${name} (${chat}) is archived: choose another one`);
    if (!channel?.is_member) throw new ChatError("forbidden", `the bot is not in ${name} (${chat}): write /invite @name of the bot there`);
    return `the bot may write in ${name}`;
  }
}

/** What is needed, and what is amiss without it. */
const SCOPES: [string, string?][] = [
  ["chat:write"],
  ["files:write", "images are not shown, so that what has some cannot be allowed there, and a change that is too long is not attached as a file"],
  ["channels:history", "replies in threads of public channels are not read"],
  ["groups:history", "replies in threads of private channels are not read"],
  ["im:history", "replies and “id” in the chat with the bot are not read"],
];

function* checkScopes(scopes: string[]): Iterable<Finding> {
  for (const [scope, without] of SCOPES) {
    if (scopes.includes(scope)) continue;
    const text = `the app has no scope ${scope}${without ? `: ${without}` : ": add it under OAuth & Permissions, and install the app again"}`;
    yield { isWell: without !== undefined, text };
  }
}

/** Does something, and throws what the bot knows how to go on from. */
async function attempt<T>(doing: () => Promise<T>): Promise<T> {
  try {
    return await doing();
  } catch (error) {
    const known = chatError(error);
    if (known.message === UNCHANGED) return undefined as T;
    throw known;
  }
}

/** Lets a message that is gone be, and throws anything else. */
function onlyGone(error: unknown): undefined {
  if (!(error instanceof ChatError) || error.kind !== "gone") throw error;
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
