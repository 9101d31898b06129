// What led to a question: the last words of the agent and its last tool calls before it asked. It is folded, and asked for
// when the person opens it.

import { el, fill } from "./dom.js";
import { prose } from "./markdown.js";
import { line, spoken } from "./words.js";

const call = ({ title, status }) =>
  el("li", el("bdi", line(title)), status && el(`span.chip${status == "failed" ? ".danger" : ""}`, spoken(status)));

/** Returns the parts that show it, the last words last. @param {Object} context by `QuestionContext` in schema/openrpc.json, or `{problem}` */
function parts({ words, calls = [], truncated, problem }) {
  if (problem) return [el("p.error", line(problem))];
  if (!words && !calls.length) return [el("p.hint", "It is not known any more.")];
  return [
    truncated && el("p.hint", "What it said and did before this is not kept."),
    words && prose(words),
    calls.length > 0 && el("div", el("p.label", calls.length == 1 ? "Its last tool call" : "Its last tool calls"), el("ol.calls", calls.map(call))),
  ];
}

/** The part of a card that shows what led to its question. */
export class Led {
  #said = el("div.said.led", { tabIndex: 0, role: "region", ariaLabel: "What the agent said and did before it asked" }, el("p.hint", "Asking the agent's bridge …"));
  #isKnown = false;
  node;

  /** @param {function} ask called when it is opened and not known */
  constructor(ask) {
    const ontoggle = () => {
      if (this.node.open && !this.#isKnown) ask();
      if (this.node.open) this.#toEnd();
    };
    this.node = el("details", { ontoggle }, el("summary", "What led to this"), this.#said);
  }

  show(context) {
    this.#isKnown = !context.problem;
    fill(this.#said, parts(context));
    this.#toEnd();
  }

  /** What stands last was said last. */
  #toEnd() {
    this.#said.scrollTop = this.#said.scrollHeight;
  }
}
