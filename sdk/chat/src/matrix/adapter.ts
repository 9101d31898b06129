// Matrix, by long polling of `/sync`: no port is opened. A tap is a reaction, or a reply that names a button.

import { createHash } from "node:crypto";

import { type Act, type Adapter, ChatError, type Finding, type Heard, type Pace, type Picture, type Post } from "../adapter.js";
import type { Card } from "../core/card.js";
import { MatrixClient, type MatrixEvent, type Sync } from "./client.js";
import { edited, escape, type Key, keyFor, KEYS, limits, render } from "./render.js";

export interface MatrixOptions {
  homeserver: string;
  token: string;
  everyMs?: number;
  /** The rooms that the bot joins when one of these persons invites it. */
  chats: string[];
  users: string[];
}

/** How long the server may keep a request for news, and how much longer it may take. */
const POLL = 30_000;
const LATE = 20_000;
const FIRST_AGAIN = 1_000;
const LAST_AGAIN = 60_000;
/** Of how many messages the buttons are remembered; those of the others are asked for. */
const REMEMBERED = 4_096;
const room = MatrixClient.room;

export class Matrix implements Adapter {
  readonly limits = limits;
  readonly #client: MatrixClient;
  readonly #stop = new AbortController();
  /** The buttons of each message as the room had them when the last event was read. */
  readonly #keys = new Map<string, Key[]>();
  readonly #plainRooms = new Set<string>();
  #me = "";
  #polling: Promise<void> | undefined;

  constructor(private readonly options: MatrixOptions) {
    this.#client = new MatrixClient(options.homeserver, options.token);
  }

  /** Servers limit a sender, by default to 10 messages and then one in 5 s; many allow more. They say when it was too much. */
  pace(): Pace {
    return { burst: 10, everyMs: this.options.everyMs ?? 500 };
  }

  get paceOfAll(): Pace {
    return this.pace();
  }

  async start(hear: (heard: Heard) => void, fail: (error: ChatError) => void, position?: string): Promise<string> {
    await this.#whoAmI();
    for (const chat of this.options.chats) await this.#join(chat);
    // What was said before the first start is not for the bot.
    const since = position ?? (await this.#sync(undefined, 0)).next_batch;
    this.#polling = this.#follow(since, hear).catch(error => {
      if (!this.#stop.signal.aborted) fail(error as ChatError);
    });
    return `${this.#me} in Matrix`;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#polling;
  }

