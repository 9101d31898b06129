// Says things in words: times, how a question ended, and the texts of agents in characters that can be seen.
// Pure: no document, no clock.

/** Returns a time span in one unit. @param {number} ms */
function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
}

/** Returns when something will be. @param {number} ms */
export const inTime = ms => `in ${span(ms)}`;

/** Returns how long ago something was. @param {number} ms */
export const ago = ms => (ms < 10_000 ? "just now" : `${span(ms)} ago`);

/** Returns how many questions of a project wait, and how long the first of them has. One alone says so itself. @param {number} ms */
export const longest = (count, ms) => (count < 2 ? "" : count + (ms < 10_000 ? "" : `, the first for ${span(ms)}`));

/** Returns how much time is left, to the second in the last ten minutes. @param {number} ms */
export function remaining(ms) {
  if (ms <= 0) return "no time left";
  return `${ms < 600_000 ? new Date(ms).toISOString().slice(15, 19) : span(ms)} left`;
}

// Headings that agents write over every form, and ours: see crates/core/src/question/form.rs.
const FORMULAS = [
  "Please answer these questions.",
  "Please answer the following questions.",
  "Codex needs your input to continue.",
  "Codex keeps working while you answer. An answer sent after it finishes is not delivered.",
];

/** Returns the heading of a question: what it says of itself, before what agents write over every form. */
export function heading({ message, title, fields: [field, ...more] = [] }) {
  const said = FORMULAS.includes(message) ? "" : message;
  return said || title || (!more.length && field?.label) || message || FORMULAS[0];
}

/** Returns the question itself, for one line of a list. @param {Object} question */
export function headline(question) {
  const said = heading(question);
  const [field, ...more] = question.fields ?? [];
  return !field || !FORMULAS.includes(said) ? said : `${field.label} (and ${more.length} more)`;
}

/** Returns a member of an object that others wrote, and none of its prototype. */
export const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

