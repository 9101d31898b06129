// The dashboard: the client follows the questions of all agents, an element shows each, and the client sends what the
// person decides. A project with a bundler imports "@askbridge/client" and "@askbridge/client/elements/question".

import { Askbridge } from "../../dist/index.js";
import "../../elements/question.js";

/** How many decisions are shown. */
const PAST = 8;

const [count, state, leave, connect, command, problem, main, nothing, agents, none, past] =
  ["#count", "#state", "#leave", "#connect", "#command", "#problem", "main", "#nothing", "#agents", "#none", "#past"].map(it => document.querySelector(it));

/** The element of each open question, by ID. */
const shown = new Map();
let inbox;
let connection;

/** Makes an element with these properties and children. Text stays text. */
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** The section of an agent, in its project and on its machine. */
function sectionOf({ agent = "An agent", project = "", machine }) {
  const key = JSON.stringify([agent, project, machine]);
  const known = [...agents.children].find(it => it.dataset.key === key);
  if (known) return known;
  const heading = make("header", {}, make("h3", { textContent: agent }), make("span", { className: "folder", textContent: project }));
  if (machine) heading.append(make("span", { textContent: `on ${machine}` }));
  const section = make("section", { className: "agent", ariaLabel: agent }, heading);
  section.dataset.key = key;
  agents.append(section);
  return section;
}

function update() {
  for (const section of agents.children) if (!section.querySelector("askbridge-question")) section.remove();
  count.textContent = shown.size ? `${shown.size} waiting` : "";
  document.title = shown.size ? `(${shown.size}) Agents` : "Agents";
  nothing.hidden = shown.size > 0;
  none.hidden = past.children.length > 0;
}

function show(question) {
  let element = shown.get(question.id);
  if (!element) {
    element = document.createElement("askbridge-question");
    shown.set(question.id, element);
    sectionOf(question).append(element);
  }
  element.record = question.record;
}

/** What a decision was, in a few words. */
function words(question, outcome) {
  if (outcome.status !== "answered") return outcome.reason ?? outcome.status;
  const label = (field, value) => field?.options?.find(option => option.value === value)?.label ?? String(value);
  const given = Object.entries(outcome.values).map(([name, value]) => {
    const field = question.fields.find(it => it.name === name);
    return [value].flat().map(one => label(field, one)).join(", ");
  });
  return given.join("; ") || "answered";
}

function end({ question, outcome, settlement }) {
  const { id, agent = "an agent", subject, text, fields } = question;
  shown.get(id)?.remove();
  shown.delete(id);
  const chosen = fields[0].options?.find(it => it.value === outcome.values?.[fields[0].name]);
  const isRefused = outcome.status !== "answered" || (question.isPermission() && chosen?.role?.startsWith("reject"));
  const by = settlement?.by?.responder ? `${agent}, by ${settlement.by.responder}` : agent;
  const decided = make("strong", { className: isRefused ? "rejected" : "answered", textContent: words(question, outcome) });
  past.prepend(make("li", {}, make("p", { textContent: subject?.command ?? text }), decided, make("small", { textContent: by })));
  past.children[PAST]?.remove();
}

/** Follows the questions until the token is refused or forgotten. */
async function follow(access) {
  connection = new AbortController();
  inbox = new Askbridge(access);
  let wasOnline = false;
  for await (const event of inbox.events({ signal: connection.signal })) {
    if (event.type === "offline") {
      // A browser does not tell a page why it got no response.
      if (!wasOnline) throw new Error(`no response from ${access.url}: does an inbox run there, and do your settings name this origin?`);
      state.className = "lost";
      state.textContent = "Connection lost, trying again";
      continue;
    }
    if (event.type === "requested" || event.type === "changed") show(event.question);
    if (event.type === "resolved") end(event);
    if (event.type === "snapshot") {
      wasOnline = true;
      state.className = "";
      state.textContent = `Connected to ${new URL(access.url).host}`;
      [connect.hidden, main.hidden, leave.hidden] = [true, false, false];
      // The token stays in this tab.
      sessionStorage.setItem("access", JSON.stringify(access));
    }
    if (wasOnline) update();
  }
}

/** Shows the questions, or else the form with what went wrong. */
async function start(access) {
  problem.textContent = "";
  try {
    await follow(access);
  } catch (error) {
    connection.abort();
    sessionStorage.removeItem("access");
    shown.clear();
    agents.replaceChildren();
    past.replaceChildren();
    update();
    state.textContent = "";
    [connect.hidden, main.hidden, leave.hidden] = [false, true, true];
    problem.textContent = error.name === "AbortError" ? "" : error.message;
  }
}

/** Sends what was decided of a question, and shows why it was refused. */
async function send({ target, detail }, act) {
  target.busy = true;
  try {
    await act(detail);
    target.failure = null;
  } catch (error) {
    target.failure = { message: error.message, fields: error.errors };
  }
  target.busy = false;
}

agents.addEventListener("askbridge-answer", event => send(event, ({ id, values, notes, comments, images }) => inbox.replyQuestion(id, values, { notes, comments, images })));
agents.addEventListener("askbridge-reject", event => send(event, ({ id, reason, comments }) => inbox.rejectQuestion(id, reason, { comments })));
agents.addEventListener("askbridge-extend", event => send(event, ({ id, milliseconds }) => inbox.extendQuestion(id, milliseconds)));
leave.addEventListener("click", () => connection.abort());
connect.addEventListener("submit", event => {
  event.preventDefault();
  start(Object.fromEntries(new FormData(connect)));
});

command.textContent = `askbridge config set inbox.allow-origin ${location.origin}\naskbridge inbox --stop\naskbridge inbox --detach`;
const kept = sessionStorage.getItem("access");
if (kept) start(JSON.parse(kept));
else connect.hidden = false;
