// One question as a row of the list, and what a row says of it.

import { besideIt } from "./beyond.js";
import { button, el, fill } from "./dom.js";
import { kind } from "./subject.js";
import { plain } from "./text.js";
import { ago, cut, ended, headline, inTime, isHarmful, isOpen, line, machineOf, remaining, riskOf } from "./words.js";

const LONGEST = 300;

/** Sets a text where it changed, so that neither a selection nor a screen reader is disturbed. */
export const write = (element, text) => element.textContent === `${text}` || (element.textContent = text);

/** Returns what is asked, on one line. */
export function title({ question }) {
  const command = question.purpose == "permission" && question.subject?.command;
  const asked = command ? `$ ${command}` : plain(headline(question)).replace(/\s+/g, " ").trim();
  const text = asked + (question.purpose == "permission" ? besideIt(question.subject) : "");
  return cut(line(text.slice(0, 2 * LONGEST)), LONGEST) || "Question";
}

/** Returns the short name of what asks: as it names itself, or the program of its command. */
export function agentOf({ question }, status) {
  const name = cut(question.agent?.trim() || status?.agent?.trim() || "", LONGEST);
  const [first, ...rest] = name.split(/\s+/);
  const isLauncher = /^(npx|bunx|pnpx|uvx)$/.test(first);
  if (question.agent && !isLauncher && !first.includes("/")) return line(name);
  const program = isLauncher ? rest.find(word => !word.startsWith("-")) : first;
  return line((program ?? name).replace(/.*\//, "").replace(/(.)@.*/, "$1")) || "A program";
}

/** Returns the name of a project's folder. */
export const projectName = path => line(path.replace(/\/+$/, "").replace(/.*\//s, "") || path || "No project");

/** Returns the other machine of a question or a bridge, for the end of a sentence. */
export const onMachine = of => machineOf(of) && ` on ${machineOf(of)}`;

/** Returns what asks, in which project, and on which machine. */
export const from = (record, status) => agentOf(record, status) + (record.question.project ? ` in ${projectName(record.question.project)}` : "") + onMachine(record);

/** Returns what a search looks at: what is asked, by which agent, where, and of which kind, in lower case. */
export function searched(record, status) {
  const { question, id } = record;
  const isOver = !isOpen(record) && ended(record);
  const what = question.purpose == "permission" ? `permission ${kind(question)}` : "question";
  const risk = isHarmful(riskOf(question)) && "dangerous";
  return [id, title(record), question.message, question.project, agentOf(record, status), what, risk, isOver].join("\n").toLowerCase();
}

const FILTERS = ["project", "agent", "kind", "risk"];

/** Returns a name as it is compared: without case, and with `_` for a space, which would end a word. */
export const keyed = name => name.toLowerCase().replace(/\s/g, "_");

/** Splits a search into the words to look for, and what `project:shop` and the like select. */
export function parsed(search) {
  const parts = search.split(/\s+/).filter(Boolean).map(word => [word, ...(/^([a-z]+):(.+)$/.exec(word) ?? []).slice(1)]);
  const isFilter = ([, name]) => FILTERS.includes(name);
  return { words: parts.filter(part => !isFilter(part)).map(([word]) => word), only: parts.filter(isFilter).map(([, name, value]) => [name, keyed(value)]) };
}

/** Returns what a question can be selected by, as lists of values. */
export function facets({ question }, agent) {
  const kind = question.purpose == "permission" && question.subject?.kind;
  return { project: [projectName(question.project ?? "")], agent: [agent], kind: [question.purpose ?? "question", kind].filter(Boolean), risk: [riskOf(question)] };
}

/** Returns whether a question is among those that are selected. */
export function isSelected(record, agent, only) {
  const known = facets(record, agent);
  const fits = { agent: (has, wanted) => has.includes(wanted), project: (has, wanted) => has == wanted || (wanted[0] == "/" && `${keyed(record.question.project ?? "")}/`.startsWith(`${wanted.replace(/\/+$/, "")}/`)) };
  return only.every(([name, wanted]) => known[name].some(has => (fits[name] ?? ((has, wanted) => has == wanted))(keyed(has), wanted)));
}

/** A row, which is updated in place. */
export class Row {
  #title = el("span.title", { dir: "auto" });
  #age = el("span.age", { dir: "auto" });
  #meta = el("span.meta");
  #left = el("span.chip", { dir: "auto" });
  #back = el("span.chip");
  #shown = [];

  /** @param {function} pick called when the person picks the row */
  constructor(pick) {
    this.button = button("row", pick, this.#title, this.#age, this.#meta);
    this.button.tabIndex = -1;
    this.element = el("li", this.button);
  }

  /** Shows a record. `mark` is a further chip. `clock` is its bridge's time minus ours. */
  update(record, { status, clock = 0 } = {}, mark) {
    this.clock = clock;
    const shown = [record, status, mark];
    if (shown.every((it, index) => it === this.#shown[index])) return;
    this.#shown = shown;
    const { question, state = "open", deadline, expiring, settlement, seen, openedAt } = record;
    const { purpose } = question;
    const isWaiting = isOpen(record);
    this.since = Date.parse(isWaiting || state == "lost" ? openedAt : settlement?.at) || seen + clock;
    this.deadline = isWaiting && Date.parse(deadline);
    this.back = isWaiting && Date.parse(record.later);
    this.button.dataset.state = state;
    this.#title.textContent = title(record);
    this.#left.classList.toggle("soon", !!expiring);
    const chip = (text, isBad) => text && el(`span.chip.${isBad ? "danger" : ""}`, text);
    if (!isWaiting) fill(this.#meta, el("span.ended", { dir: "auto" }, ended(record)), el("bdi", from(record, status)));
    // The machine stands in the heading of what waits, and what is set aside has none.
    else fill(this.#meta, this.back && chip(machineOf(record)), el("bdi", agentOf(record, status)), purpose == "permission" && el("span", kind(question)), chip(isHarmful(riskOf(question)) && "Dangerous", true), chip(record.turnOver && "Turn over", true), chip(mark, /^Not/.test(mark)), this.back && this.#back, this.deadline && this.#left);
    this.tick();
  }

  /** Shows how long it waits and how much time is left. */
  tick() {
    const now = Date.now() + this.clock;
    write(this.#age, ago(now - this.since));
    if (this.back) write(this.#back, `Back ${inTime(this.back - now)}`);
    if (this.deadline) write(this.#left, remaining(this.deadline - now));
  }
}

/** Makes these the children of an element, in this order. Where browsers can move a node, it keeps the focus. */
export function arrange(parent, nodes) {
  const kept = new Set(nodes);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let at = parent.firstChild;
  for (const node of nodes) {
    const canMove = parent.moveBefore && parent.isConnected && node.isConnected;
    if (node == at) at = at.nextSibling;
    else parent[canMove ? "moveBefore" : "insertBefore"](node, at);
  }
}