/** Returns the name of the other machine that a question waits on, or a bridge runs on; "" of this one. */
export const machineOf = ({ bridge }) => line(/^([^/]+)\//.exec(bridge)?.[1] ?? "");

/** Returns whether a question can be answered. */
export const isOpen = record => !!record && (record.state ?? "open") == "open" && !record.settlement;

const RESPONDERS = { http: "HTTP", rpc: "JSON-RPC", unknown: "an unknown responder" };

/** Returns who settled a question: "the command line", "Zed", 'rule "tests"'. */
function by({ responder = "unknown", name } = {}) {
  const kind = own(RESPONDERS, responder) ?? `the ${spoken(responder)}`;
  if (!name) return kind;
  if (responder == "fleet") return `${line(name)} over the fleet`;
  if (responder == "rule") return `rule "${line(name)}"`;
  return responder == "client" ? line(name) : `${kind} (${line(name)})`;
}

const DONE = {
  allow_once: "Allowed",
  allow_always: "Allowed from now on",
  reject_once: "Rejected",
  reject_always: "Rejected from now on",
};

/** Returns what the chosen option of a permission does. */
const chosen = ({ fields: [field] = [] }, values) => field?.options?.find(option => option.value === own(values, field.name))?.role;

/** Returns how a question ended. What is `accepted` of a lost one was perhaps not delivered. @param {Object} record */
export function ended({ question, settlement, state, accepted }) {
  if (state == "lost") return `Lost: its agent ended before it was settled${accepted ? `. ${decided(question, accepted)}` : ""}`;
  return settlement ? decided(question, settlement) : "Answered, and on its way to the agent";
}

/** Returns what was decided, and by which responder: "Answered by the command line: SQLite". */
export function decided(question, { outcome, remark, by: responder, reactionMs }) {
  const { status, reason, values } = outcome;
  if (reason == "timeout") return "Expired: no answer came in time";
  // A client that was faster than a person can be has decided by itself.
  const who = by(responder) + (reactionMs === undefined ? "" : ` itself, within ${reactionMs + 1} ms`);
  if (reason == "cancelled" && responder?.responder == "client") return `Dismissed in ${who}`;
  if (reason == "call_ended") return `Over: ${who} ended the call that waited for it`;
  if (reason && reason != "user" && reason != "policy") return `Closed: ${spoken(reason)}`;
  let verb = { answered: "Answered", rejected: reason == "policy" ? "Rejected by a rule" : "Rejected", failed: "Left to the agent" }[status] ?? line(status);
  let said = remark && line(remark);
  if (status == "answered") {
    const role = chosen(question, values);
    verb = own(DONE, role) ?? verb;
    said = !/_once$/.test(role) && given(question, outcome);
  }
  return `${verb} by ${who}${said ? `: ${said}` : ""}`;
}

/** Returns a text that is cut where it is too long, with a mark. */
export function cut(text, most) {
  if (text.length <= most) return text;
  const all = [...text.slice(0, 2 * most)];
  return all.length > most ? `${all.slice(0, most - 1).join("")}…` : text;
}

/** Returns what an option is called: its label, or its value where that is blank. */
export const nameOf = ({ label, value }) => `${(line(`${label ?? ""}`).trim() ? label : value) ?? ""}`;

/** Returns what tells an option from others with the same name: its value, to be set behind the name; "" where it needs none. */
export function twin(option, options = []) {
  const name = it => line(nameOf(it)).replace(/\s+/g, " ").trim();
  return options.some(it => it !== option && name(it) == name(option)) ? ` (${line(`${option.value}`)})` : "";
}

/** Returns what the person did, and the words of an answer: ["Sent", "SQLite"], ["Allowed"]. @param {Object} record */
export function done({ question, settlement }) {
  const { status, values, notes } = settlement?.outcome ?? {};
  const isPermission = question.purpose == "permission";
  if (status == "rejected") return ["Rejected"];
  if (isPermission) return [own(DONE, chosen(question, values)) ?? "Decided"];
  return ["Sent", cut(given(question, { values, notes }, 40), 160) || "an empty answer"];
}

const DOING = { Sent: "Sending", Allowed: "Allowing", Rejected: "Rejecting", Decided: "Deciding" };

/** Returns what the person is doing, in the same way: ["Sending", "SQLite"]. @param {Object} record @param {Object} sent an answer, or none */
export function doing({ question }, { answer }) {
  const outcome = answer ? { status: "answered", ...answer } : { status: "rejected" };
  const [said, ...what] = done({ question, settlement: { outcome } });
  return [said.replace(/^\w+/, verb => DOING[verb]), ...what];
}

/** Returns an answer in the words of its question. @param {Object} question @param {Object} answer @param {number} [most] of the name of a field */
export function given({ fields = [] }, { values, notes, images }, most = Infinity) {
  const parts = fields.map(field => {
    const [value, note] = [own(values, field.name), own(notes, field.name)];
    const texts = [value == null ? "" : inWords(field, value), note && `note: ${line(note)}`].filter(Boolean);
    return (texts.length && fields.length > 1 ? `${cut(line(field.header || field.label), most)}: ` : "") + texts.join("; ");
  });
  if (images?.length) parts.push(images.length == 1 ? "1 image" : `${images.length} images`);
  return parts.filter(Boolean).join("; ");
}

function inWords({ secret, options, yes = "yes", no = "no" }, value) {
  if (secret) return "(secret)";
  if (typeof value == "boolean") return line(value ? yes : no);
  const label = text => {
    const option = options?.find(option => option.value === text);
    return option ? line(nameOf(option)) + twin(option, options) : line(text);
  };
  return [value].flat().map(label).join(", ") || "none";
}

// Controls, formats, separators, and what is blank or ignorable: the same as in crates/os/src/terminal.rs.
const HIDDEN = "\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}\\p{DI}\\u2800";
// A selector after an emoji, and a joiner between letters or emoji, are no more than spelling.
const SEEN = `[^\\0-\\x7f\\s${HIDDEN}]`;
const SELECTOR = `(?<=[0-9#*]|${SEEN})[\\ufe0e\\ufe0f]`;
const JOINER = `(?<=${SEEN}|\\ufe0f)[\\u200c\\u200d](?=${SEEN}|[a-zA-Z0-9])|(?<=[a-zA-Z0-9])[\\u200c\\u200d](?=${SEEN})`;
const UNSEEN = new RegExp(`(${SELECTOR}|${JOINER})|(?![\\n\\t])[${HIDDEN}]`, "gu");

// Most texts have none of them, and code comes in thousands of parts.
const PLAIN = /^[\n\t -~]*$/;

/** Returns a text in which characters that hide or reorder others are written out: `\u{202e}`. @param {string} text */
export const visible = text =>
  PLAIN.test(text) ? `${text}` : `${text}`.replace(UNSEEN, (mark, spelling) => {
    const code = mark.codePointAt(0);
    return spelling ?? (code < 0x20 ? String.fromCharCode(0x2400 + code) : code == 0x7f ? "␡" : `\\u{${code.toString(16)}}`);
  });

/** Returns a path relative to the folder of its session, if it is plainly in there: without `.` and `..`. */
export function within(folder, path) {
  const start = `${folder ?? ""}`.replace(/\/*$/, "/");
  const rest = path.slice(start.length);
  const isPlain = /^\/./.test(start) && path.startsWith(start) && rest.split("/").every(part => !["", ".", ".."].includes(part));
  return isPlain ? rest : path;
}

/** Returns a text on one line. @param {string} text */
export const line = text => visible(text).replaceAll("\n", "↵").replaceAll("\t", "⇥");

/** Returns a name of the protocol in words: "switch mode". @param {string} name */
export const spoken = name => line(name).replaceAll("_", " ");

/** A degree that is not known here may do harm as well. */
export const isHarmful = risk => risk != "plain" && risk != "acts";

/** Returns what a question risks: `plain`, `acts`, or what else may do harm. Where nobody looked, a permission may. */
export const riskOf = ({ risk, dangerous, purpose }) => risk ?? (dangerous || purpose == "permission" ? "dangerous" : "plain");

/** Names the machines for each reason: a broker that fails takes many with it. */
function byReason(machines, reason) {
  const all = Map.groupBy(machines, reason);
  all.delete(undefined);
  return [...all].map(([why, of]) => {
    const names = of.slice(0, 3).map(({ name, machine }) => line(name ?? machine)).join(", ");
    return [of.length > 3 ? `${names} and ${of.length - 3} more machines` : names, why, of.length > 1 ? "are" : "is"];
  });
}

/** Ends a sentence, unless what it quotes has ended it. */
const stopped = text => (/[.?!]$/.test(text) ? text : `${text}.`);

/** Returns a line for each reason why questions may be missing, in the words of the terminal. */
export function gaps(machines, fleet) {
  const away = ({ connectedAt, problem }) => (connectedAt || (problem && fleet?.endsWith(problem)) ? undefined : problem ? `not connected: ${line(problem)}` : "being connected to");
  const partly = machines.filter(({ connectedAt, unasked }) => connectedAt && unasked).map(({ name, unasked }) => `${unasked == 1 ? "a bridge" : `${unasked} bridges`} did not reply on ${line(name)}`);
  const missing = [fleet && line(fleet), ...partly].filter(Boolean).map(why => stopped(`Questions may be missing: ${why}`));
  return [...missing, ...byReason(machines, away).map(([names, why, are]) => stopped(`${names} ${are} ${why}`))];
}

/** Returns a line for each reason why the history of machines is missing. */
export const missingHistory = missing => byReason(missing, ({ problem }) => line(problem)).map(([names, why]) => stopped(`The history of ${names} is missing: ${why}`));
