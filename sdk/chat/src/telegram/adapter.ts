// Telegram, by the Bot API and long polling: no port is opened.

import { Bot, type Context, GrammyError, HttpError, InputFile } from "grammy";

import { type Act, type Adapter, ChatError, type Finding, type Heard, type Pace, type Picture, type Post } from "../adapter.js";
import type { Card } from "../core/card.js";
import { isPhoto, keyboard, limits, render } from "./render.js";

export interface TelegramOptions {
  token: string;
  /** A Bot API server other than Telegram's own. */
  apiRoot?: string;
  /** Another pace than that of Telegram, for a server of one's own. */
  everyMs?: number;
}

/** How long a request may take; one that waits for updates takes 30 s. */
const TIMEOUT_S = 60;
/** The most characters of the text that a tap is answered with. */
const TOLD = 200;

export class Telegram implements Adapter {
  readonly limits = limits;
  readonly #bot: Bot;
  readonly #everyMs: number | undefined;
  #polling: Promise<void> | undefined;

  constructor({ token, apiRoot, everyMs }: TelegramOptions) {
    this.#bot = new Bot(token, { client: { timeoutSeconds: TIMEOUT_S, ...(apiRoot && { apiRoot }) } });
    this.#everyMs = everyMs;
  }

  /** A group takes 20 messages a minute, a person one each second; a short burst is let through. */
  pace(chat: string): Pace {
    const isGroup = chat.startsWith("-");
    return { burst: isGroup ? 10 : 5, everyMs: this.#everyMs ?? (isGroup ? 3_000 : 1_000) };
  }

  get paceOfAll(): Pace {
    return { burst: 25, everyMs: this.#everyMs ?? 40 };
  }

  async start(hear: (heard: Heard) => void, fail: (error: ChatError) => void): Promise<string> {
    this.#bot.botInfo = await attempt(() => this.#bot.api.getMe());
    this.#bot.on("callback_query:data", context => hear(readTap(context)));
    this.#bot.on("message:text", context => {
      const heard = readReply(context);
      if (heard) return hear(heard);
      return isAsking(context) ? void tellIds(context).catch(() => {}) : undefined;
    });
    // A mistake in one update does not end the others.
    this.#bot.catch(() => {});
    this.#polling = this.#bot.start({ allowed_updates: ["callback_query", "message"] }).catch(error => fail(chatError(error)));
    return `@${this.#bot.botInfo.username} in Telegram`;
  }

  async stop(): Promise<void> {
    await this.#bot.stop();
    await this.#polling;
  }

  async post({ chat, card, above }: Post): Promise<string> {
    const [id, thread] = chat.split("/") as [string, string?];
    const where = { ...(thread && { message_thread_id: Number(thread) }) };
    const { text, entities } = render(card);
    const reply = above === undefined ? {} : { reply_parameters: { message_id: Number(above), allow_sending_without_reply: true } };
    const message = await attempt(() =>
      this.#bot.api.sendMessage(id, text, { ...where, ...reply, entities, reply_markup: keyboard(card), link_preview_options: { is_disabled: true } }),
    );
    const ref = String(message.message_id);
    if (card.file) await this.#attach(id, where, ref, card.file);
    return ref;
  }

