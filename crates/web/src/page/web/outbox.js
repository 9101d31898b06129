// The line that says what the person sent: what is on its way and can be taken back, and then what became of it.

import { button, el, fill } from "./dom.js";

/** What became of it is said for so long, or until the person goes on to something else. */
const SAID = 10_000;

export class Outbox {
  element = el("p.sent", { hidden: true });
  #undo = button("link", () => this.#page.undo(), "Undo", el("kbd", { ariaHidden: true }, "u"));
  #left = el("span.left", { ariaHidden: true });
  /** What is on its way, the latest last. */
  #sending = new Map();
  /** What became of what was sent before: `{id, said, isFailed, isOpen, more}`. */
  #told = null;
  #page;
  #tick;
  #unsaid;

  /** @param {{undo: function, show: function, say: function}} page takes back, shows a question, tells a screen reader */
  constructor(page) {
    this.#page = page;
    this.#undo.setAttribute("aria-keyshortcuts", "u");
  }

  /** The id of what was sent last and is on its way. */
  get last() {
    return [...this.#sending.keys()].at(-1);
  }

  /** The id of what the line says that it arrived. */
  get told() {
    return this.#told?.id;
  }

  /** The id of the question that is still open as far as the line says. */
  get open() {
    return this.#told?.isOpen ? this.#told.id : null;
  }

  /** Returns whether it is on its way, alone or together with others. */
  has(id) {
    return [...this.#sending.values()].some(({ ids }) => ids.includes(id));
  }

  /** Says that something is on its way for so many milliseconds, to these questions. Returns whether that moved what stands below. */
  begin(id, said, milliseconds, ids = [id]) {
    this.#sending.set(id, { said, ids, until: Date.now() + milliseconds });
    this.#told = null;
    this.#page.say(`${text(said)} Press u to take it back.`);
    return this.#render();
  }

  /** It is on its way no more. */
  end(id) {
    if (this.#sending.delete(id)) this.#render();
  }

  /** Says what became of it. Returns whether that moved what stands below. */
  tell(id, said, more = {}) {
    this.#sending.delete(id);
    this.#told = { id, said, ...more };
    this.#page.say(text(said));
    return this.#render();
  }

  /** Says no more what became of it, unless the focus is there. */
  leave() {
    if (this.last) return;
    if (!this.element.matches(":focus-within")) this.#told = null;
    this.#render();
  }

  #render() {
    const { element } = this;
    const height = element.offsetHeight;
    const wasIn = element.matches(":focus-within");
    const { said, until } = this.#sending.get(this.last) ?? {};
    const { id, said: told, isFailed, more } = this.#told ?? {};
    // What stands below it stays there while it goes from one text to the next.
    element.style.minHeight = `${height}px`;
    element.hidden = !said && !told;
    element.classList.toggle("sending", !!said);
    element.classList.toggle("failed", !said && !!isFailed);
    if (said) fill(element, said, this.#undo, this.#left);
    else if (told) fill(element, told, button("link", () => this.#page.show(id), "Show it"), more && [" ", more]);
    if (element.hidden) element.style.minHeight = "";
    else if (wasIn) element.querySelector("button").focus();
    clearTimeout(this.#unsaid);
    // What failed is said until the person goes on.
    if (!said && told && !isFailed) this.#unsaid = setTimeout(() => this.leave(), SAID);
    this.#count(until);
    return element.offsetHeight != height;
  }

  /** Counts the seconds that are left. */
  #count(until) {
    clearTimeout(this.#tick);
    if (!until) return;
    const left = Math.max(0, until - Date.now());
    this.#left.textContent = `${Math.ceil(left / 1000)} s`;
    if (left) this.#tick = setTimeout(() => this.#count(until), left % 1000 || 1000);
  }
}

const text = nodes => nodes.map(it => it.textContent ?? it).join("").trim();
