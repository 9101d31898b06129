// Discord, by its gateway: the bot opens a connection, and no port.
//
// It is made of `@discordjs/rest` and `@discordjs/ws`, the parts that discord.js has inside: 17 MiB in 16 packages in place of
// 27 MiB in 25, 0.24 s in place of 0.30 s to load, and 4 MiB of memory less, before discord.js keeps each server and channel in
// memory. `@discordjs/core` would add names for requests, of which there are ten here.
//
// The bot asks for no privileged intent. Taps and forms need none; a reply that mentions the bot, as replies do, has its text.

import { REST } from "@discordjs/rest";
import { WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import {
  type APIApplication,
  type APIMessage,
  type GatewayDispatchPayload,
  GatewayDispatchEvents,
  GatewayIntentBits,
  MessageFlags,
  MessageReferenceType,
  type RESTPatchAPIChannelMessageJSONBody,
  type RESTPostAPIChannelMessageJSONBody,
  Routes,
} from "discord-api-types/v10";
import { createHash } from "node:crypto";

import { type Act, type Adapter, ChatError, type Finding, type Form, type Heard, type Pace, type Picture, type Post } from "../adapter.js";
import { type Card, cut } from "../core/card.js";
import { checkChat } from "./check.js";
import { chatError } from "./errors.js";
import { modal } from "./form.js";
import { asksForIds, type DiscordRaw, isAnswerable, readInteraction, readReply } from "./hear.js";
import { isId, limits, render } from "./render.js";
import { Responder, told } from "./responder.js";

export interface DiscordOptions {
  token: string;
  /** An API other than Discord's own. */
  apiRoot?: string;
  /** Another pace than that of Discord, for a test. */
  everyMs?: number;
}

type Attaching = Pick<RESTPatchAPIChannelMessageJSONBody, "attachments">;

/** The most characters of what is said of an image to those who do not see it: each may be two units of the 1,024. */
const ALT = 512;
/** How long a request may take. */
const TIMEOUT = 30_000;
const INTENTS = GatewayIntentBits.GuildMessages | GatewayIntentBits.DirectMessages;

export class Discord implements Adapter {
  readonly limits = limits;
  readonly #rest: REST;
  readonly #everyMs: number | undefined;
  readonly #token: string;
  #gateway: WebSocketManager | undefined;
  #me = "";

  constructor({ token, apiRoot, everyMs }: DiscordOptions) {
    // Whoever calls waits and repeats.
    this.#rest = new REST({ version: "10", retries: 0, rejectOnRateLimit: () => true, timeout: TIMEOUT, ...(apiRoot && { api: apiRoot }) }).setToken(token);
    this.#token = token;
    this.#everyMs = everyMs;
  }

  /** A channel takes 5 messages in 5 s. */
  pace(): Pace {
    return { burst: 5, everyMs: this.#everyMs ?? 1_000 };
  }

  get paceOfAll(): Pace {
    return { burst: 20, everyMs: this.#everyMs ?? 25 };
  }

  async start(hear: (heard: Heard) => void, fail: (error: ChatError) => void): Promise<string> {
    try {
      const { id, username } = (await this.#rest.get(Routes.user())) as { id: string; username: string };
      this.#me = id;
      await this.#connect(hear, fail);
      return `@${username} in Discord`;
    } catch (error) {
      await this.stop();
      throw chatError(error);
    }
  }

  /** The library connects again by itself: where Discord asks for it, and where a connection is lost. */
  async #connect(hear: (heard: Heard) => void, fail: (error: ChatError) => void): Promise<void> {
    const gateway = (this.#gateway = new WebSocketManager({ intents: INTENTS, rest: this.#rest }));
    gateway.setToken(this.#token);
    gateway.on(WebSocketShardEvents.Dispatch, payload => this.#hear(payload, hear));
    gateway.on(WebSocketShardEvents.SocketError, () => {});
    let isReady = false;
    // Before the bot is ready, it is this call that fails.
    gateway.on(WebSocketShardEvents.Error, error => {
      const known = chatError(error);
      if (isReady && known.kind === "revoked") fail(known);
    });
    await gateway.connect();
    isReady = true;
  }

  async stop(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    // The other side may not answer that the connection is to be closed.
    await Promise.race([gateway?.destroy(), new Promise(resolve => setTimeout(resolve, 1_000).unref())]);
  }

  #hear({ t: type, d: data }: GatewayDispatchPayload, hear: (heard: Heard) => void): void {
    switch (type) {
      case GatewayDispatchEvents.InteractionCreate: {
        const heard = isAnswerable(data) ? readInteraction(data, new Responder(this.#rest, data)) : undefined;
        return heard && hear(heard);
      }
      case GatewayDispatchEvents.MessageCreate: {
        if (asksForIds(data, this.#me)) return this.#answer(data.channel_id, data.id, `Your ID is ${data.author.id}. The ID of this chat is ${data.channel_id}.`);
        const heard = readReply(data, this.#me);
        if (heard?.type !== "reply") return;
        // Discord shows a text only to those whom it mentions, or who ask for all texts.
        if (!heard.reply.text) return this.#answer(data.channel_id, data.id, "I cannot read this: reply with the mention on (@ ON), or tap “Write …”.");
        return hear(heard);
      }
      case GatewayDispatchEvents.MessageDelete:
        return hear({ type: "deleted", chat: data.channel_id, ref: data.id });
    }
  }

  /** Answers a message, where nothing depends on whether this arrives. */
  #answer(chat: string, to: string, text: string): void {
    this.#send(chat, { content: told(text) }, to).catch(() => {});
  }

  #send(chat: string, body: RESTPostAPIChannelMessageJSONBody, above?: string, file?: { name: string; text: string }): Promise<unknown> {
    const mentions = { allowed_mentions: { parse: [], replied_user: false }, ...body };
    const reply = above === undefined ? {} : { message_reference: { type: MessageReferenceType.Default, message_id: above, fail_if_not_exists: false } };
    const files = file && [{ name: file.name, data: Buffer.from(file.text), contentType: "text/plain" }];
    return this.#rest.post(Routes.channelMessages(chat), { body: { ...mentions, ...reply, flags: MessageFlags.SuppressEmbeds }, ...(files && { files }) });
  }

  async post({ chat, card, once, above }: Post): Promise<string> {
    const body: RESTPostAPIChannelMessageJSONBody = {
      ...render(card),
      // Discord takes a message once under such a name, for some minutes.
      nonce: createHash("sha256").update(once).digest("base64url").slice(0, 24),
      enforce_nonce: true,
      ...(card.mentions && { allowed_mentions: { parse: [], users: card.mentions.filter(isId), replied_user: false } }),
    };
    const message = await attempt(() => (card.file ? this.#sendWithFile(chat, body, above, card.file) : this.#send(chat, body, above)));
    return (message as APIMessage).id;
  }

  /** Without its file, a message still says what it has to. */
  #sendWithFile(chat: string, body: RESTPostAPIChannelMessageJSONBody, above: string | undefined, file: { name: string; text: string }): Promise<unknown> {
    return this.#send(chat, body, above, file).catch(error => {
      const { kind } = chatError(error);
      if (kind === "refused" || kind === "forbidden") return this.#send(chat, body, above);
      throw error;
    });
  }

  async edit(chat: string, ref: string, card: Card): Promise<void> {
    const body: RESTPatchAPIChannelMessageJSONBody = { ...render(card), allowed_mentions: { parse: [] }, flags: MessageFlags.SuppressEmbeds };
    await attempt(() => this.#rest.patch(Routes.channelMessage(chat, ref), { body }));
  }

  /** An image becomes a part of the message of its question. One that is there already, from before a kill, is not added again. */
  async attach({ chat, above, once, image, caption, bytes }: Picture): Promise<string> {
    const hash = createHash("sha256").update(once).digest("hex").slice(0, 12);
    const filename = image.name.replace(".", `-${hash}.`);
    return attempt(async () => {
      const present = await this.#attachmentsOf(chat, above);
      const known = present.find(one => one.filename === filename);
      if (known) return `${above}/${known.id}`;
      // The list has all that the message has from then on.
      const attachments = [...present.map(({ id }) => ({ id })), { id: 0, filename, description: cut(caption, ALT) }];
      const files = [{ key: "files[0]", name: filename, data: Buffer.from(bytes), contentType: image.type }];
      const route = Routes.channelMessage(chat, above);
      const { attachments: after } = (await this.#rest.patch(route, { body: { attachments } satisfies Attaching, files })) as APIMessage;
      const added = after.find(one => one.filename === filename);
      if (!added) throw new ChatError("refused", "Discord does not show an image");
      return `${above}/${added.id}`;
    });
  }

  async #attachmentsOf(chat: string, message: string): Promise<APIMessage["attachments"]> {
    const { attachments } = (await this.#rest.get(Routes.channelMessage(chat, message))) as APIMessage;
    return attachments;
  }

  async detach(chat: string, ref: string): Promise<void> {
    const [message, attachment] = ref.split("/") as [string, string];
    await attempt(async () => {
      const left = (await this.#attachmentsOf(chat, message)).filter(({ id }) => id !== attachment);
      await this.#rest.patch(Routes.channelMessage(chat, message), { body: { attachments: left.map(({ id }) => ({ id })) } satisfies Attaching });
    });
  }

  async tell({ chat, raw }: Act, text: string): Promise<void> {
    const { responder, message } = raw as DiscordRaw;
    await attempt(async () => (responder ? responder.tell(text) : text && this.#send(chat, { content: told(text) }, message)));
  }

  async open({ raw }: Act, form: Form): Promise<void> {
    const { responder } = raw as DiscordRaw;
    await attempt(async () => responder?.open(modal(form)));
  }

  async *check(chats: string[], users: string[]): AsyncIterable<Finding> {
    const found = (doing: () => Promise<string>): Promise<Finding> =>
      doing().then(text => ({ isWell: true, text }), error => ({ isWell: false, text: chatError(error).message }));
    const me = await found(async () => {
      const { bot, name, id } = (await this.#rest.get(Routes.currentApplication())) as APIApplication;
      this.#me = bot?.id ?? id;
      return `the token is that of @${bot?.username ?? name}`;
    });
    yield me;
    for (const user of users) if (!isId(user)) yield { isWell: false, text: `users: ${user} is no ID of a person: write “id” to the bot` };
    if (!me.isWell) return;
    for (const chat of chats) yield await found(() => checkChat(this.#rest, chat, this.#me));
  }
}

/** Does something, and throws what the bot knows how to go on from. */
async function attempt<T>(doing: () => Promise<T>): Promise<T> {
  try {
    return await doing();
  } catch (error) {
    throw chatError(error);
  }
}
