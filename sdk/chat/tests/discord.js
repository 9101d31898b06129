// A stand-in for Discord: the requests of the API that the bot makes, with the answers, errors, limits and buckets of the real
// one, and a gateway that resumes.

import { createServer } from "node:http";
import { WebSocketServer } from "ws";

import { formOf } from "./multipart.js";
import { checkTypes } from "./types/check.js";

export const TOKEN = "MTAwMDAwMDAwMDAwMDAwMDAw.GaBcDe.aTokenOfATestOfABot_00000000000000000";
const id = number => String(100_000_000_000_000_000n + BigInt(number));
export const ME = id(7);
export const TEAM = id(50);
/** A chat with one person. */
export const ALONE = id(99);
const GUILD = id(60);
const APPLICATION = id(8);
const user = (number, name, more = {}) => ({ id: id(number), username: name, discriminator: "0", global_name: name, avatar: null, ...more });
const BOT = user(7, "inbox", { bot: true });
export const PEOPLE = { ben: user(1, "ben"), ada: user(2, "ada"), eve: user(9, "eve") };
/** How soon Discord wants the first response, and what the bot may do by its role: see, write, attach and read history. */
const SOON = 3_000;
const MAY = String((1 << 10) | (1 << 11) | (1 << 15) | (1 << 16));

/** What the real API says, by what goes wrong. */
const ERRORS = {
  busy: [429, 0, "You are being rate limited.", { retry_after: 1, global: false }],
  down: [502, 0, "Bad Gateway"],
  refused: [400, 50035, "Invalid Form Body"],
  out: [403, 50001, "Missing Access"],
};

const refusal = (status, code, message, more = {}) => Object.assign(new Error(message), { status, body: { code, message, ...more } });
const need = (isWell, what) => {
  if (!isWell) throw refusal(400, 50035, "Invalid Form Body", { errors: { _errors: [{ code: "BASE_TYPE", message: what }] } });
};
const within = (text, least, most, what) => need(typeof text === "string" && text.length >= least && text.length <= most, `${what}: ${text?.length} of ${most}`);
const unique = (names, what) => need(new Set(names).size === names.length, `${what} twice`);

/** What Discord looks at in a message, by the limits of its reference. */
function lookAt({ content, components = [], nonce, allowed_mentions: mentions, flags = 0 }) {
  within(content, 1, 2_000, "content");
  need(content.trim() === content, "white space is taken away");
  need(components.length <= 5, `${components.length} rows`);
  for (const { type, components: row } of components) {
    need(type === 1 && row.length >= 1 && row.length <= 5, `${row.length} buttons in a row`);
    for (const button of row) {
      need(button.type === 2 && [1, 2, 3, 4].includes(button.style), "style");
      within(button.label, 1, 80, "label");
    }
  }
  const names = components.flatMap(row => row.components.map(button => button.custom_id));
  for (const name of names) within(name, 1, 100, "custom_id");
  unique(names, "custom_id");
  if (nonce !== undefined) within(nonce, 1, 25, "nonce");
  if (!mentions || mentions.parse.length) throw new Error("the bot lets a text mention somebody");
  return flags;
}

function lookAtModal({ custom_id: name, title, components }) {
  within(name, 1, 100, "custom_id");
  within(title, 1, 45, "title");
  need(components.length >= 1 && components.length <= 5, `${components.length} inputs`);
  unique(components.map(({ component }) => component.custom_id), "custom_id");
  for (const { label, description, component } of components) {
    within(label, 1, 45, "label");
    if (description !== undefined) within(description, 1, 100, "description");
    within(component.custom_id, 1, 100, "custom_id");
    if (component.type === 4) {
      within(component.value ?? "", 0, 4_000, "value");
      continue;
    }
    const { options, min_values: least, max_values: most } = component;
    need(component.type === 3 && options.length >= 1 && options.length <= 25 && most <= options.length && least <= most, `${options.length} options`);
    need(options.filter(one => one.default).length <= most, "defaults");
    unique(options.map(({ value }) => value), "an option");
    for (const option of options) {
      within(option.label, 1, 100, "option");
      within(option.value, 1, 100, "value");
    }
  }
}

