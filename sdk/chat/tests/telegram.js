// A stand-in for Telegram's Bot API: the methods that the bot uses, with the answers, errors and limits of the real one.

import { createServer } from "node:http";

import { formOf, sizeOf } from "./multipart.js";
import { ABSENT, checkTypes } from "./types/check.js";

export const TOKEN = "123456:AAH-this_is_a_token_of_a_test_00000";
const BOT = { id: 777, is_bot: true, first_name: "Inbox", username: "inbox_bot" };
const ME = { ...BOT, can_join_groups: true, can_read_all_group_messages: false, can_manage_bots: false, supports_inline_queries: false, can_connect_to_business: false, has_main_web_app: false, has_topics_enabled: false, allows_users_to_create_topics: false };
const PEOPLE = { ben: { id: 1, is_bot: false, first_name: "Ben" }, ada: { id: 2, is_bot: false, first_name: "Ada" }, eve: { id: 9, is_bot: false, first_name: "Eve" } };

/** What the real API says, by what goes wrong. */
const ERRORS = {
  busy: [429, "Too Many Requests: retry after 1", { retry_after: 1 }],
  down: [502, "Bad Gateway"],
  refused: [400, "Bad Request: message is too long"],
  out: [403, "Forbidden: bot was kicked from the supergroup chat"],
};

export class Telegram {
  name = "Telegram";
  kind = "telegram";
  room = "-100";
  people = PEOPLE;
  secrets = [TOKEN.split(":")[1]];
  words = {
    down: "Telegram has a problem (Bad Gateway); trying again",
    refused: "Telegram does not take a message (Bad Request: message is too long)",
    imageRefused: "an image is not shown: Telegram does not take a message (Bad Request: message is too long)",
    out: "the bot may not write in its chat (Forbidden: bot was kicked from the supergroup chat)",
    outDoctor: /problem +the bot may not write in its chat/,
    revoked: "Telegram refuses the token: make a new one with @BotFather",
    well: /ok +the inbox is reached.*\n.*ok +the token is that of @inbox_bot\n.*ok +the bot may write in “Team”/,
  };
  token = TOKEN;
  /** What was called, in order. */
  calls = [];
  messages = new Map();
  /** By ID: what `sendMessage` fails with there. */
  troubles = new Map();
  /** Responses to give before any other, as `[method, error]`. */
  next = [];
  /** When a chat was written to: with `limit`, more than that within `window` ms is 429. */
  limit = Infinity;
  window = 1_000;
  tooMany = 0;
  updates = [];
  sent = [];
  images = [];
  #written = new Map();
  #update = 100;
  #message = 10;
  #callback = 1;
  #waiting = new Set();

