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

/** Returns the kind of a permission in words. @param {Object} question @returns {string} */
export function kind({ subject }) {
  const name = subject?.kind;
  return own(KINDS, name) ?? (name && name != "other" ? line(name).replaceAll("_", " ") : "Permission");
}

/** Returns the parts of a permission. @param {Object} question @returns {HTMLElement[]} */
export function subject({ subject: it, message }) {
  if (!it) return [];
  const diffs = it.diffs ?? [];
  const files = (it.locations ?? []).filter((place) => !diffs.some(({ path }) => place.startsWith(path)));
  const isSaid = it.command || it.plan || it.patch || diffs.length;
  return [
    it.command && code(it.command, "command"),
    fact("Folder", it.folder),
    it.description && it.description != message && prose(it.description),
    it.title != message && fact("Tool", it.title),
    files.length && el("ul", { class: "files", "aria-label": "Files" }, files.map((file) => el("li", { dir: "ltr" }, line(file)))),
    diffs.map(diff),
    it.patch && patch(it.patch),
    it.plan && el("div", { class: "plan" }, prose(it.plan)),
    it.content && it.content != it.plan && it.content != it.description && prose(it.content),
    it.rawInput && el("details", { open: !isSaid }, el("summary", null, "Input of the tool"), code(it.rawInput)),
  ].flat().filter(Boolean);
}

const fact = (name, text) => text && el("p", { class: "fact" }, el("span", null, name), " ", el("bdi", null, inline(text)));
