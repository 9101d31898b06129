// The connection to askbridge: signs in, keeps one WebSocket open, calls methods, and passes changes on.

import { on, tell } from "./dom.js";
import { keep, recall } from "./drafts.js";

const BACK_OFF = 500;
/** A page that is looked at is back at once; one that is not does not wake the machine. */
const LAST_BACK_OFF = { visible: 1_000, hidden: 10_000 };
const HANDSHAKE = 5_000;
/** A reply to an answer comes when the agent has it. */
export const PATIENCE = 20_000;
/** How often it is said that the page has the focus: askbridge believes it for 30 s. */
const WATCHED = 10_000;

/**
 * Events: `delta`, with a `QuestionDelta` as its detail, and `state`, when `state` changes: `connecting`, `online` (the
 * first snapshot is here), `offline` or `signed-out`.
 */
export class Connection extends EventTarget {
  state = "connecting";
  #origin;
  #signal;
  #socket;
  #calls = new Map();
  #last = 0;
  #backOff = BACK_OFF;
  #timer;

  /** @param {string} origin the server's address @param {AbortSignal} signal ends it */
  constructor(origin, signal) {
    super();
    this.#origin = origin;
    this.#signal = signal;
    // Another tab signed in or out.
    on(window, "storage", ({ key }) => key == "askbridge-key" && this.#restart(), { signal });
    on(window, "online", () => this.check(), { signal });
    on(document, "visibilitychange", () => document.hidden || this.check(), { signal });
    // A page that is left and kept for the way back would hold its connection, and with it what was just sent.
    on(window, "pagehide", () => this.#drop(), { signal });
    on(window, "pageshow", ({ persisted }) => persisted && this.#restart(), { signal });
    on(window, "focus", () => this.#watch(), { signal });
    const watching = setInterval(() => this.#watch(), WATCHED);
    on(signal, "abort", () => {
      clearInterval(watching);
      this.#drop();
    });
    this.#open();
  }

  /** Says that a person is looking at the page, so that nothing else tells of a question. */
  #watch() {
    if (this.state != "online" || !document.hasFocus()) return;
    // A server of an earlier version does not know it.
    this.call("question_watch").catch(() => {});
  }

  /** Tries at once where it is offline, and finds out whether a connection lives that slept with the machine. */
  check() {
    if (this.state == "offline") this.#restart();
    if (this.state != "online") return;
    this.call("bridge_status", {}, HANDSHAKE).catch(({ code }) => code == "offline" && this.#restart());
  }

  /** Exchanges the token, or a code of `askbridge open`, for a cookie and a key. An error says why not. @param {string} token */
  async signIn(token) {
    const headers = { "Content-Type": "application/json" };
    const response = await this.#login({ method: "POST", headers, body: JSON.stringify({ token }) });
    if (!response?.ok) throw new Error((await response?.json())?.detail ?? "askbridge did not reply: is it running?");
    keep("key", (await response.json()).key);
    this.#restart();
  }

  /** Forgets the key of this browser. */
  signOut() {
    keep("key", null);
    this.#restart();
  }

  /**
   * Calls a method of the control protocol. An error has the server's `code` and `data`, or the code `offline`.
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<*>}
   */
  call(method, params = {}, patience = PATIENCE) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      const settle = ({ result, error }) => {
        clearTimeout(timer);
        this.#calls.delete(id);
        if (error) reject(Object.assign(new Error(error.message), error));
        else resolve(result);
      };
      const timer = setTimeout(settle, patience, UNCONFIRMED);
      if (this.#socket?.readyState != WebSocket.OPEN) return settle(offline("It was not sent: there was no connection."));
      this.#calls.set(id, settle);
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  #become(state) {
    if (this.state == state) return;
    this.state = state;
    tell(this, "state");
  }

  #restart() {
    this.#drop();
    this.#backOff = BACK_OFF;
    this.#open();
  }

  #open() {
    clearTimeout(this.#timer);
    const key = recall("key");
    if (!key) return this.#become("signed-out");
    // While it tries again it is still offline: the words on the screen do not flicker.
    if (this.state != "offline") this.#become("connecting");
    const address = new URL("/rpc", this.#origin);
    address.protocol = address.protocol.replace("http", "ws");
    this.#socket = new WebSocket(address, ["askbridge", `key.${key}`]);
    this.#socket.onopen = () => this.call("question_subscribe").catch(() => this.#lost());
    this.#socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    this.#socket.onclose = () => this.#lost();
    this.#timer = setTimeout(() => this.#lost(), HANDSHAKE);
  }

  #receive(message) {
    this.#calls.get(message.id)?.(message);
    if (message.method != "question_changed") return;
    clearTimeout(this.#timer);
    const { result } = message.params;
    tell(this, "delta", result);
    if (result.more) return;
    this.#backOff = BACK_OFF;
    this.#become("online");
    if (result.snapshot) this.#watch();
  }

  /** Gives the socket up without its closing handshake, which takes minutes on a dead network. */
  #drop() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    if (!socket) return;
    this.#socket = socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    for (const settle of [...this.#calls.values()]) settle(UNCONFIRMED);
  }

  async #lost() {
    this.#drop();
    // A refused socket does not say why: a request does.
    const headers = { "Askbridge-Key": recall("key") };
    const isRefused = this.state != "online" && (await this.#login({ headers }))?.status == 401;
    if (this.#socket || this.#signal.aborted) return;
    if (isRefused) return this.signOut();
    this.#become("offline");
    this.#timer = setTimeout(() => this.#open(), this.#backOff * (0.75 + Math.random() / 2));
    this.#backOff = Math.min(2 * this.#backOff, LAST_BACK_OFF[document.visibilityState]);
  }

  #login(request) {
    return fetch(new URL("/login", this.#origin), request).catch(() => null);
  }
}

const offline = (message, isUnknown) => ({ error: { code: "offline", message, isUnknown } });
const UNCONFIRMED = offline("askbridge did not confirm it.", true);
