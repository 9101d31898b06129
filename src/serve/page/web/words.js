// Says things in words: times, how a question ended, and the texts of agents in characters that can be seen.
// Pure: no document, no clock.

/** Returns a time span in one unit. @param {number} ms */
export function span(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86400)} d`;
}

/** Returns how long ago something was. @param {number} ms */
export const ago = (ms) => (ms < 10_000 ? "just now" : `${span(ms)} ago`);

/** Returns how much time is left, to the second in the last ten minutes. @param {number} ms */
export function remaining(ms) {
  if (ms <= 0) return "no time left";
  if (ms >= 600_000) return `${span(ms)} left`;
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
}

// Headings that agents write over every form, and ours: see src/question/heading.rs.
const FORMULAS = [
  "Please answer these questions.",
  "Please answer the following questions.",
  "Codex needs your input to continue.",
  "Codex keeps working while you answer. An answer sent after it finishes is not delivered.",
];

/** Returns the heading of a question: what it says of itself, before what agents write over every form. */
export function heading({ message, title, fields = [] }) {
  const said = FORMULAS.includes(message) ? "" : message;
  return said || title || (fields.length == 1 && fields[0].label) || message || FORMULAS[0];
}

/** Returns the question itself, for one line of a list. @param {Object} question */
export function headline({ message, title, fields = [] }) {
  const said = message || title || FORMULAS[0];
  if (!fields.length || !FORMULAS.includes(said)) return said;
  return fields[1] ? `${fields[0].label} (and ${fields.length - 1} more)` : fields[0].label;
}

/** Returns a member of an object that others wrote, and none of its prototype. */
export const own = (object, name) => (object && Object.hasOwn(object, name) ? object[name] : undefined);

const RESPONDERS = {
  client: "the client",
  bridge: "the bridge",
  command_line: "the command line",
  http: "HTTP",
  rpc: "JSON-RPC",
  page: "the page",
};

/** Returns who settled a question: "the command line", "Zed". @param {Object} settlement */
export function by(settlement) {
  const { responder = "unknown", name } = settlement?.by ?? {};
  const kind = own(RESPONDERS, responder) ?? line(responder);
  if (!name) return kind;
  return responder == "client" ? line(name) : `${kind} (${line(name)})`;
}

const DONE = {
  allow_once: "allowed",
  allow_always: "allowed from now on",
  reject_once: "denied",
  reject_always: "denied from now on",
};

const REASONS = {
  cancelled: "cancelled: the turn ended",
  withdrawn: "withdrawn by the agent",
  timeout: "expired: no answer came in time",
  replied_in_chat: "closed: the person replied in the chat",
  client_gone: "closed: the client is gone",
  agent_gone: "closed: the agent is gone",
  session_closed: "closed: the session was closed",
  shutdown: "closed: the bridge was told to end",
};

/** Returns what became of a question, whether a responder did that, and what it said. */
function ending({ question, settlement, state }) {
  const { outcome, remark } = settlement ?? {};
  if (state == "lost") return ["lost: its bridge is gone, and it is not known whether it was answered"];
  if (!outcome) return [state == "delivering" ? "answered, and on its way to the agent" : "open"];
  const said = remark ? line(remark) : "";
  switch (outcome.status) {
    case "answered": {
      const [field] = question.fields ?? [];
      const role = field?.options?.find((option) => option.value === own(outcome.values, field.name))?.role;
      return [own(DONE, role) ?? "answered", true, /_once$/.test(role) ? "" : given(question, outcome)];
    }
    case "rejected": {
      const reason = own(REASONS, outcome.reason);
      const done = question.purpose == "permission" ? "denied" : "skipped";
      return [reason ?? (outcome.reason == "policy" ? "rejected by a rule" : done), !reason, said];
    }
    case "failed":
      return ["left to the agent", true, said];
    default:
      return [line(outcome.status ?? "ended"), true, said];
  }
}

/** Returns an answer in the words of its question. @param {Object} question @param {Object} answer */
export function given({ fields = [] }, { values, notes }) {
  const parts = fields.map((field) => {
    const [value, note] = [own(values, field.name), own(notes, field.name)];
    const texts = [value == null ? "" : inWords(field, value), note && `note: ${line(note)}`].filter(Boolean);
    return (texts.length && fields.length > 1 ? `${line(field.header || field.label)}: ` : "") + texts.join("; ");
  });
  return parts.filter(Boolean).join("; ");
}

function inWords({ secret, options, yes = "yes", no = "no" }, value) {
  if (secret) return "(secret)";
  if (typeof value == "boolean") return line(value ? yes : no);
  const label = (text) => line(options?.find((option) => option.value === text)?.label ?? text);
  return [value].flat().map(label).join(", ") || "none";
}

/** Returns how a question ended: "answered SQLite", "allowed from now on". @param {Object} record */
export function outcome(record) {
  const [done, , said] = ending(record);
  return said ? `${done}${done == "answered" ? "" : ":"} ${said}` : done;
}

/** Returns the same as a sentence that says who: "Answered by the command line: SQLite". @param {Object} record */
export function ended(record) {
  const [done, isByOne, said] = ending(record);
  const who = isByOne ? ` by ${by(record.settlement)}` : "";
  return done[0].toUpperCase() + done.slice(1) + who + (said ? `: ${said}` : "");
}

// Controls, formats, separators, and what is blank or ignorable: the same as in src/terminal.rs.
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\u2800]/u;
const EACH_HIDDEN = new RegExp(HIDDEN, "gu");

/** Returns a text in which characters that hide or reorder others are written out: `\u{202e}`. @param {string} text */
export function visible(text) {
  return String(text).replace(EACH_HIDDEN, (mark, at, whole) => {
    if (/[\u200c\u200d\ufe0e\ufe0f]/.test(mark) && isOrdinary(mark, whole, at)) return mark;
    const code = mark.codePointAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code == 0x7f ? "␡" : `\\u{${code.toString(16)}}`;
  });
}

/** Returns a text on one line. @param {string} text */
export const line = (text) => visible(text).replaceAll("\n", "↵").replaceAll("\t", "⇥");

/** Returns whether a selector belongs to the emoji before it, or a joiner stands between letters or emoji. */
function isOrdinary(mark, whole, at) {
  const before = [...whole.slice(Math.max(0, at - 2), at)].pop() ?? " ";
  const after = [...whole.slice(at + 1, at + 3)][0] ?? " ";
  const isAscii = (c) => c < "\x80";
  if (mark >= "\ufe0e") return /[0-9#*]/.test(before) || (!isAscii(before) && !HIDDEN.test(before));
  const isLetter = (c) => (isAscii(c) ? /[a-z0-9]/i.test(c) : !HIDDEN.test(c) && !/\s/.test(c));
  return (isLetter(before) || before == "\ufe0f") && isLetter(after) && !(isAscii(before) && isAscii(after));
}
