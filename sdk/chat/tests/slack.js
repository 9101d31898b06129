// A stand-in for Slack: the methods of the Web API that the bot uses, with the answers, errors and limits of the real one, and
// Socket Mode.

import { createServer } from "node:http";
import { WebSocketServer } from "ws";

import { ABSENT, checkTypes } from "./types/check.js";

export const BOT_TOKEN = "xoxb-1111-2222-aTokenOfATestOfABot";
export const APP_TOKEN = "xapp-1-A000-3333-aTokenOfATestOfAnApp";
const ME = "U0BOT";
const PEOPLE = { ben: { id: "U01BEN", name: "ben" }, ada: { id: "U02ADA", name: "ada" }, eve: { id: "U09EVE", name: "eve" } };
const SCOPES = ["chat:write", "files:write", "channels:history", "groups:history", "im:history", "channels:read", "groups:read", "im:read"];
/** How long a form can be opened after a tap, and how soon an envelope has to be acknowledged. */
const SOON = 3_000;

/** What the real API says, by what goes wrong: an HTTP status, or the name of an error. */
const ERRORS = { post: { busy: 429, down: 503, refused: "msg_blocks_too_long" }, attach: { busy: 429, refused: "missing_scope" } };

const fail = (error, more = {}) => Object.assign(new Error(error), { body: { ok: false, error, ...more } });
const need = (isWell, error, message) => {
  if (!isWell) throw fail(error, { response_metadata: { messages: [message] } });
};
const text = (value, most, what) => need(value?.type === "plain_text" && value.text.length >= 1 && value.text.length <= most, "invalid_blocks", `${what}: ${value?.text?.length} of ${most}`);

/** What Slack looks at in blocks, by the limits of its reference. */
function lookAt(blocks, most) {
  need(Array.isArray(blocks) && blocks.length <= most, "invalid_blocks", `${blocks.length} blocks`);
  const names = blocks.map(block => block.block_id).filter(name => name !== undefined);
  need(new Set(names).size === names.length && names.every(name => name && name.length <= 255), "invalid_blocks", "block_id");
  for (const block of blocks) LOOK[block.type](block);
  need(JSON.stringify(blocks).length <= 13_200, "msg_blocks_too_long", "too long");
}

const LOOK = {
  actions({ elements }) {
    need(elements.length >= 1 && elements.length <= 25, "invalid_blocks", `${elements.length} elements`);
    need(new Set(elements.map(one => one.action_id)).size === elements.length, "invalid_blocks", "action_id twice");
    for (const { type, action_id: id, value, text: label, style } of elements) {
      need(type === "button" && id.length <= 255 && value.length <= 2_000, "invalid_blocks", "button");
      need([undefined, "primary", "danger"].includes(style), "invalid_blocks", "style");
      text(label, 75, "label");
    }
  },
  section({ text: shown }) {
    need(shown.text.length >= 1 && shown.text.length <= 3_000, "invalid_blocks", "section");
  },
  rich_text({ elements }) {
    need(elements.length >= 1, "invalid_blocks", "no elements");
    for (const element of elements) {
      need(element.elements.length >= 1, "invalid_blocks", `an empty ${element.type}`);
      const types = element.type === "rich_text_preformatted" ? ["text", "link"] : ["text", "user", "link"];
      for (const { type, text: words } of element.elements) need(types.includes(type) && (type !== "text" || words), "invalid_blocks", `an element in ${element.type}`);
    }
  },
  input({ label, hint, element }) {
    text(label, 2_000, "label");
    if (hint) text(hint, 2_000, "hint");
    const { type, options, initial_value: initial = "" } = element;
    need(initial.length <= 3_000, "invalid_arguments", "initial_value");
    if (type === "plain_text_input") return;
    need(options.length >= 1 && options.length <= (type === "checkboxes" ? 10 : 100), "invalid_arguments", `${options.length} options`);
    need(new Set(options.map(({ value }) => value)).size === options.length, "invalid_arguments", "an option twice");
    for (const { text: shown, value } of options) {
      text(shown, 75, "option");
      need(value.length <= 150, "invalid_arguments", "value");
    }
  },
};

