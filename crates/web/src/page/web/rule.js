// The dialog that makes a rule from a permission: it shows the rule as it would be written, and what it would have decided of
// the last hundred. It writes it when the person says so.

import { button, el, fill } from "./dom.js";
import { cut, line, visible } from "./words.js";

/** More would push the buttons out of sight. */
const SHOWN = 10;

const WAS = { true: "allowed then", false: "rejected then", undefined: "nobody decided" };

/** Returns what a rule would have decided, those first about which the person decided otherwise. */
function trial({ tried, allows, decided }) {
  const verb = allows ? "allowed" : "rejected";
  if (!tried) return el("p", "No permission of the past is known, on which it could be tried.");
  const isOther = ({ wasAllowed }) => wasAllowed !== undefined && wasAllowed != allows;
  const others = decided.filter(isOther);
  const sorted = [...others, ...decided.filter(it => !isOther(it))];
  const row = it => el(`li.${isOther(it) ? "error" : ""}`, el("code", cut(line(it.asked), 120)), ` ${WAS[it.wasAllowed]}`);
  return [
    el("p", `Of the last ${tried} permission${tried == 1 ? "" : "s"}, it would have ${verb} ${decided.length}.`),
    el("ul", sorted.slice(0, SHOWN).map(row)),
    sorted.length > SHOWN && el("p", `… and ${sorted.length - SHOWN} more`),
    others.length > 0 && el("p.error", `${others.length} of them you decided otherwise.`),
  ];
}

/** The dialog. Its texts are those of the server and of agents: they end in text nodes. */
export class RuleDialog {
  #call;
  #body = el("div.rule");
  #buttons = el("div.buttons");
  #title = el("h2", { id: "rule-title", tabindex: "-1" }, "Make a rule of this");
  element = el("dialog", { "aria-labelledby": "rule-title" }, el("form", { method: "dialog" }, this.#title, this.#body, this.#buttons));

  /** @param {function} call calls a method of the server */
  constructor(call) {
    this.#call = call;
  }

  /** Shows the rule that decides like the person did about this permission. */
  async show(id) {
    this.#fill([el("p", "…")]);
    this.element.showModal();
    this.#title.focus();
    try {
      const rule = await this.#call("rule_propose", { id });
      const write = button("primary", () => this.#write(id, rule.toml), "Write it to my settings");
      this.#fill([el("pre", { tabindex: "0" }, el("code", visible(rule.toml))), trial(rule), el("p", "It decides about what opens from now on. It is written to ", el("code", line(rule.path)), ", below all other rules.")], write);
    } catch (error) {
      this.#fail("No rule can be made of it", error);
    }
  }

  async #write(id, toml) {
    this.#fill([el("p", "…")]);
    try {
      const { path } = await this.#call("rule_write", { id, toml });
      this.#fill([el("p", { role: "status" }, "Written to ", el("code", line(path)), ".")]);
    } catch (error) {
      this.#fail("It was not written", error);
    }
    this.#title.focus();
  }

  #fail(what, { code, message }) {
    const isUnknown = code == -32601 ? "this askbridge is too old" : message;
    this.#fill([el("p.error", { role: "alert" }, `${what}: ${visible(isUnknown)}.`)]);
  }

  #fill(parts, ...more) {
    fill(this.#body, parts);
    fill(this.#buttons, more, el("button", more.length ? "Not now" : "Close"));
  }
}
