// The example page: each kind of field, state and permission, live, with the events that it sends. It plays the server:
// an answer is on its way for a moment, and then settles the question.

import { el } from "./dom.js";
import "./question.js";
import { visible } from "./words.js";

const TOKENS = {
  font: "of texts",
  "font-code": "of code, commands and numbers of lines",
  text: "texts",
  muted: "descriptions and hints",
  surface: "behind the cards",
  raised: "a card, a field",
  line: "the edge of a field or button",
  accent: "the chosen option, the main button, links",
  "on-accent": "texts on it",
  danger: "errors and dangerous buttons",
  "on-danger": "texts on it",
  success: "what was added, or answered",
  warning: "what is about to expire",
  focus: "the ring around what has the focus",
  radius: "of corners",
  target: "the least height of what is pressed",
};
const INBOX = ["One choice", "Several fields", "A command", "A dangerous command", "A change of files"];
const DELAY = 700;
const EVENTS = ["answer", "reject", "extend", "draft"];

/** Returns one example: its name, its element, and what the element said. */
function example({ name, about, record, deadlineIn, set = {} }) {
  const element = el("askbridge-question", { id: record.id });
  const log = el("pre.log", { tabindex: "0", "aria-label": `Events of ${name}` });
  const reset = () => {
    const deadline = deadlineIn ? { deadline: new Date(Date.now() + deadlineIn).toISOString() } : {};
    element.record = null;
    element.record = { ...record, ...deadline };
    element.busy = !!set.busy;
    if (set.draft) element.draft = set.draft;
    if (set.failure) element.failure = set.failure;
    if (set.after) element.record = { ...record, ...set.after };
    log.replaceChildren();
  };
  for (const event of EVENTS) {
    element.addEventListener(`askbridge-${event}`, ({ type, detail }) => {
      const said = event == "draft" ? { ...detail, draft: element.draft } : detail;
      log.prepend(`${type} ${visible(JSON.stringify(said))}\n`);
      play(element, event, detail);
    });
  }
  reset();
  const again = el("button", { type: "button", onclick: reset, "aria-label": `Reset ${name}` }, "Reset");
  const title = el("div.about", el("h3", name), about && el("p", about), again);
  return el("div.example", title, element, log);
}

const later = (time, milliseconds) => new Date(Date.parse(time) + milliseconds).toISOString();

/** Plays the server. */
function play(element, event, { values, notes, reason, milliseconds }) {
  const { record } = element;
  if (event == "extend") {
    element.record = { ...record, expiring: false, deadline: later(record.deadline, milliseconds) };
  }
  if (event != "answer" && event != "reject") return;
  element.failure = null;
  element.busy = true;
  const outcome = event == "answer" ? { status: "answered", values, notes } : { status: "rejected", reason: "user" };
  const settlement = { outcome, remark: reason, by: { responder: "page" }, at: new Date().toISOString() };
  setTimeout(() => {
    element.busy = false;
    element.record = { ...record, state: "settled", settlement };
  }, DELAY);
}

/** A connection that reaches no server: the examples are its questions. */
class ExampleConnection extends EventTarget {
  state = "online";

  constructor(records) {
    super();
    this.records = new Map(records.map(record => [record.id, record]));
  }

  check() {}

  signOut() {}

  tell(questions, snapshot = false) {
    const detail = { revision: Date.now(), snapshot, more: false, questions };
    this.dispatchEvent(new CustomEvent("delta", { detail }));
  }

  async call(method, { id, answer, reason, milliseconds } = {}) {
    if (method == "bridge_status") return [];
    if (!id) return { questions: [] };
    const record = { ...this.records.get(id) };
    if (method == "question_extend") record.deadline = later(record.deadline, milliseconds);
    if (method == "question_answer" || method == "question_reject") {
      const outcome = answer ? { status: "answered", ...answer } : { status: "rejected", reason: "user" };
      record.settlement = { outcome, remark: reason, by: { responder: "page" }, at: new Date().toISOString() };
      record.state = "settled";
    }
    this.records.set(id, record);
    setTimeout(() => this.tell([record]));
    return record;
  }
}

async function showInbox(records) {
  await import("./inbox.js");
  const inbox = el("askbridge-inbox", { style: "display: block; height: 40rem" });
  inbox.connection = new ExampleConnection(records);
  document.getElementById("live-inbox").append(inbox);
  inbox.connection.dispatchEvent(new Event("state"));
  inbox.connection.tell(records, true);
}

const response = await fetch(new URL("examples.json", import.meta.url));
const groups = Map.groupBy(await response.json(), ({ group }) => group);
for (const [group, examples] of groups) {
  const id = group.toLowerCase().replaceAll(" ", "-");
  document.getElementById("contents").append(el("li", el("a", { href: `#${id}` }, group)));
  document.getElementById("examples").append(el("section", { id }, el("h2", group), examples.map(example)));
}
for (const [name, use] of Object.entries(TOKENS)) {
  const isColour = !/font|radius|target/.test(name);
  const swatch = isColour && el("span.swatch", { style: `background: var(--_${name})` });
  const head = el("th", { scope: "row" }, el("code", `--askbridge-${name}`));
  document.getElementById("tokens").append(el("tr", head, el("td", swatch, use)));
}
const few = [...groups.values()].flat().filter(({ name }) => INBOX.includes(name));
const records = few.map(({ record }, place) => ({
  ...record,
  id: `${record.id}i`,
  openedAt: new Date(Date.now() - 90_000 * (place + 1)).toISOString(),
  question: { ...record.question, project: `/src/${place % 2 ? "payments" : "shop"}` },
}));
showInbox(records).catch(error => console.warn("The inbox is not here", error));
