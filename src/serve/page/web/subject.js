// Shows what a permission is for: the command, the changes of files, the plan. What would happen comes first.

import { diff, patch } from "./diff.js";
import { el } from "./dom.js";
import { code, inline, prose } from "./text.js";
import { line, own } from "./words.js";

const KINDS = {
  execute: "Run a command",
  edit: "Change files",
  delete: "Delete",
  move: "Move files",
  read: "Read",
  search: "Search",
  fetch: "Fetch",
  switch_mode: "Change the mode",
};

/** Returns the kind of a permission in words. @param {Object} question */
export function kind({ subject }) {
  const name = subject?.kind ?? "other";
  return own(KINDS, name) ?? (name == "other" ? "Permission" : line(name).replaceAll("_", " "));
}

/** Returns the parts of a permission. @param {Object} question @returns {HTMLElement[]} */
export function subject({ subject: it, message }) {
  if (!it) return [];
  const { command, plan, diffs = [], locations = [], description, title, content, rawInput } = it;
  const files = locations.filter((place) => !diffs.some(({ path }) => place.startsWith(path)));
  const isSaid = command || plan || it.patch || diffs.length;
  return [
    command && code(command, "command"),
    fact("Folder", it.folder),
    fact("Tool", title != message && title),
    files.map((file) => fact("File", file)),
    description != message && description && prose(description),
    diffs.map(diff),
    it.patch && patch(it.patch),
    plan && el("div.plan", prose(plan)),
    content && content != plan && content != description && prose(content),
    rawInput && el("details", { open: !isSaid }, el("summary", "Input of the tool"), code(rawInput)),
  ].flat();
}

const fact = (name, text) => text && el("p.fact", el("span", name), " ", el("bdi", inline(text)));