/** Members that are no text, which the library sends as texts. */
const decoded = (name, value) => (/^[[{]/.test(value) ? JSON.parse(value) : /^(true|false)$/.test(value) ? value === "true" : name === "length" ? Number(value) : value);

export class Slack {
  name = "Slack";
  kind = "slack";
  room = "C0TEAM";
  people = PEOPLE;
  secrets = [...BOT_TOKEN.split("-").slice(-1), ...APP_TOKEN.split("-").slice(-1), "ticket="];
  words = {
    down: "Slack has a problem (503); trying again",
    refused: "Slack does not take a message (msg_blocks_too_long)",
    imageRefused: "an image is not shown: the app has no scope for this: add it under OAuth & Permissions",
    out: "the bot is not in its channel",
    outDoctor: /problem +the bot is not in its channel: invite it there/,
    revoked: "Slack refuses the bot-token",
    well: /ok +the bot-token is that of @inbox in Team\n.*ok +the app-token opens connections\n.*ok +the bot may write in #team/,
  };
  token = BOT_TOKEN;
  appToken = APP_TOKEN;
  scopes = SCOPES;
  calls = [];
  messages = new Map();
  forms = [];
  /** Files by their IDs, and those of them that are shown in a thread. */
  files = new Map();
  images = [];
  /** By channel: the error of whatever is done there. */
  troubles = new Map();
  /** Responses to give before any other, as `[method, error]`; an error is a name, or an HTTP status. */
  next = [];
  limit = Infinity;
  window = 1_000;
  tooMany = 0;
  sockets = new Set();
  connections = 0;
  /** By envelope: when it was sent, and when it was acknowledged. */
  envelopes = new Map();
  sent = [];
  #written = new Map();
  #triggers = new Map();
  /** By tap: how many calls there were before. */
  #since = new Map();
  #count = 0;

  async start() {
    this.server = createServer((request, response) => void this.#serve(request, response));
    this.link = new WebSocketServer({ server: this.server, path: "/link" });
    this.link.on("connection", (socket, request) => this.#connected(socket, request));
    await new Promise(resolve => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  end() {
    for (const socket of this.link.clients) socket.terminate();
    this.server.closeAllConnections();
    this.server.close();
  }

  /** A ticket opens one connection. */
  #tickets = new Set();

  #connected(socket, request) {
    const ticket = new URL(request.url, this.url).searchParams.get("ticket");
    if (!this.#tickets.delete(ticket)) return socket.terminate();
    this.connections++;
    this.sockets.add(socket);
    socket.on("close", () => this.sockets.delete(socket));
    socket.on("message", data => {
      const { envelope_id: id } = JSON.parse(data);
      Object.assign(this.envelopes.get(id) ?? {}, { acknowledged: performance.now() });
    });
    socket.send(JSON.stringify({ type: "hello", num_connections: this.sockets.size, connection_info: { app_id: "A000" } }));
  }

  /** Ends all connections, as Slack does when a host is taken out, or without a word. */
  disconnect(reason) {
    for (const socket of this.sockets) {
      if (reason) socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "wss-1" } }));
      else socket.terminate();
    }
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const body = bytes.toString();
    const method = request.url.slice("/api/".length);
    const reply = (status, value, headers = {}) => {
      response.writeHead(status, { "Content-Type": "application/json", "X-OAuth-Scopes": this.scopes.join(","), ...headers });
      response.end(JSON.stringify(value));
    };
    if (request.url.startsWith("/upload/")) {
      const file = this.files.get(request.url.slice("/upload/".length));
      if (bytes.length !== file?.length) return reply(400, "the length is another one");
      Object.assign(file, { bytes, authorization: request.headers.authorization });
      return reply(this.storage ?? 200, "OK");
    }
    const params = Object.fromEntries([...new URLSearchParams(body)].map(([name, value]) => [name, decoded(name, value)]));
    this.calls.push({ method, params, at: performance.now() });
    try {
      const isApp = method === "apps.connections.open";
      if (request.headers.authorization !== `Bearer ${isApp ? this.appToken : this.token}`) throw fail("invalid_auth");
      const planned = this.next.findIndex(([name]) => name === method);
      if (planned >= 0) this.#planned(this.next.splice(planned, 1)[0][1]);
      reply(200, { ok: true, ...this.#call(method, params) });
    } catch (error) {
      if (error.status) reply(error.status, { ok: false, error: "ratelimited" }, { "Retry-After": "1" });
      else if (error.body) reply(200, error.body);
      else throw error;
    }
  }

  #planned(error) {
    throw typeof error === "number" ? Object.assign(new Error(), { status: error }) : fail(error);
  }

  #call(method, params) {
    switch (method) {
      case "auth.test":
        return { user: "inbox", user_id: ME, team: "Team", team_id: "T000", bot_id: "B000", url: this.url };
      case "apps.connections.open": {
        const ticket = `t${++this.#count}`;
        this.#tickets.add(ticket);
        return { url: `${this.url.replace("http", "ws")}/link?ticket=${ticket}` };
      }
      case "chat.postMessage":
        return this.#post(params);
      case "chat.update":
        return this.#update(params);
      case "chat.postEphemeral":
        this.#may(params.channel);
        return { message_ts: this.#ts() };
      case "views.open":
        return this.#open(params);
      case "files.getUploadURLExternal":
        return this.#announce(params);
      case "files.completeUploadExternal":
        return this.#share(params);
      case "files.delete":
        if (!this.files.delete(params.file)) throw fail("file_not_found");
        this.images = this.images.filter(({ id }) => id !== params.file);
        return {};
      case "conversations.info":
        this.#may(params.channel);
        return { channel: params.channel.startsWith("D") ? { id: params.channel, is_im: true } : { id: params.channel, name: "team", is_member: !this.isOut } };
      default:
        throw fail("unknown_method");
    }
  }

  #ts = () => `1767225600.${String(++this.#count).padStart(6, "0")}`;

  #may(channel) {
    const trouble = this.troubles.get(channel);
    if (trouble) throw fail(...[trouble].flat());
  }

  #look({ channel, text: words, blocks }) {
    this.#may(channel);
    need(words && words.length <= 4_000, "msg_too_long", "text");
    if (blocks) lookAt(blocks, 50);
    const now = Date.now();
    const recent = (this.#written.get(channel) ?? []).filter(at => now - at < this.window);
    if (recent.length >= this.limit) {
      this.tooMany++;
      this.#planned(429);
    }
    this.#written.set(channel, [...recent, now]);
  }

  #post(params) {
    this.#look(params);
    const { channel, thread_ts: thread, text: words, blocks } = params;
    if (thread && !this.messages.has(`${channel}:${thread}`) && !this.sent.some(({ event }) => event?.ts === thread)) throw fail("thread_not_found");
    const message = { channel, ts: this.#ts(), text: words, blocks, edits: 0, thread_ts: thread };
    this.messages.set(`${channel}:${message.ts}`, message);
    return { channel, ts: message.ts };
  }

  #update(params) {
    const message = this.messages.get(`${params.channel}:${params.ts}`);
    if (!message) throw fail("message_not_found");
    this.#look(params);
    Object.assign(message, { text: params.text, blocks: params.blocks, edits: message.edits + 1 });
    return { channel: params.channel, ts: params.ts };
  }

  #announce({ filename: name, length }) {
    if (!this.scopes.includes("files:write")) throw fail("missing_scope", { needed: "files:write", provided: this.scopes.join(",") });
    const id = `F${++this.#count}`;
    this.files.set(id, { id, name, length });
    return { upload_url: `${this.url}/upload/${id}`, file_id: id };
  }

  #share({ files, channel_id: channel, thread_ts: above }) {
    this.#may(channel);
    if (!this.messages.has(`${channel}:${above}`)) throw fail("thread_not_found");
    for (const { id, title } of files) {
      const file = this.files.get(id);
      if (!file?.bytes) throw fail("file_not_found");
      this.images.push({ ...file, title, above });
    }
    return { files };
  }

  #open({ trigger_id: trigger, view }) {
    const at = this.#triggers.get(trigger);
    if (at === undefined) throw fail("exchanged_trigger_id");
    this.#triggers.delete(trigger);
    if (performance.now() - at > SOON) throw fail("expired_trigger_id");
    for (const part of [view.title, view.submit, view.close]) text(part, 24, "title");
    need(view.private_metadata.length <= 3_000, "invalid_arguments", "private_metadata");
    lookAt(view.blocks, 100);
    this.forms.push({ ...view, id: `V${++this.#count}`, trigger });
    return { view: { id: `V${this.#count}` } };
  }

  /** What a person reads in a message. */
  shown = message => message.blocks?.filter(({ type }) => type === "rich_text").flatMap(({ elements }) => elements.flatMap(one => one.elements.map(part => part.text ?? `@${part.user_id}`))).join("") ?? message.text;

  all = () => [...this.messages.values()];
  refOf = message => message.ts;
  above = message => message.thread_ts;
  times = what => this.calls.filter(({ method }) => method === (what === "post" ? "chat.postMessage" : "files.getUploadURLExternal")).map(({ at }) => at);

  settings = (chats = [this.room], more = "") =>
    `text = "all"\n${more}\n[slack]\nbot-token = "${BOT_TOKEN}"\napp-token = "${APP_TOKEN}"\napi-root = "${this.url}/api"\npace = "0"\nchats = ${JSON.stringify(chats)}\nusers = { "U01BEN" = "Ben", "U02ADA" = "Ada" }\n`;

  plan = (what, how) => void this.next.push([what === "post" ? "chat.postMessage" : "files.getUploadURLExternal", ERRORS[what][how]]);

  putOut = isOut => void (isOut ? this.troubles.set(this.room, "not_in_channel") : this.troubles.clear());

  revoke = isRevoked => void (this.token = isRevoked ? "another" : BOT_TOKEN);

  find(words) {
    return this.all().filter(message => this.shown(message).includes(words)).pop();
  }

  #elements = message => message?.blocks?.filter(({ type }) => type === "actions").flatMap(({ elements }) => elements) ?? [];

  buttons = message => this.#elements(message).map(({ text: { text: label } }) => label);

  /** Sends what a person did over the newest connection. */
  push(type, payload) {
    const id = `e${++this.#count}`;
    this.envelopes.set(id, { at: performance.now() });
    this.sent.push(payload);
    [...this.sockets].pop().send(JSON.stringify({ envelope_id: id, type, accepts_response_payload: type === "interactive", payload }));
  }

  /** A person taps a button. Returns the trigger of the tap. */
  tap(who, message, label) {
    const element = this.#elements(message).find(one => one.text.text === label);
    const trigger = `${++this.#count}.trigger`;
    this.#triggers.set(trigger, performance.now());
    this.#since.set(trigger, this.calls.length);
    const { channel, ts, blocks } = message;
    this.push("interactive", {
      type: "block_actions",
      user: { ...PEOPLE[who], username: who, team_id: "T000" },
      api_app_id: "A000",
      container: { type: "message", message_ts: ts, channel_id: channel, is_ephemeral: false },
      trigger_id: trigger,
      team: { id: "T000", domain: "team" },
      channel: { id: channel, name: "team" },
      message: { type: "message", user: ME, bot_id: "B000", ts, text: message.text, blocks },
      response_url: `${this.url}/response`,
      actions: [{ type: "button", action_id: element.action_id, block_id: "b1", text: element.text, value: element.value, action_ts: this.#ts() }],
    });
    return trigger;
  }

  /** What a person did last comes again. */
  again() {
    const payload = this.sent.at(-1);
    return () => this.push("interactive", payload);
  }

  /** A person fills in the form that the bot opened last: a value for each field. */
  fill(who, values) {
    const { trigger, ...view } = this.forms.at(-1);
    const state = { values: Object.fromEntries(view.blocks.map(({ block_id: name, element }, place) => [name, { [element.action_id]: stateOf(element, values[place]) }])) };
    this.push("interactive", { type: "view_submission", user: { ...PEOPLE[who], username: who, team_id: "T000" }, view: { ...view, state }, team: { id: "T000", domain: "team" }, api_app_id: "A000", trigger_id: "later", response_urls: [] });
  }

  /** A person writes, in the thread of a message or by itself. */
  write(who, channel, words, to) {
    const type = channel.startsWith("D") ? "im" : "channel";
    const event = { type: "message", channel, channel_type: type, user: PEOPLE[who].id, text: words, ts: this.#ts(), event_ts: this.#ts(), ...(to && { thread_ts: to.ts }) };
    this.push("events_api", { token: "unused", team_id: "T000", api_app_id: "A000", event, type: "event_callback", event_id: `Ev${this.#count}`, event_time: 1 });
    return event;
  }

  reply = (who, message, words) => this.write(who, message.channel, words.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"), message);

  askForIds() {
    this.write("eve", "D0EVE", "id");
    this.write("eve", "C0NEW", "<@U0BOT> id");
    return ["D0EVE", "C0NEW"].map(chat => `Your ID is U09EVE. The ID of this chat is ${chat}.`);
  }

  /** A person deletes a message. */
  remove(message) {
    const { channel, ts, text: words } = message;
    this.messages.delete(`${channel}:${ts}`);
    const event = { type: "message", subtype: "message_deleted", channel, channel_type: "channel", hidden: true, deleted_ts: ts, ts: this.#ts(), event_ts: this.#ts(), previous_message: { type: "message", user: ME, text: words, ts } };
    this.push("events_api", { token: "unused", team_id: "T000", api_app_id: "A000", event, type: "event_callback", event_id: `Ev${this.#count}`, event_time: 1 });
  }

  /** What a person was told since a tap, and nobody else sees. */
  told = (who, tap) => this.calls.slice(this.#since.get(tap)).filter(({ method, params }) => method === "chat.postEphemeral" && params.user === PEOPLE[who].id).map(({ params }) => params.text);

  /** Checks all that was sent against the published types, and that all was acknowledged in time. */
  async check() {
    for (const [id, { at, acknowledged }] of this.envelopes) {
      if (!(acknowledged - at < SOON)) throw new Error(`${id} was acknowledged after ${acknowledged - at} ms`);
    }
    const types = { "chat.postMessage": "ChatPostMessageArguments", "chat.update": "ChatUpdateArguments", "chat.postEphemeral": "ChatPostEphemeralArguments", "views.open": "ViewsOpenArguments", "files.getUploadURLExternal": "FilesGetUploadURLExternalArguments", "files.completeUploadExternal": "FilesCompleteUploadExternalArguments", "files.delete": "FilesDeleteArguments", "conversations.info": "ConversationsInfoArguments" };
    const head = `import type { KnownBlock, MessageEvent } from "@slack/types";\nimport type { ${Object.values(types).join(", ")} } from "@slack/web-api";\ntype Strict<T> = T & { blocks?: KnownBlock[] };`;
    const calls = this.calls.filter(({ method }) => types[method]).map(({ method, params }) => [`Strict<${types[method]}>`, params]);
    const events = this.sent.filter(({ event }) => event && !event.subtype).map(({ event }) => ["MessageEvent", { ...event, subtype: ABSENT }]);
    return checkTypes(head, [...calls, ...events]);
  }
}

/** Returns the state of an input as Slack sends it. */
function stateOf({ type, options }, given) {
  const option = label => ({ text: options.find(one => one.text.text === label).text, value: options.find(one => one.text.text === label).value });
  if (type === "plain_text_input") return { type, value: given ?? null };
  if (type === "static_select") return { type, selected_option: given === undefined ? null : option(given) };
  return { type, selected_options: (given ?? []).map(option) };
}
