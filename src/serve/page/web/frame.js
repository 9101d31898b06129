// The parts of the inbox that stay: its header, the two panes, and its dialogs.

import { el } from "./dom.js";
import { KEYS } from "./keys.js";

const button = (text, onclick, name = "quiet") => el(`button.${name}`, { type: "button", onclick }, text);

/** Returns the parts by name. `inbox` has what the person can do there. */
export function frame(inbox) {
  const waiting = el("span.count");
  const groups = el("div");
  const newer = el("p.newer");
  const settled = el("ul");
  const context = el("p.context", { dir: "auto" });
  const stage = el("div.stage");
  const live = el("p.live", { role: "status" });
  const settings = settingsOf(inbox);
  const confirm = dialog("Discard what you typed?", [], el("button", { value: "keep" }, "Keep it as a draft"), el("button.danger", { value: "discard" }, "Discard"));
  // When it has closed, the browser has given the focus back.
  confirm.addEventListener("close", () => confirm.returnValue && inbox.leave(confirm.returnValue));
  const list = el("section.list", { "aria-label": "Questions" },
    el("h2", "Waiting ", waiting), groups, el("p.none", "Nothing waits."), newer,
    el("section.settled", { hidden: true }, el("h2", "Settled lately"), settled));
  const main = el("section.main", { tabindex: "-1" }, button("All questions", () => inbox.leave(), "quiet.back"), context, stage);
  const notice = el("p.notice", { hidden: true }, "Offline. What you type is kept; the page connects by itself.", button("Try now", inbox.retry));
  const shell = el("div.shell", { dataset: { view: "list" } },
    el("header", el("slot", { name: "heading" }), button("Settings", () => settings.showModal())),
    notice, el("div.sign-in", el("slot", { name: "sign-in" })), el("div.panes", list, main), live);
  return { shell, list, waiting, groups, newer, settled, main, context, stage, notice, live, settings, confirm };
}

function dialog(title, content, ...buttons) {
  const form = el("form", { method: "dialog" }, el("h2", title), content, el("div.buttons", buttons));
  return el("dialog", { "aria-label": title }, form);
}

function settingsOf({ alerts, signOut }) {
  const refusal = el("p.refusal", { role: "alert" });
  const setting = (name, text) => {
    const change = async () => {
      refusal.textContent = await alerts.set(name, box.checked);
      box.checked = alerts.settings[name];
    };
    const box = el("input", { type: "checkbox", checked: !!alerts.settings[name], onchange: change });
    return el("label", box, text);
  };
  const keys = Object.entries(KEYS).map(([key, text]) => el("div", el("dt", el("kbd", key)), el("dd", text)));
  const told = el("fieldset", el("legend", "While you are elsewhere"), setting("notify", "Notify me of new questions"), setting("sound", "Play a sound"), refusal);
  return dialog("Settings", [told, el("h3", "Keys"), el("dl", keys)],
    el("button", "Close"), el("button.quiet", { onclick: signOut }, "Sign out in this browser"));
}
