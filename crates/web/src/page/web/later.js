// The dialog that asks until when a question is set aside.

import { button, el } from "./dom.js";

const MINUTE = 60_000;
/** The time of the day that "tomorrow" means. */
const MORNING = 9;

/** Returns how long it is until a time of the day: today, or tomorrow where that has passed. @param {string} time `14:00` @param {number} now */
export function until(time, now = Date.now()) {
  const [hours, minutes] = time.split(":").map(Number);
  const then = new Date(now);
  then.setHours(hours, minutes, 0, 0);
  if (then <= now) then.setDate(then.getDate() + 1);
  return then - now;
}

/** Returns how long it is until tomorrow morning. */
function tomorrow(now = Date.now()) {
  const then = new Date(now);
  then.setDate(then.getDate() + 1);
  then.setHours(MORNING, 0, 0, 0);
  return then - now;
}

export class LaterDialog {
  #take;
  #id;
  #time = el("input", { id: "later-time", type: "time", required: true });
  #title = el("h2", { id: "later-title", tabindex: "-1" }, "Until when?");
  element;

  /** @param {function} take called with the id of the question and the milliseconds */
  constructor(take) {
    this.#take = take;
    const ways = [["30 minutes", () => 30 * MINUTE], ["2 hours", () => 120 * MINUTE], ["Tomorrow, 9:00", () => tomorrow()]];
    const buttons = ways.map(([name, time]) => button("", () => this.#done(time()), name));
    const onsubmit = event => {
      event.preventDefault();
      if (this.#time.value) this.#done(until(this.#time.value));
    };
    const form = el("form", { onsubmit }, el("label", { htmlFor: "later-time" }, "At a time"), this.#time, el("button", "Set aside"));
    const about = el("p", "It stands last until then, and you are not notified of it. It is back before it ends, and you can answer it all the time.");
    this.element = el("dialog.later", { "aria-labelledby": "later-title" }, this.#title, about, el("div.buttons", buttons), form, el("div.buttons", button("quiet", () => this.element.close(), "Not now")));
  }

  show(id) {
    this.#id = id;
    this.element.showModal();
    this.#title.focus();
  }

  #done(milliseconds) {
    this.element.close();
    this.#take(this.#id, milliseconds);
  }
}
