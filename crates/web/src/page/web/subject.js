// Shows what a permission is for: the command, the changes of files, the plan. What would happen comes first. Says what
// its options do, and which of them take a second step.

import { beyond, optionGrants, wide } from "./beyond.js";
import { diffs as changes, patch } from "./diff.js";
import { button, el } from "./dom.js";
import { digit, sentences } from "./field.js";
import { prose } from "./markdown.js";
import { code, inline } from "./text.js";
import { cut, headline, isHarmful, line, nameOf, own, spoken, twin, within } from "./words.js";

const KINDS = {
  other: "Permission",
  execute: "Run a command",
  command: "Run a command",
  fetch: "Use the network",
  edit: "Change files",
  move: "Move files",
};

/** Returns the kind of a permission in words. @param {Object} question */
export const kind = ({ subject: { kind = "other" } = {} }) => own(KINDS, kind) ?? sentences(spoken(kind));

/** Returns the parts of a permission. @param {Object} question @returns {HTMLElement[]} */
export function subject({ subject: it, message, project, title: above }) {
  if (!it) return [];
  const { command, plan, diffs = [], locations = [], description, title, content, rawInput, inputSaysMore } = it;
  const files = locations.filter(place => !diffs.some(({ path }) => place.startsWith(path)));
  const isSaid = command || plan || it.patch || diffs.length;
  const known = [command, plan, ...(command ? [] : [above, message])];
  const texts = new Set([above, message, description, content].filter(text => text && !known.includes(text)));
  return [
    command && code(command, isLong(command) ? "command.long" : "command"),
    fact("Folder", it.folder ?? (command && project)),
    fact("Where", it.environment),
    fact("Tool", title != message && title),
    files.map(file => fact("File", within(project, file))),
    beyond(it),
    changes(diffs, project),
    it.patch && patch(it.patch),
    plan && el("div.plan", prose(plan)),
    texts.size > 0 && el("div.said", command && el("p.about", "The agent says"), [...texts].map(prose)),
    rawInput && el("details", { open: !isSaid || inputSaysMore }, el("summary", "Input of the tool"), code(rawInput)),
  ];
}

/** A script that is set as large as a short command would push the buttons out of sight. */
const isLong = command => command.length > 240 || command.split("\n").length > 6;

const fact = (name, text) => text && el("p.fact", el("span", name), " ", el("bdi", inline(text)));

const DOES = {
  allow_once: "Allows it this time",
  allow_always: "Allows it from now on",
  reject_once: "Refuses it this time",
  reject_always: "Refuses it from now on",
};

/** Returns the button of an option. The label is the agent's, and may lie; what it does is said below. */
export function optionButton(option, place, options, risk, onclick, more) {
  const { role = "", dangerous } = option;
  const look = dangerous ? "harm" : !role.startsWith("allow_") ? "" : isHarmful(risk) ? "harm" : role == "allow_once" ? "primary" : "";
  const does = el("small", own(DOES, role) ?? spoken(role), more);
  const text = el("span.what", el("bdi", inline(nameOf(option)), twin(option, options)), does, optionGrants(option));
  return button(`option.${look}`, onclick, text, digit(place));
}

/** Names what would be done: the command, or what the agent asks for. */
export function act(question) {
  const { command } = question.subject ?? {};
  if (!command) return el("bdi", `“${cut(line(headline(question)), 120)}”`);
  const [first, ...more] = command.trim().split("\n");
  return [el("code", cut(line(first), 160)), more.length > 0 && ` and ${more.length} more line${more.length == 1 ? "" : "s"}`];
}

/** Returns the line of a longer command or patch that the reason for its risk names, with its number; "" where it names none. */
export function evidence({ subject: { command, patch, content } = {}, riskReason = "" }) {
  const lines = (command ?? patch ?? content ?? "").split("\n");
  const [, word] = /`([^`]+)`/.exec(riskReason) ?? [];
  if (!word || lines.length < 2) return "";
  // A name is a word of its own, with or without its folder; signs of the shell stand anywhere.
  const [before, after] = /^\w[\w.-]*$/.test(word) ? ["(?<![\\w.-])", "(?![\\w-])"] : ["", ""];
  const pattern = new RegExp(before + word.replace(/[^\w\s]/g, "\\$&") + after, "i");
  const at = lines.findIndex(text => pattern.test(text) && !/^\s*#/.test(text));
  return at < 0 ? "" : `line ${at + 1}: ${cut(line(lines[at].trim()), 160)}`;
}

/**
 * Returns what is asked before an option is taken. Nothing is where it refuses, or allows once what is plain.
 * @returns {{title: Array, confirm: string}|null}
 */
export function decision(option, risk, what) {
  const { role = "", dangerous } = option;
  if (dangerous) return { title: [wide(option)], confirm: role == "allow_always" ? "Allow always" : "Allow" };
  if (role == "allow_once") return risk == "plain" ? null : { title: ["Allow ", what, "?"], confirm: "Allow" };
  if (role == "allow_always") return { title: ["Allow ", what, " always: from now on, without asking?"], confirm: "Allow always" };
  if (role == "reject_once" || role == "reject_always") return null;
  return { title: ["The effect of this option is unknown. Choose it for ", what, "?"], confirm: "Choose it" };
}