  async start(port = 0) {
    this.server = createServer((request, response) => void this.#serve(request, response));
    await new Promise(resolve => this.server.listen(port, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  end() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url) ?? [];
    const body = Buffer.concat(chunks);
    const type = request.headers["content-type"] ?? "";
    const { fields, files } = type.startsWith("multipart/") ? formOf(request, body) : {};
    const params = fields ? decoded(fields) : type.startsWith("application/json") && body.length ? JSON.parse(body) : {};
    const reply = (status, value) => {
      if (response.destroyed) return;
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(value));
    };
    const fail = (code, description, parameters) => reply(code, { ok: false, error_code: code, description, ...(parameters && { parameters }) });
    if (token !== this.token) return fail(401, "Unauthorized");
    if (method !== "getUpdates") this.calls.push({ method, params, files, at: performance.now() });
    const planned = this.next.findIndex(([name]) => name === method);
    if (planned >= 0) {
      const [[, [code, description, parameters]]] = this.next.splice(planned, 1);
      return fail(code, description, parameters);
    }
    if (method === "getUpdates") return this.#getUpdates(params, response, result => reply(200, { ok: true, result }));
    try {
      reply(200, { ok: true, result: this.#call(method, params, files) });
    } catch (error) {
      if (!error.code) throw error;
      fail(error.code, error.description, error.parameters);
    }
  }

  #getUpdates({ offset = 0, timeout = 0 }, response, reply) {
    this.updates = this.updates.filter(({ update_id }) => update_id >= offset);
    const give = () => reply(this.updates.slice(0, 100));
    if (this.updates.length || !timeout) return give();
    const wake = () => {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      give();
    };
    const timer = setTimeout(wake, timeout * 1000);
    response.once("close", () => (clearTimeout(timer), this.#waiting.delete(wake)));
    this.#waiting.add(wake);
  }

  #call(method, params, files) {
    switch (method) {
      case "getMe":
        return ME;
      case "deleteWebhook":
      case "answerCallbackQuery":
        return true;
      case "sendMessage":
        return this.#send(params);
      case "sendPhoto":
      case "sendDocument":
        return this.#sendFile(params, files[(params.photo ?? params.document).slice("attach://".length)], method === "sendPhoto");
      case "deleteMessage":
        this.images = this.images.filter(({ id }) => id !== params.message_id);
        return true;
      case "editMessageText":
        return this.#edit(params);
      case "getChat":
        this.#refuseIf(this.troubles.get(String(params.chat_id)));
        return { ...this.#chat(params.chat_id), accent_color_id: 0, max_reaction_count: 0, accepted_gift_types: {} };
      case "getChatMember":
        return { status: "member", user: BOT };
      default:
        throw this.#error(404, `Not Found: method ${method} not found`);
    }
  }

  #error = (code, description, parameters) => Object.assign(new Error(description), { code, description, parameters });

  #refuseIf(trouble) {
    if (trouble) throw this.#error(...trouble);
  }

  #chat(id) {
    const number = Number(id);
    return number < 0 ? { id: number, type: "supergroup", title: "Team" } : { id: number, type: "private", first_name: "Ben" };
  }

  /** What the real API looks at before it takes a message. */
  #look({ chat_id: id, text, entities = [], reply_markup: markup }) {
    this.#refuseIf(this.troubles.get(String(id)));
    if (!text || !text.trim()) throw this.#error(400, "Bad Request: message text is empty");
    if (text.length > 4096) throw this.#error(400, "Bad Request: message is too long");
    if (text !== text.trim()) throw new Error("the bot sends white space that Telegram takes away");
    for (const { offset, length } of entities) {
      if (offset < 0 || length < 1 || offset + length > text.length) throw this.#error(400, "Bad Request: entity is out of the text");
    }
    for (const { text: label, callback_data: data } of markup?.inline_keyboard?.flat() ?? []) {
      if (!label) throw this.#error(400, "Bad Request: text buttons are unallowed in the inline keyboard");
      if (Buffer.byteLength(data) > 64) throw this.#error(400, "Bad Request: BUTTON_DATA_INVALID");
    }
    const now = Date.now();
    const recent = (this.#written.get(String(id)) ?? []).filter(at => now - at < this.window);
    if (recent.length >= this.limit) {
      this.tooMany++;
      throw this.#error(429, "Too Many Requests: retry after 1", { retry_after: 1 });
    }
    this.#written.set(String(id), [...recent, now]);
  }

  #send(params) {
    this.#look(params);
    const { chat_id: chat, text, entities, reply_markup, reply_parameters } = params;
    const id = ++this.#message;
    const message = { message_id: id, date: 1, chat: this.#chat(chat), from: BOT, text, ...(entities?.length && { entities }), ...(reply_markup && { reply_markup }) };
    this.messages.set(`${chat}:${id}`, { ...message, edits: 0, above: reply_parameters?.message_id });
    return message;
  }

  #sendFile({ chat_id: chat, reply_parameters: reply, caption = "" }, { name, bytes }, isPhoto) {
    this.#refuseIf(this.troubles.get(String(chat)));
    if (!reply.allow_sending_without_reply && !this.messages.has(`${chat}:${reply.message_id}`)) throw this.#error(400, "Bad Request: message to be replied not found");
    if (caption.length > 1024) throw this.#error(400, "Bad Request: message caption is too long");
    if (bytes.length > (isPhoto ? 10_000_000 : 50_000_000)) throw this.#error(413, "Request Entity Too Large");
    const [short, long] = isPhoto ? sizeOf(bytes).sort((a, b) => a - b) : [1, 1];
    if (short + long > 10_000 || long > 20 * short) throw this.#error(400, "Bad Request: PHOTO_INVALID_DIMENSIONS");
    const id = ++this.#message;
    this.images.push({ id, above: reply.message_id, name, bytes, isPhoto, caption });
    const file = { file_id: `f${id}`, file_unique_id: `u${id}` };
    return { message_id: id, date: 1, chat: this.#chat(chat), from: BOT, caption, ...(isPhoto ? { photo: [{ ...file, width: long, height: short }] } : { document: file }) };
  }

  #edit(params) {
    const message = this.messages.get(`${params.chat_id}:${params.message_id}`);
    if (!message) throw this.#error(400, "Bad Request: message to edit not found");
    this.#look(params);
    const { text, entities, reply_markup } = params;
    const isSame = text === message.text && JSON.stringify(reply_markup) === JSON.stringify(message.reply_markup) && JSON.stringify(entities ?? []) === JSON.stringify(message.entities ?? []);
    if (isSame) throw this.#error(400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same");
    Object.assign(message, { text, entities, reply_markup, edits: message.edits + 1 });
    return message;
  }

  all = () => [...this.messages.values()];
  shown = ({ text }) => text;
  refOf = message => message.message_id;
  above = message => message.above;
  times = what => this.calls.filter(({ method }) => (what === "post" ? method === "sendMessage" : /^send(Photo|Document)$/.test(method))).map(({ at }) => at);

  settings = (chats = [this.room], more = "") =>
    `text = "all"\n${more}\n[telegram]\ntoken = "${TOKEN}"\napi-root = "${this.url}"\npace = "0"\nchats = ${JSON.stringify(chats)}\nusers = { "1" = "Ben", "2" = "Ada" }\n`;

  /** Lets the next of its kind fail. An image is tried as a photo and as a file. */
  plan(what, how) {
    const names = what === "post" ? ["sendMessage"] : how === "refused" ? ["sendPhoto", "sendDocument"] : ["sendPhoto"];
    for (const name of names) this.next.push([name, ERRORS[how]]);
  }

  putOut = isOut => void (isOut ? this.troubles.set(this.room, ERRORS.out) : this.troubles.clear());

  revoke(isRevoked) {
    this.token = isRevoked ? "another" : TOKEN;
    this.push();
  }

  /** Returns the newest message whose text has these words. */
  find(words) {
    return this.all().filter(({ text }) => text.includes(words)).pop();
  }

  buttons = message => message?.reply_markup?.inline_keyboard.flat().map(({ text }) => text) ?? [];

  /** Sends updates to the bot, in this order. */
  push(...updates) {
    for (const update of updates) {
      this.updates.push(update);
      this.sent.push(update);
    }
    for (const wake of [...this.#waiting]) wake();
  }

  /** What was sent last comes again, as after a crash of Telegram. */
  again() {
    const update = this.sent.at(-1);
    return () => this.push({ ...update, update_id: this.#update++ });
  }

  reply = (who, message, words) => this.write(who, message.chat.id, words, message);

  askForIds() {
    this.write("eve", 9, "/start");
    return ["Your ID is 9. The ID of this chat is 9."];
  }

  /** A person deletes a message. Telegram tells no bot. */
  remove = message => void this.messages.delete(`${message.chat.id}:${message.message_id}`);

  /** A person taps a button. Returns the ID of the callback query. */
  tap(who, message, label) {
    const { callback_data: data } = message.reply_markup.inline_keyboard.flat().find(({ text }) => text === label);
    const id = `cb${this.#callback++}`;
    const { edits, above, ...shown } = message;
    this.push({ update_id: this.#update++, callback_query: { id, from: PEOPLE[who], message: shown, chat_instance: "1", data } });
    return id;
  }

  /** A person writes, in reply to a message or not. */
  write(who, chat, text, to) {
    const { edits, above, ...shown } = to ?? {};
    const message = { message_id: ++this.#message, date: 1, chat: this.#chat(chat), from: PEOPLE[who], text, ...(to && { reply_to_message: shown }) };
    if (text.startsWith("/")) message.entities = [{ type: "bot_command", offset: 0, length: text.length }];
    this.push({ update_id: this.#update++, message });
    return message;
  }

  /** What a person was told in response to a tap. */
  told(_who, id) {
    return this.calls.filter(({ method, params }) => method === "answerCallbackQuery" && params.callback_query_id === id).map(({ params }) => params.text);
  }

  /** Checks all that was sent to either side against the published types. */
  async check() {
    const head = `import type { ApiMethods } from "@grammyjs/types/methods.js";\nimport type { Update } from "@grammyjs/types/update.js";\ntype Methods = ApiMethods<never>;\ntype Of<M extends keyof Methods> = Parameters<Methods[M]>[0] extends undefined ? object : Parameters<Methods[M]>[0];`;
    const calls = this.calls.map(({ method, params }) => [`Of<"${method}">`, params]);
    const isReply = ({ message }) => message?.reply_to_message;
    const whole = update => ({ ...update, message: { ...update.message, reply_to_message: { ...update.message.reply_to_message, reply_to_message: ABSENT } } });
    return checkTypes(head, [...calls, ...this.sent.map(update => ["Update", isReply(update) ? whole(update) : update])]);
  }
}

/** Members that are no text, which a form has as texts. */
const decoded = fields => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, /^[{[]/.test(value) ? JSON.parse(value) : /_id$/.test(name) && name !== "chat_id" ? Number(value) : value]));