  async #whoAmI(): Promise<void> {
    const { user_id: me } = await this.#client.call<{ user_id: string }>("GET", "/_matrix/client/v3/account/whoami");
    this.#me = me;
  }

  /** Joins a room, where the bot was invited. If it was not, that is said when it writes there. */
  async #join(chat: string): Promise<void> {
    await this.#client.call("POST", room(chat, "join"), {}).catch(error => {
      if ((error as ChatError).kind === "revoked") throw error;
    });
  }

  #sync(since: string | undefined, timeout: number): Promise<Sync> {
    const none = { types: [] };
    const filter = { presence: none, account_data: none, room: { ephemeral: none, account_data: none, state: none, timeline: { limit: 200, types: ["m.room.message", "m.reaction", "m.room.redaction"] } } };
    const query = new URLSearchParams({ timeout: String(timeout), filter: JSON.stringify(filter), ...(since !== undefined && { since }) });
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(timeout + LATE)]);
    return this.#client.call<Sync>("GET", `/_matrix/client/v3/sync?${query}`, undefined, signal);
  }

  async #follow(first: string, hear: (heard: Heard) => void): Promise<void> {
    let since = first;
    let again = FIRST_AGAIN;
    while (!this.#stop.signal.aborted) {
      try {
        const sync = await this.#sync(since, POLL);
        again = FIRST_AGAIN;
        await this.#invited(sync);
        for (const [chat, { timeline }] of Object.entries(sync.rooms?.join ?? {})) {
          if (!timeline) continue;
          const missed = timeline.limited ? await this.#missed(chat, timeline.prev_batch, since) : [];
          for (const event of [...missed, ...timeline.events]) await this.#take(chat, event, hear);
        }
        since = sync.next_batch;
        hear({ type: "position", position: since });
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        if (error instanceof ChatError && error.kind === "revoked") throw error;
        await new Promise(resolve => setTimeout(resolve, again));
        again = Math.min(2 * again, LAST_AGAIN);
      }
    }
  }

  /** Returns what the server left out because there was much, oldest first. */
  async #missed(chat: string, from: string | undefined, to: string): Promise<MatrixEvent[]> {
    if (from === undefined) return [];
    const query = new URLSearchParams({ dir: "b", limit: "500", from, to });
    const { chunk } = await this.#client.call<{ chunk: MatrixEvent[] }>("GET", `${room(chat, "messages")}?${query}`);
    return chunk.reverse();
  }

  async #invited({ rooms }: Sync): Promise<void> {
    for (const [chat, { invite_state: state }] of Object.entries(rooms?.invite ?? {})) {
      const invites = state?.events.filter(({ type, state_key: key, content }) => type === "m.room.member" && key === this.#me && content.membership === "invite");
      const isWanted = this.options.chats.includes(chat) && invites?.some(({ sender }) => this.options.users.includes(sender));
      if (isWanted) await this.#join(chat);
    }
  }

  async #take(chat: string, event: MatrixEvent, hear: (heard: Heard) => void): Promise<void> {
    if (event.sender === this.#me) return this.#remember(event);
    if (event.type === "m.room.redaction") {
      const ref = event.redacts ?? (event.content["redacts"] as string | undefined);
      return ref === undefined ? undefined : hear({ type: "deleted", chat, ref });
    }
    const relation = event.content["m.relates_to"] as { rel_type?: string; event_id?: string; key?: string; "m.in_reply_to"?: { event_id?: string } } | undefined;
    const act = { id: event.event_id, chat, user: event.sender, raw: event };
    if (event.type === "m.reaction" && relation?.rel_type === "m.annotation" && relation.event_id && relation.key) {
      const key = keyFor(await this.#keysOf(chat, relation.event_id, event), relation.key);
      if (key) hear({ type: "tap", tap: { ...act, data: key.data, ref: relation.event_id } });
      return;
    }
    const to = relation?.["m.in_reply_to"]?.event_id;
    if (event.type !== "m.room.message" || event.content["msgtype"] !== "m.text" || to === undefined || relation?.rel_type === "m.replace") return;
    const text = withoutFallback(String(event.content["body"] ?? ""));
    const key = keyFor(await this.#keysOf(chat, to, event), text);
    hear(key ? { type: "tap", tap: { ...act, data: key.data, ref: to } } : { type: "reply", reply: { ...act, text, to } });
  }

  /** Keeps the buttons that a message of the bot has from now on. */
  #remember({ event_id: id, type, content }: MatrixEvent): void {
    if (type !== "m.room.message") return;
    const relation = content["m.relates_to"] as { rel_type?: string; event_id?: string } | undefined;
    const isEdit = relation?.rel_type === "m.replace" && relation.event_id !== undefined;
    const shown = (isEdit ? content["m.new_content"] : content) as Record<string, unknown> | undefined;
    this.#keep(isEdit ? relation.event_id! : id, keysIn(shown));
  }

  #keep(ref: string, keys: Key[]): void {
    this.#keys.delete(ref);
    this.#keys.set(ref, keys);
    if (this.#keys.size > REMEMBERED) this.#keys.delete(this.#keys.keys().next().value!);
  }

  /** Returns the buttons of a message when a person did something with it. After a restart, the server knows them. */
  async #keysOf(chat: string, ref: string, { origin_server_ts: at }: MatrixEvent): Promise<Key[]> {
    const known = this.#keys.get(ref);
    if (known) return known;
    const event = await this.#client.call<MatrixEvent>("GET", room(chat, "event", ref)).catch(() => undefined);
    if (!event || event.sender !== this.#me) return [];
    const edit = event.unsigned?.["m.relations"]?.["m.replace"];
    // An edit that came later is not what the person saw.
    if (edit && edit.origin_server_ts > at) return [];
    const keys = keysIn((edit?.content["m.new_content"] ?? event.content) as Record<string, unknown>);
    this.#keep(ref, keys);
    return keys;
  }

  async post({ chat, card, once, above }: Post): Promise<string> {
    await this.#lookEncrypted(chat);
    const reply = above === undefined ? {} : { "m.relates_to": { "m.in_reply_to": { event_id: above } } };
    // The server takes a message once under such a name.
    const name = createHash("sha256").update(once).digest("base64url");
    const ref = await this.#send(chat, { ...render(card), ...reply }, name);
    if (card.file) await this.#attach(chat, ref, card.file, name).catch(() => {});
    return ref;
  }

  async #send(chat: string, content: object, name: string): Promise<string> {
    const { event_id: ref } = await this.#client.call<{ event_id: string }>("PUT", room(chat, "send", "m.room.message", name), content);
    return ref;
  }

  async #attach(chat: string, ref: string, { name, text }: { name: string; text: string }, once: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    const url = await this.#client.upload(name, "text/plain", bytes);
    const file = { msgtype: "m.file", body: name, filename: name, url, info: { mimetype: "text/plain", size: bytes.length } };
    await this.#send(chat, { ...file, "m.mentions": {}, "m.relates_to": { "m.in_reply_to": { event_id: ref } } }, `${once}f`);
  }

  /** The server takes an event once under its name, so an image that is uploaded again after a kill is still one message. */
  async attach({ chat, above, once, image, caption, bytes }: Picture): Promise<string> {
    await this.#lookEncrypted(chat);
    const { name: filename, type, width, height } = image;
    const url = await this.#client.upload(filename, type, bytes);
    const content = { msgtype: "m.image", body: caption, filename, url, info: { mimetype: type, size: bytes.length, w: width, h: height } };
    const name = createHash("sha256").update(once).digest("base64url");
    return this.#send(chat, { ...content, "m.mentions": {}, "m.relates_to": { "m.in_reply_to": { event_id: above } } }, name);
  }

  async detach(chat: string, ref: string): Promise<void> {
    await this.#client.call("PUT", room(chat, "redact", ref, `d${ref}`), {});
  }

  async edit(chat: string, ref: string, card: Card): Promise<void> {
    await this.#lookEncrypted(chat);
    await this.#send(chat, edited(ref, render(card)), `e${Date.now()}.${Math.random()}`);
  }

  /** Says something in reply. That an answer was sent, the message of the question says already. */
  async tell({ chat, raw }: Act, text: string): Promise<void> {
    if (text === "" || text === "Sent.") return;
    const { event_id: to, sender } = raw as MatrixEvent;
    const content = { msgtype: "m.notice", body: text, format: "org.matrix.custom.html", formatted_body: escape(text), "m.mentions": { user_ids: [sender] } };
    await this.#send(chat, { ...content, "m.relates_to": { "m.in_reply_to": { event_id: to } } }, `t${to}`);
  }

  async open(): Promise<void> {
    throw new ChatError("refused", "Matrix has no forms");
  }

  /** An encrypted room is not written to: the bot has no keys, and its texts would be the only ones that all servers can read. */
  async #lookEncrypted(chat: string): Promise<void> {
    if (this.#plainRooms.has(chat)) return;
    let isEncrypted = true;
    try {
      await this.#client.call("GET", room(chat, "state", "m.room.encryption"));
    } catch (error) {
      if (!(error instanceof ChatError) || error.kind !== "forbidden" || !/not found/i.test(error.message)) throw error;
      isEncrypted = false;
    }
    if (isEncrypted) throw new ChatError("forbidden", `the room ${chat} is encrypted, and the bot cannot read such rooms: make one without encryption`);
    this.#plainRooms.add(chat);
  }

  async *check(chats: string[], users: string[]): AsyncIterable<Finding> {
    const found = (doing: () => Promise<string>): Promise<Finding> => doing().then(text => ({ isWell: true, text }), error => ({ isWell: false, text: (error as Error).message }));
    const me = await found(async () => {
      await this.#whoAmI();
      return `the token is that of ${this.#me}`;
    });
    yield me;
    for (const user of users) if (!/^@[^:]+:.+$/.test(user)) yield { isWell: false, text: `users: ${user} is no ID of a person, such as @ben:example.org` };
    if (!me.isWell) return;
    for (const chat of chats) {
      yield found(async () => {
        if (!chat.startsWith("!")) throw new Error(`chats: ${chat} is no ID of a room: its settings show it, under Advanced, and it begins with !`);
        const { joined_rooms: joined } = await this.#client.call<{ joined_rooms: string[] }>("GET", "/_matrix/client/v3/joined_rooms");
        if (!joined.includes(chat)) throw new Error(`the bot is not in ${chat}: invite ${this.#me} there`);
        await this.#lookEncrypted(chat);
        return `the bot may write in ${chat}`;
      });
    }
  }
}

function keysIn(content: Record<string, unknown> | undefined): Key[] {
  const keys = content?.[KEYS];
  return Array.isArray(keys) ? (keys as Key[]) : [];
}

/** Takes the quotation from a reply that older clients put before it. */
const withoutFallback = (body: string): string => body.replace(/^(?:> [^\n]*\n)+\n/, "");