/** Returns what Discord shows of a text, and what it takes as markup in it. */
export function read(content) {
  const markup = [];
  let text = "";
  const rules = [
    [/^```(?:([a-z0-9_+\-.#]+?)\n)?\n*([^\n][^]*?)\n*```/i, ([, , code]) => code],
    [/^(`+)([^]*?[^`])\1(?!`)/, ([, , code]) => code],
    [/^\\([^0-9A-Za-z\s])/, ([, sign]) => sign, true],
    [/^<(?:@[!&]?|#|a?:\w+:|t:|\/)[^>]*>|^@(?:everyone|here)|^https?:\/\/[^\s<]+|^\[[^\]]*\]\([^)]*\)/, ([whole]) => whole],
    [/^(?:\*\*?|__?|~~|\|\|)/, () => ""],
    [/^(?:>>>|>|#{1,3}|-#|[-*+]|\d+\.) /, ([whole]) => (whole === "> " ? "" : whole), false, true],
  ];
  for (let rest = content; rest; ) {
    const isLead = text === "" || /\n[ \t]*$/.test(text);
    const rule = rules.find(([pattern, , , leads]) => (!leads || isLead) && pattern.test(rest));
    if (!rule) {
      text += rest[0];
      rest = rest.slice(1);
      continue;
    }
    const found = rule[0].exec(rest);
    if (!rule[2]) markup.push(found[0]);
    text += rule[1](found);
    rest = rest.slice(found[0].length);
  }
  return { text, markup };
}

/** Takes the files of a request: the list names each of them, and what stays of those that are there. */
function attach(message, { attachments }, files, makeId) {
  const named = attachments ?? Object.keys(files).map(key => ({ id: Number(/\d+/.exec(key)) }));
  need(named.length <= 10, `${named.length} attachments`);
  need(Object.values(files).reduce((sum, { bytes }) => sum + bytes.length, 0) <= 10 * 1024 * 1024, "files too large");
  message.attachments = named.map(({ id: name, description = "" }) => {
    within(description, 0, 1_024, "description");
    const kept = message.attachments.find(one => one.id === name);
    const file = files[`files[${name}]`];
    need(kept || file, `no file ${name}`);
    // Whoever asks for the message is told of its files, and not what is in them.
    return kept ?? Object.defineProperty({ id: makeId(), filename: file.name, content_type: file.type, size: file.bytes.length }, "bytes", { value: file.bytes });
  });
}

export class Discord {
  name = "Discord";
  kind = "discord";
  room = TEAM;
  people = PEOPLE;
  secrets = TOKEN.split(".").slice(1);
  words = {
    down: "Discord has a problem (502); trying again",
    refused: "Discord does not take a message (50035)",
    imageRefused: "an image is not shown: Discord does not take a message (50035)",
    out: "the bot may not see its channel",
    outDoctor: /problem +the bot may not see its channel: let it see the channel/,
    revoked: "Discord refuses the token: make a new one",
    well: /ok +the token is that of @inbox\n.*ok +the bot may write in #team/,
  };
  token = TOKEN;
  calls = [];
  messages = new Map();
  forms = [];
  /** By channel: `[status, code, message]` of whatever is done there. */
  troubles = new Map();
  /** Responses to give before any other, as `[method and name, error]`. */
  next = [];
  limit = Infinity;
  window = 1_000;
  tooMany = 0;
  permissions = MAY;
  overwrites = [];
  /** The code with which the gateway ends each new session. */
  closes = undefined;
  sockets = new Set();
  identified = 0;
  resumed = 0;
  sent = [];
  interactions = new Map();
  #session;
  #count = 1_000;
  #written = new Map();
  #nonces = new Map();

  async start() {
    this.server = createServer((request, response) => void this.#serve(request, response));
    this.gateway = new WebSocketServer({ server: this.server, path: "/gateway" });
    this.gateway.on("connection", socket => this.#connected(socket));
    await new Promise(resolve => this.server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  end() {
    for (const socket of this.gateway.clients) socket.terminate();
    this.server.closeAllConnections();
    this.server.close();
  }

  #id = () => id(++this.#count);

  // The gateway

  #connected(socket) {
    const send = message => socket.send(JSON.stringify(message));
    send({ op: 10, d: { heartbeat_interval: 41_250 }, s: null, t: null });
    socket.on("close", () => this.sockets.delete(socket));
    socket.on("message", data => {
      const { op, d } = JSON.parse(data);
      if (op === 1) send({ op: 11, d: null, s: null, t: null });
      if (op === 2) this.#identify(socket, d, send);
      if (op === 6) this.#resume(socket, d, send);
    });
  }

  #identify(socket, { token, intents }, send) {
    if (this.closes || token !== this.token) return socket.close(this.closes ?? 4004, "refused");
    this.identified++;
    this.intents = intents;
    this.#session = { id: `s${++this.#count}`, events: [], sequence: 1 };
    this.sockets.add(socket);
    const data = { v: 10, user: BOT, guilds: [], session_id: this.#session.id, resume_gateway_url: `${this.url.replace("http", "ws")}/gateway`, application: { id: APPLICATION, flags: 0 } };
    send({ op: 0, t: "READY", s: 1, d: data });
  }

  #resume(socket, { token, session_id: session, seq }, send) {
    if (token !== this.token) return socket.close(4004, "refused");
    if (session !== this.#session?.id) return send({ op: 9, d: false, s: null, t: null });
    this.resumed++;
    this.sockets.add(socket);
    for (const event of this.#session.events) if (event.s > seq) send(event);
    send({ op: 0, t: "RESUMED", s: ++this.#session.sequence, d: {} });
  }

  /** Asks for another connection, forgets the session, or ends the connection without a word. */
  disconnect(how) {
    if (how === "forget") this.#session = undefined;
    for (const socket of this.sockets) {
      if (how === "reconnect") socket.send(JSON.stringify({ op: 7, d: null, s: null, t: null }));
      else if (how === "forget") socket.send(JSON.stringify({ op: 9, d: false, s: null, t: null }));
      else if (typeof how === "number") socket.close(how);
      else socket.terminate();
      this.sockets.delete(socket);
    }
  }

  /** Sends an event; one that nobody listens to is kept for who resumes. */
  push(type, data) {
    const event = { op: 0, t: type, s: ++this.#session.sequence, d: data };
    this.#session.events.push(event);
    this.sent.push([type, data]);
    for (const socket of this.sockets) socket.send(JSON.stringify(event));
  }

  // The API

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const path = request.url.slice("/api/v10".length);
    const isForm = request.headers["content-type"]?.startsWith("multipart/");
    const { fields, files = {} } = isForm ? formOf(request, raw) : {};
    const payload = fields ? fields.payload_json : raw.toString();
    const body = payload ? JSON.parse(payload) : undefined;
    const call = { method: request.method, path, body, files, at: performance.now(), authorization: request.headers.authorization };
    this.calls.push(call);
    const reply = (status, value, headers = {}) => {
      response.writeHead(status, { "Content-Type": value === undefined ? "text/html; charset=utf-8" : "application/json", ...headers });
      response.end(value === undefined ? undefined : JSON.stringify(value));
    };
    try {
      const isOpen = /^\/(?:interactions|webhooks)\//.test(path);
      if (!isOpen && request.headers.authorization !== `Bot ${this.token}`) throw refusal(401, 0, "401: Unauthorized");
      const planned = this.next.findIndex(([name]) => `${request.method} ${path}${isForm ? " with files" : ""}`.includes(name));
      if (planned >= 0) throw refusal(...this.next.splice(planned, 1)[0][1]);
      const [result, headers] = this.#route(call);
      reply(result === undefined ? 204 : 200, result, headers);
    } catch (error) {
      if (!error.status) throw error;
      const headers = error.status === 429 ? { "Retry-After": String(error.body.retry_after), "X-RateLimit-Scope": "user" } : {};
      reply(error.status, error.body, headers);
    }
  }

  #route({ method, path, body, files }) {
    const is = pattern => pattern.exec(`${method} ${path}`);
    let found;
    if (is(/^GET \/users\/@me$/)) return [BOT];
    if (is(/^GET \/applications\/@me$/)) return [{ id: APPLICATION, name: "Inbox", bot: BOT, flags: 0 }];
    if (is(/^GET \/gateway\/bot$/)) return [{ url: `${this.url.replace("http", "ws")}/gateway`, shards: 1, session_start_limit: { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 } }];
    if ((found = is(/^POST \/channels\/(\d+)\/messages$/))) return this.#post(found[1], body, files);
    if ((found = is(/^GET \/channels\/\d+\/messages\/(\d+)$/))) return [this.#message(found[1])];
    if ((found = is(/^PATCH \/channels\/(\d+)\/messages\/(\d+)$/))) return this.#edit(found[1], found[2], body, files);
    if ((found = is(/^GET \/channels\/(\d+)$/))) return [this.#channel(found[1])];
    if (is(/^GET \/guilds\/\d+\/members\/\d+$/)) return [{ user: BOT, roles: [id(61)], joined_at: "", deaf: false, mute: false }];
    if (is(/^GET \/guilds\/\d+\/roles$/)) return [[{ id: GUILD, name: "@everyone", permissions: "0" }, { id: id(61), name: "Inbox", permissions: this.permissions }]];
    if ((found = is(/^POST \/interactions\/(\d+)\/([\w.-]+)\/callback$/))) return this.#respond(found[1], body);
    if ((found = is(/^POST \/webhooks\/\d+\/([\w.-]+)$/))) return this.#followUp(found[1], body);
    throw refusal(404, 0, "404: Not Found");
  }

  #may(channel) {
    const trouble = this.troubles.get(channel);
    if (trouble) throw refusal(...trouble);
  }

  #channel(channel) {
    this.#may(channel);
    return channel === TEAM ? { id: channel, type: 0, name: "team", guild_id: GUILD, permission_overwrites: this.overwrites } : { id: channel, type: 1, recipients: [PEOPLE.ben] };
  }

  /** Takes one from the bucket of a channel and a method, which is full again a while after its first one. */
  #bucket(name) {
    const now = Date.now();
    let bucket = this.#written.get(name);
    if (!bucket || now >= bucket.reset) this.#written.set(name, (bucket = { reset: now + this.window, used: 0 }));
    const after = (bucket.reset - now) / 1_000;
    if (bucket.used >= this.limit) {
      this.tooMany++;
      throw refusal(429, 0, "You are being rate limited.", { retry_after: after, global: false });
    }
    bucket.used++;
    if (this.limit === Infinity) return {};
    return { "X-RateLimit-Bucket": name.split(" ")[0], "X-RateLimit-Limit": String(this.limit), "X-RateLimit-Remaining": String(this.limit - bucket.used), "X-RateLimit-Reset-After": String(after) };
  }

  #message(ref) {
    const message = this.messages.get(ref);
    if (!message) throw refusal(404, 10008, "Unknown Message");
    return message;
  }

  #post(channel, body, files) {
    this.#may(channel);
    if (!(lookAt(body) & 4)) throw new Error("the bot lets Discord show what a link leads to");
    const headers = this.#bucket(`post ${channel}`);
    const known = body.enforce_nonce && this.#nonces.get(body.nonce);
    if (known) return [known, headers];
    const { content, components, message_reference: above } = body;
    const message = { id: this.#id(), channel_id: channel, author: BOT, content, components, type: above ? 19 : 0, edits: 0, attachments: [], ...(above && { message_reference: above }) };
    attach(message, body, files, this.#id);
    this.messages.set(message.id, message);
    this.#nonces.set(body.nonce, message);
    return [message, headers];
  }

  #edit(channel, ref, body, files) {
    this.#may(channel);
    const message = this.#message(ref);
    const { content = message.content, components = message.components } = body;
    lookAt({ allowed_mentions: { parse: [] }, ...body, content, components });
    if (body.attachments) attach(message, body, files, this.#id);
    const headers = this.#bucket(`edit ${channel}`);
    Object.assign(message, { content, components, edits: message.edits + 1 });
    return [message, headers];
  }

  #respond(interaction, body) {
    const known = this.interactions.get(interaction);
    if (!known || performance.now() - known.at > SOON) throw refusal(404, 10062, "Unknown interaction");
    if (known.response) throw refusal(400, 40060, "Interaction has already been acknowledged.");
    if (body.type === 9) {
      lookAtModal(body.data);
      this.forms.push({ ...body.data, message: known.data.message });
    }
    if (body.type === 4) lookAt(body.data);
    if (![4, 6, 9].includes(body.type)) need(false, "type");
    Object.assign(known, { response: body, respondedAt: performance.now() });
    return [undefined];
  }

  #followUp(token, body) {
    const known = [...this.interactions.values()].find(one => one.data.token === token);
    if (!known?.response) throw refusal(404, 10015, "Unknown Webhook");
    lookAt(body);
    known.followUps.push(body);
    return [{ id: this.#id(), content: body.content }];
  }

  // Persons

  shown = message => read(message.content).text;

  all = () => [...this.messages.values()];
  refOf = message => message.id;
  above = message => message.message_reference?.message_id;
  times = what => this.calls.filter(({ method, path, files }) => (what === "post" ? method === "POST" && /^\/channels\/\d+\/messages$/.test(path) : method === "PATCH" && Object.keys(files).length)).map(({ at }) => at);

  get images() {
    return this.all().flatMap(({ id: above, attachments }) => attachments.map(one => ({ ...one, bytes: one.bytes, above })));
  }

  settings = (chats = [TEAM], more = "") =>
    `text = "all"\n${more}\n[discord]\ntoken = "${TOKEN}"\napi-root = "${this.url}/api"\npace = "0"\nchats = ${JSON.stringify(chats)}\nusers = { "${PEOPLE.ben.id}" = "Ben", "${PEOPLE.ada.id}" = "Ada" }\n`;

  plan = (what, how) => void this.next.push([what === "post" ? `POST /channels/${TEAM}/messages` : "with files", ERRORS[how]]);

  putOut = isOut => void (isOut ? this.troubles.set(TEAM, ERRORS.out) : this.troubles.clear());

  revoke = isRevoked => void (this.token = isRevoked ? "another" : TOKEN);

  find(words) {
    return this.all().filter(message => this.shown(message).includes(words)).pop();
  }

  #buttons = message => message?.components?.flatMap(row => row.components) ?? [];

  buttons = message => this.#buttons(message).map(({ label }) => label);

  /** A person does something. Returns the interaction. */
  #interact(who, type, message, data) {
    const interaction = {
      id: this.#id(),
      application_id: APPLICATION,
      type,
      data,
      channel_id: message.channel_id,
      channel: { id: message.channel_id, type: message.channel_id === TEAM ? 0 : 1 },
      ...(message.channel_id === TEAM ? { guild_id: GUILD, member: { user: PEOPLE[who], roles: [], permissions: "0" } } : { user: PEOPLE[who] }),
      token: `token-of-${this.#count}`,
      version: 1,
      message: { ...message, components: structuredClone(message.components) },
    };
    this.interactions.set(interaction.id, { data: interaction, at: performance.now(), followUps: [] });
    this.push("INTERACTION_CREATE", interaction);
    return interaction;
  }

  tap(who, message, label) {
    const { custom_id } = this.#buttons(message).find(one => one.label === label);
    return this.#interact(who, 3, message, { component_type: 2, custom_id });
  }

  /** A person fills in the form that the bot opened last. */
  fill(who, values) {
    const { custom_id, components, message } = this.forms.at(-1);
    const filled = components.map(({ component: { type, custom_id: name, options } }, place) => {
      const given = values[place];
      const component = type === 4 ? { type, custom_id: name, value: given ?? "" } : { type, custom_id: name, values: [given ?? []].flat().map(label => options.find(one => one.label === label).value) };
      return { type: 18, component };
    });
    return this.#interact(who, 5, message, { custom_id, components: filled });
  }

  /** A person writes, perhaps in reply to a message. */
  write(who, channel, content, to) {
    const message = { id: this.#id(), channel_id: channel, author: PEOPLE[who], content, type: to ? 19 : 0, ...(channel === TEAM && { guild_id: GUILD }), ...(to && { message_reference: { type: 0, message_id: to.id, channel_id: channel }, referenced_message: to }) };
    this.push("MESSAGE_CREATE", message);
    return message;
  }

  reply = (who, message, words) => this.write(who, message.channel_id, `<@${ME}> ${words}`, message);

  /** What a person did last comes again. */
  again() {
    const event = this.sent.at(-1);
    return () => this.push(...event);
  }

  askForIds() {
    this.write("eve", ALONE, "id");
    this.write("eve", TEAM, `<@${ME}> id`);
    return [ALONE, TEAM].map(chat => `Your ID is ${PEOPLE.eve.id}. The ID of this chat is ${chat}.`);
  }

  remove(message) {
    this.messages.delete(message.id);
    this.push("MESSAGE_DELETE", { id: message.id, channel_id: message.channel_id, guild_id: GUILD });
  }

  /** What a person was told in response to an interaction. */
  told(_who, { id: name }) {
    const { response, followUps } = this.interactions.get(name);
    return [response?.type === 4 ? response.data : undefined, ...followUps].filter(Boolean).map(({ content, flags }) => (flags & 64 ? read(content).text : `(for all) ${content}`));
  }

  /** Checks all that was sent against the published types, and that each tap got a response in time. */
  async check() {
    for (const { data, at, respondedAt } of this.interactions.values()) {
      if (!(respondedAt - at < SOON)) throw new Error(`${JSON.stringify(data.data)} got its response after ${respondedAt - at} ms`);
    }
    const head = `import type { APIInteractionResponse, APIModalSubmission, RESTPatchAPIChannelMessageJSONBody, RESTPostAPIChannelMessageJSONBody, RESTPostAPIWebhookWithTokenJSONBody } from "discord-api-types/v10";`;
    const types = [[/^POST \/channels/, "RESTPostAPIChannelMessageJSONBody"], [/^PATCH \/channels/, "RESTPatchAPIChannelMessageJSONBody"], [/^POST \/interactions/, "APIInteractionResponse"], [/^POST \/webhooks/, "RESTPostAPIWebhookWithTokenJSONBody"]];
    const calls = this.calls.flatMap(({ method, path, body }) => types.filter(([pattern]) => pattern.test(`${method} ${path}`)).map(([, type]) => [type, body]));
    const forms = this.sent.filter(([type, data]) => type === "INTERACTION_CREATE" && data.type === 5).map(([, { data }]) => ["APIModalSubmission", { ...data, components: data.components.map(part => ({ id: 1, ...part, component: { id: 2, ...part.component } })) }]);
    return checkTypes(head, [...calls, ...forms]);
  }
}