  /** Sends the file of a card. The message is there: without its file, it still says what it has to. */
  async #attach(chat: string, where: object, ref: string, { name, text }: { name: string; text: string }): Promise<void> {
    const reply = { reply_parameters: { message_id: Number(ref), allow_sending_without_reply: true } };
    await this.#bot.api.sendDocument(chat, new InputFile(Buffer.from(text), name), { ...where, ...reply }).catch(() => {});
  }

  async edit(chat: string, ref: string, card: Card): Promise<void> {
    const [id] = chat.split("/") as [string];
    const { text, entities } = render(card);
    await attempt(() =>
      this.#bot.api.editMessageText(id, Number(ref), text, { entities, reply_markup: keyboard(card), link_preview_options: { is_disabled: true } }),
    );
  }

  /** A photo where Telegram shows all of it, and a file otherwise, or where it does not take it as a photo. */
  async attach({ chat, above, image, caption, bytes }: Picture): Promise<string> {
    const [id, thread] = chat.split("/") as [string, string?];
    // An image does not stand alone: without the message of its question, that is posted again first.
    const more = { caption, ...(thread && { message_thread_id: Number(thread) }), reply_parameters: { message_id: Number(above) } };
    const file = () => new InputFile(bytes, image.name);
    const asFile = () => attempt(() => this.#bot.api.sendDocument(id, file(), more));
    const asPhoto = () => attempt(() => this.#bot.api.sendPhoto(id, file(), more)).catch(error => (error.kind === "refused" ? asFile() : Promise.reject(error)));
    const message = await (isPhoto(image, bytes.length) ? asPhoto() : asFile());
    return String(message.message_id);
  }

  async detach(chat: string, ref: string): Promise<void> {
    await attempt(() => this.#bot.api.deleteMessage(chat.split("/")[0]!, Number(ref)));
  }

  async tell({ chat, raw }: Act, text: string): Promise<void> {
    const context = raw as Context;
    if (context.callbackQuery) {
      const short = text.length > TOLD ? `${text.slice(0, TOLD - 1)}…` : text;
      await attempt(() => context.answerCallbackQuery({ text: short, show_alert: short.length > 40 }));
    } else if (text) {
      const [id, thread] = chat.split("/") as [string, string?];
      const more = { ...(thread && { message_thread_id: Number(thread) }) };
      const reply = { message_id: context.message!.message_id, allow_sending_without_reply: true };
      await attempt(() => this.#bot.api.sendMessage(id, text, { ...more, reply_parameters: reply }));
    }
  }

  async open(): Promise<void> {
    throw new ChatError("refused", "Telegram has no forms");
  }

  async *check(chats: string[], users: string[]): AsyncIterable<Finding> {
    const found = async (isWell: string | (() => Promise<string>)): Promise<Finding> => {
      if (typeof isWell === "string") return { isWell: false, text: isWell };
      return isWell().then(text => ({ isWell: true, text }), error => ({ isWell: false, text: chatError(error).message }));
    };
    const me = await found(async () => {
      this.#bot.botInfo = await this.#bot.api.getMe();
      return `the token is that of @${this.#bot.botInfo.username}`;
    });
    yield me;
    for (const user of users) if (!/^\d+$/.test(user)) yield found(`users: ${user} is no ID of a person: write /id to the bot`);
    if (!me.isWell) return;
    for (const chat of chats) yield found(async () => this.#checkChat(chat));
  }

  async #checkChat(chat: string): Promise<string> {
    const id = chat.split("/")[0]!;
    const found = await this.#bot.api.getChat(id);
    const name = "title" in found ? `“${found.title}”` : `the chat with ${found.first_name ?? id}`;
    if (found.type === "private") return `the bot may write in ${name}`;
    const { status } = await this.#bot.api.getChatMember(id, this.#bot.botInfo.id);
    if (status === "left" || status === "kicked") throw new ChatError("forbidden", `the bot is not in ${name} (${chat}): add it there`);
    return `the bot may write in ${name}`;
  }
}

function act({ chat, from, update }: Context, thread?: number): Omit<Act, "raw"> {
  const name = [from!.first_name, from!.last_name].filter(Boolean).join(" ");
  return { id: String(update.update_id), chat: `${chat!.id}${thread === undefined ? "" : `/${thread}`}`, user: String(from!.id), name };
}

/** The topic that a message is in, which is a part of the ID of a chat as the settings have it. */
const threadOf = (message: { is_topic_message?: boolean; message_thread_id?: number } | undefined): number | undefined =>
  message?.is_topic_message ? message.message_thread_id : undefined;

function readTap(context: Context): Heard {
  const { id, data, message } = context.callbackQuery!;
  const thread = message && message.date !== 0 ? threadOf(message) : undefined;
  return { type: "tap", tap: { ...act(context, thread), id, data: data!, ref: String(message?.message_id ?? ""), raw: context } };
}

function readReply(context: Context): Heard | undefined {
  const { text, reply_to_message: to } = context.message!;
  if (!to || to.from?.id !== context.me.id) return undefined;
  return { type: "reply", reply: { ...act(context, threadOf(context.message)), text: text!, to: String(to.message_id), raw: context } };
}

const isAsking = ({ message }: Context): boolean => /^\/(id|start)(@\w+)?$/.test(message!.text!);

/** Tells a person the IDs that the settings need. They are no secret: everyone who writes to the bot may know them. */
async function tellIds(context: Context): Promise<void> {
  const thread = threadOf(context.message);
  const chat = `${context.chat!.id}${thread === undefined ? "" : `/${thread}`}`;
  await context.reply(`Your ID is ${context.from!.id}. The ID of this chat is ${chat}.`, thread === undefined ? {} : { message_thread_id: thread });
}

/** Does something, and throws what the bot knows how to go on from. */
async function attempt<T>(doing: () => Promise<T>): Promise<T> {
  try {
    return await doing();
  } catch (error) {
    const known = chatError(error);
    // The message says so already, or the person was told already.
    if (known.kind === "gone" && known.message === UNCHANGED) return undefined as T;
    throw known;
  }
}

const UNCHANGED = "unchanged";

/** Returns what an error of the Bot API means. */
export function chatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error;
  if (error instanceof HttpError) return new ChatError("passing", "Telegram is not reached; trying again");
  if (!(error instanceof GrammyError)) return new ChatError("passing", `Telegram: ${error instanceof Error ? error.message : String(error)}`);
  const { error_code: code, description, parameters } = error;
  const says = (kind: ChatError["kind"], text: string) => new ChatError(kind, text, (parameters.retry_after ?? 0) * 1000);
  if (code === 429) return says("rate", "Telegram takes no more messages for now");
  if (code === 401 || code === 404) return says("revoked", "Telegram refuses the token: make a new one with @BotFather (/token), and set it");
  if (code === 409) return says("revoked", "another program uses this bot of Telegram: end it, or make a bot of its own for askbridge");
  if (code >= 500) return says("passing", `Telegram has a problem (${description}); trying again`);
  if (parameters.migrate_to_chat_id !== undefined) return says("forbidden", `the group has another ID since it was made larger: set ${parameters.migrate_to_chat_id} in its place`);
  if (/message is not modified/i.test(description)) return says("gone", UNCHANGED);
  if (/query is too old|QUERY_ID_INVALID/i.test(description)) return says("gone", UNCHANGED);
  if (/message (to (edit|be replied|delete)|can't be (edited|deleted))|MESSAGE_ID_INVALID/i.test(description)) return says("gone", "the message was deleted in Telegram");
  if (code === 403 || /chat not found|not enough rights|TOPIC_CLOSED|thread not found|have no rights/i.test(description)) {
    return says("forbidden", `the bot may not write in its chat (${description}): add it there, or let the person write /start to it; what waits is posted then`);
  }
  return says("refused", `Telegram does not take a message (${description}): less of it is posted`);
}
