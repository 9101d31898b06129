// Permissions that are decided together: the list of all that each would do, in the card of the one that the person opened.
// The server says which ones are alike; the card asks the person, and watches that the whole list was in sight.

import { el, fill } from "./dom.js";
import { subject } from "./subject.js";
import { code } from "./text.js";
import { own } from "./words.js";

const GONE = "Left out: it has changed, or is over";

/** Returns what a permission would do, whole. */
const deed = ({ question }) => (question.subject?.command ? code(question.subject.command) : el("div.what", subject(question)));

/** Returns the option that allows a permission this time. */
const allowing = ({ fields: [field] = [] }) => [field, field?.options?.find(({ role }) => role == "allow_once")];

/** The list. What changes or ends while it is shown stays in it, and is left out of what is decided. */
export class Alike {
  #records;
  #rows;
  #heading = el("h3", { tabindex: "-1" });
  element;

  /** @param {Object[]} records the one that the person opened first */
  constructor(records) {
    this.#records = new Map(records.map(record => [record.id, record]));
    this.#rows = new Map(records.map(record => [record.id, el("li", deed(record))]));
    this.element = el("section.alike", this.#heading, el("ol", [...this.#rows.values()]));
    this.#name();
  }

  /** The parts that must be in sight before they are allowed. */
  get parts() {
    return [...this.#rows.values()];
  }

  get count() {
    return this.#records.size;
  }

  focus() {
    this.#heading.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "start", behavior: "instant" });
  }

  /** Takes what can still be decided. Nothing is added: it was not shown. */
  keep(records) {
    const now = new Map(records.map(record => [record.id, record]));
    for (const [id, { edition }] of this.#records) {
      if (now.has(id) && now.get(id).edition == edition) continue;
      this.#records.delete(id);
      fill(this.#rows.get(id), el("span.chip.danger", GONE), [...this.#rows.get(id).childNodes]);
      this.#rows.get(id).classList.add("gone");
    }
    this.#name();
  }

  /** Returns what is decided, each as it was shown. */
  decisions(allows) {
    return [...this.#records.values()].map(({ id, question, edition: seen = 0 }) => {
      const [field, option] = allowing(question);
      return allows ? { id, seen, answer: { values: { [own(field, "name")]: option.value }, notes: {} } } : { id };
    });
  }

  #name() {
    this.#heading.textContent = `${this.count} like this`;
  }
}
