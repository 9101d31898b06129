// What is over, as the journal has it, for the list; and what a person sees while nothing is chosen: which agents are
// connected, what was settled today, and how to set up the next one.

import { button, el, fill } from "./dom.js";
import { agentOf, onMachine, parsed, projectName } from "./rows.js";
import { line, missingHistory, visible } from "./words.js";

/** Questions that are asked for at once. */
const PAGE = 50;
/** The inbox itself is no agent. */
const SERVER = "askbridge inbox";

/** The questions of the past that fit a search. */
export class Past {
  /** The words that are looked for. */
  search = "";
  /** The button that lists older ones, where there are some. */
  more = button("link.older", () => this.load(true), "Show older");
  /** Says whose questions are missing. */
  missing = el("p.newer");
  #call;
  #store;
  #oldest;
  #last = 0;

  /** @param {function} call calls a method of the control protocol @param {object} store takes the questions */
  constructor(call, store) {
    this.#call = call;
    this.#store = store;
    this.more.hidden = true;
  }

  /** Asks for the latest that fit the search, or for those before. A server of an earlier version has none. */
  async load(isMore) {
    const asked = ++this.#last;
    const until = isMore ? this.#oldest : undefined;
    const found = await this.#call("question_history", { search: parsed(this.search).words.join(" ") || undefined, until, limit: PAGE }).catch(error => error);
    // Another search began meanwhile.
    if (asked != this.#last) return;
    if (found.data?.name == "history_unavailable") this.missing.textContent = visible(`${found.message[0].toUpperCase()}${found.message.slice(1)}.`);
    if (!found.questions) return;
    const records = found.questions.map(({ record, accepted }) => ({ ...record, accepted }));
    const last = records.at(-1);
    this.#oldest = last?.settlement?.at ?? last?.openedAt;
    this.more.hidden = records.length < PAGE;
    this.missing.textContent = missingHistory(found.missing ?? []).join("\n");
    this.#store.remember(records, isMore);
  }
}

/** Returns how many questions were settled since midnight, in words. */
async function today(call) {
  const since = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  const { questions = [], missing } = await call("question_history", { since, limit: 128 }).catch(() => ({}));
  const settled = questions.filter(({ record }) => record.settlement);
  const permissions = settled.filter(({ record }) => record.question.purpose == "permission").length;
  const count = (number, noun) => `${number} ${noun}${number == 1 ? "" : "s"}`;
  const more = questions.length == 128 || missing ? "at least " : "";
  return settled.length ? `Settled today: ${more}${count(settled.length - permissions, "question")} and ${count(permissions, "permission")}.` : "";
}

/** What is shown while no question is. */
export class Overview {
  #settled = el("p");
  #agents = el("ul.agents");
  #none = el("p", { hidden: true }, "No agent is connected. Claude Code in a terminal, with the plugin, is only while it asks.");
  element = el(
    "div.overview",
    el("p.rest"),
    this.#settled,
    el("section", el("h2", "Connected"), this.#agents, this.#none),
    el("section", el("h2", "Set up an agent"), el("p", el("code", "askbridge setup"), " shows what it finds on this machine, and asks before it changes anything. ", el("code", "askbridge demo"), " asks you a question now.")),
  );

  /** Says which agents are connected. */
  update(statuses) {
    const agents = statuses.filter(({ agent }) => agent != SERVER);
    const row = status => el("li", el("b", agentOf({ question: { agent: status.peers?.agent?.name } }, status)), " in ", el("bdi", { title: line(status.folder) }, projectName(status.folder)), onMachine(status));
    fill(this.#agents, agents.map(row));
    this.#none.hidden = agents.length > 0;
  }

  /** Counts what was settled today. */
  async count(call) {
    this.#settled.textContent = await today(call);
  }
}
