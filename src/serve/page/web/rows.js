// One question as a row of the list, and what a row says of it.

import { el } from "./dom.js";
import { ago, ended, headline, line, remaining } from "./words.js";

const LONGEST = 300;

/** Sets a text where it changed, so that neither a selection nor a screen reader is disturbed. */
export const write = (element, text) => element.textContent === String(text) || (element.textContent = text);

/** Returns what is asked, on one line. */
export function title({ question }) {
  const command = question.purpose == "permission" && question.subject?.command;
  const text = (command ? `$ ${command}` : headline(question).trim()).slice(0, LONGEST);
  return line(command ? text : text.replace(/\s+/g, " ")) || "Question";
}

/** Returns the short name of what asks: as it names itself, or the program of its command. */
export function agentOf({ question }, status) {
  const name = (question.agent?.trim() || status?.agent?.trim() || "A program").slice(0, LONGEST);
  const [first, ...rest] = name.split(/\s+/);
  const isLauncher = /^(npx|bunx|pnpx|uvx)$/.test(first);
  if (question.agent && !isLauncher && !first.includes("/")) return line(name);
  const program = isLauncher ? rest.find((word) => !word.startsWith("-")) : first;
  return line((program ?? name).replace(/.*\//, "").replace(/(.)@.*/, "$1"));
}

/** Returns the name of a project's folder. */
export const projectName = (path) => line(path.replace(/\/+$/, "").replace(/.*\//s, "") || path || "No project");

/** A row, which is updated in place. */
export class Row {
  #title = el("span.title", { dir: "auto" });
  #age = el("span.age", { dir: "auto" });
  #meta = el("span.meta");
  #left = el("span.chip", { dir: "auto" });
  #shown = [];

  /** @param {function} pick called when the person picks the row */
  constructor(pick) {
    this.button = el("button.row", { type: "button", tabindex: "-1", onclick: pick }, this.#title, this.#age, this.#meta);
    this.element = el("li", this.button);
  }

  /** Shows a record. `mark` is a further chip. `clock` is its bridge's time minus ours. */
  update(record, { status, clock = 0 } = {}, mark) {
    this.clock = clock;
    const shown = [record, status, mark];
    if (shown.every((it, index) => it === this.#shown[index])) return;
    this.#shown = shown;
    const { question, state = "open", deadline, expiring, settlement, seen, openedAt } = record;
    const { sessionId, dangerous, purpose } = question;
    // Eight digits tell UUIDs apart.
    const session = sessionId?.slice(0, sessionId.length < 20 ? 20 : 8);
    const isOpen = state == "open";
    const chip = (text, kind = "") => el(`span.chip.${kind}`, text);
    this.since = isOpen ? Date.parse(openedAt) : Date.parse(settlement?.at) || seen + clock;
    this.deadline = isOpen && Date.parse(deadline);
    this.button.dataset.state = state;
    this.#title.textContent = title(record);
    this.#left.classList.toggle("soon", !!expiring);
    const permission = purpose == "permission" && (dangerous ? "Dangerous permission" : "Permission");
    const kind = permission || (dangerous && "Dangerous");
    const marks = [kind && chip(kind, dangerous ? "danger" : ""), mark && chip(mark, mark == "Draft" ? "" : "danger"), this.deadline && this.#left];
    const agent = agentOf(record, status);
    const rest = isOpen
      ? [el("bdi", agent), session && el("bdi", `session ${line(session)}`), ...marks]
      : [el("span.ended", { dir: "auto" }, ended(record)), el("bdi", question.project ? `${agent} in ${projectName(question.project)}` : agent)];
    this.#meta.replaceChildren(...rest.filter(Boolean));
    this.tick(Date.now());
  }

  /** Shows how long it waits and how much time is left. */
  tick(now) {
    write(this.#age, ago(now + this.clock - this.since));
    if (this.deadline) write(this.#left, remaining(this.deadline - now - this.clock));
  }
}

/** Scrolls a list to one of its rows. `scrollIntoView` would scroll the page around the inbox as well. */
export function reveal(row, list) {
  const [inner, outer] = [row.getBoundingClientRect(), list.getBoundingClientRect()];
  list.scrollTop += Math.min(0, inner.top - outer.top) + Math.max(0, inner.bottom - outer.bottom);
}

/** Makes these the children of an element, in this order, and moves as few as it can. */
export function arrange(parent, nodes) {
  const kept = new Set(nodes);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let at = parent.firstChild;
  for (const node of nodes) {
    // What went down is taken out of the way, so that those below it stay.
    if (at && at != node && at.nextSibling == node) move(parent, at, null);
    else if (at != node) move(parent, node, at);
    at = node.nextSibling;
  }
}

/** Where browsers can move within the document, the focus stays. */
function move(parent, node, before) {
  const canMove = parent.moveBefore && parent.isConnected && node.isConnected;
  parent[canMove ? "moveBefore" : "insertBefore"](node, before);
}
