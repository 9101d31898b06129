// <askbridge-question>: one question or permission, from when it opens until it is settled. It sends nothing itself:
// what the person decides is an event. See elements.html for its properties, methods and events.

import { el, stylesheet } from "./dom.js";
import { createField } from "./field.js";
import { kind, subject } from "./subject.js";
import { inline, prose } from "./text.js";
import { ended, given, heading, line, own, remaining, visible } from "./words.js";

const sheets = await stylesheet("tokens.css", "question.css");
const MORE_TIME = 600_000;
const MEANINGS = {
  allow_once: "this time",
  allow_always: "from now on",
  reject_once: "this time",
  reject_always: "from now on",
};

export class AskbridgeQuestion extends HTMLElement {
  static formAssociated = true;
  #root = this.attachShadow({ mode: "open" });
  #internals = this.attachInternals();
  #record = null;
  #fields = [];
  #parts = {};
  #reason = "";
  #step = null;
  #chosen = null;
  #busy = false;
  #failure = null;
  #timer;
  /** Whether the person entered something. */
  touched = false;
  /** The clock of the bridge minus that of this page, in milliseconds. */
  clockOffset = 0;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = sheets;
    this.#root.addEventListener("input", (event) => this.#entered(event));
    this.#root.addEventListener("keydown", (event) => this.#key(event));
  }

  connectedCallback() {
    // What was set before the element was defined hides the accessor of the same name.
    for (const name of ["record", "draft", "busy", "failure", "clockOffset"]) {
      if (!Object.hasOwn(this, name) || name == "clockOffset") continue;
      const value = this[name];
      delete this[name];
      this[name] = value;
    }
    this.#tick();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
  }

  /** The question, as schema/question_record.schema.json has it. */
  get record() {
    return this.#record;
  }

  set record(record) {
    const before = this.#record;
    this.#record = record;
    const isSame = before?.id == record?.id;
    if (!record) this.#root.replaceChildren();
    else if (!isSame || JSON.stringify(before.question) != JSON.stringify(record.question)) this.#show(isSame);
    this.#update();
  }

  get #isOpen() {
    return !!this.#record && (this.#record.state ?? "open") == "open" && !this.#record.settlement;
  }

  get #isPermission() {
    return this.#record?.question.purpose == "permission";
  }

  /** What was entered, without secrets, as JSON. */
  get draft() {
    const open = this.#fields.filter(({ field }) => !field.secret);
    const pairs = (get) => Object.fromEntries(open.map((it) => [it.field.name, get(it)]).filter(([, text]) => text != null && text !== ""));
    const other = pairs((it) => it.other?.value);
    return { values: pairs((it) => it.get()), notes: pairs((it) => it.note()), other, reason: this.#reason };
  }

  set draft(draft) {
    if (!draft || !this.#record) return;
    for (const it of this.#fields) {
      const { name, secret } = it.field;
      if (secret) continue;
      it.set(own(draft.values, name));
      if (it.other) it.other.value = own(draft.other, name) ?? "";
      it.setNote(own(draft.notes, name));
    }
    this.#reason = String(draft.reason ?? "");
    this.touched = true;
    this.#changed();
  }

  /** Whether what was decided is on its way. */
  get busy() {
    return this.#busy;
  }

  set busy(busy) {
    this.#busy = !!busy;
    this.#update();
  }

  /** Why the server refused what was sent: `{message, fields: [{field, message}]}`, or null. */
  get failure() {
    return this.#failure;
  }

  set failure(failure) {
    this.#failure = failure ?? null;
    if (this.#record) this.#fail(failure?.message ?? "", failure?.fields ?? []);
  }

  /** Moves the focus to the first field, or to the heading of a permission: a key must not allow it by chance. */
  focusFirst() {
    const first = this.#isOpen && this.#fields.find((it) => it.inputs.length);
    if (first) first.focus();
    else this.#parts.title?.focus();
  }

  /** Sends the answer, or what is under way: a step, a chosen option. */
  submit() {
    if (!this.#isOpen || this.#busy) return;
    if (this.#step) this.#step();
    else if (this.#isPermission) this.#chosen?.click();
    else this.#answer();
  }

  /** Asks for the reason, and then skips the question or denies the permission. */
  skip() {
    if (!this.#isOpen || this.#busy) return;
    const name = this.#isPermission ? "Deny" : "Skip this question";
    const act = (reason) => this.#send("reject", { reason: reason || undefined });
    this.#ask({ title: name, label: "Reason (optional)", value: this.#reason, confirm: this.#isPermission ? "Deny" : "Skip", act });
  }

  /** Chooses an option by its number, from 1. @param {number} n @returns {boolean} whether there is one */
  choose(n) {
    if (!this.#isOpen || this.#busy || this.#step) return false;
    if (this.#isPermission) return this.#select(this.#root.querySelectorAll("button.option")[n - 1]);
    const fields = this.#fields.filter((it) => it.pick);
    const focused = fields.find((it) => it.node.contains(this.#root.activeElement));
    const field = focused ?? fields.find((it) => it.get() === undefined) ?? fields[0];
    return field?.pick(n - 1) ?? false;
  }

  /** Discards what was entered. */
  discard() {
    this.#reason = "";
    if (this.#record) this.#show(false);
    this.#update();
    this.#changed();
  }

  formDisabledCallback(isDisabled) {
    this.busy = isDisabled;
  }

  formResetCallback() {
    this.discard();
  }

  formStateRestoreCallback(state) {
    this.draft = JSON.parse(state);
  }

  /** Builds the card. What was entered is kept where only the wording of the same question changed. */
  #show(isSame) {
    const { question, kept } = this.#record;
    const draft = isSame && this.touched ? this.draft : null;
    const focused = isSame && this.#root.activeElement?.id;
    this.touched = false;
    this.#step = this.#chosen = null;
    const isPermission = this.#isPermission;
    const fields = isPermission ? [] : (question.fields ?? []);
    const isTitled = fields.length == 1 && heading(question) == fields[0].label;
    const context = { isTitled, hasNotes: question.notes ?? true, isOnly: fields.length == 1 };
    this.#fields = fields.map((field, place) => createField(field, place, context));
    for (const it of this.#fields) if (own(kept?.values, it.field.name) != null) it.set(own(kept.values, it.field.name));
    this.#build(question, isPermission ? subject(question) : this.#fields.map((it) => it.node));
    if (draft) this.draft = draft;
    if (focused) this.#root.getElementById(focused)?.focus();
    this.#changed(false);
  }

  #build(question, body) {
    const [first, rest] = headed(this.#isPermission && heading(question) == question.subject?.command ? "Run this command?" : heading(question));
    const parts = {
      notice: el("div", { class: "notice", tabindex: "-1", hidden: true }),
      time: el("span", { class: "time" }),
      title: el("h2", { id: "title", tabindex: "-1", dir: "auto", class: first.length > 90 && "long" }, inline(first)),
      problem: el("div", { class: "problem", tabindex: "-1", hidden: true }),
      actions: el("div", { class: "actions" }),
      status: el("p", { role: "status", class: "vh" }),
    };
    this.#parts = parts;
    const [only, ...others] = question.fields ?? [];
    const about = this.#isPermission ? kind(question) : !others.length && only?.header;
    const harm = this.#isPermission ? "Dangerous: what it allows can do harm" : "Dangerous: a wrong answer can do harm";
    const chips = [about, question.title != first && question.title].filter(Boolean);
    parts.later = button("More time", () => this.#send("extend", { milliseconds: MORE_TIME }), "link");
    const head = [
      chips.map((text) => el("bdi", { class: "chip" }, line(text))),
      question.dangerous && el("span", { class: "chip danger" }, harm),
      el("span", { class: "until" }, parts.time, parts.later),
    ];
    const onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
    this.#root.replaceChildren(
      el("article", { "aria-labelledby": "title" }, [
        parts.notice,
        el("div", { class: "head" }, head),
        parts.title,
        rest && prose(rest),
        parts.problem,
        el("form", { novalidate: true, onsubmit }, body, parts.actions),
        parts.status,
      ]),
    );
    this.#offer();
  }

  /** Offers what can be done: send and skip, or the options of a permission. */
  #offer() {
    const { question } = this.#record;
    this.#step = this.#chosen = null;
    const isPermission = this.#isPermission;
    const skip = button(isPermission ? "Deny with a reason" : "Skip this question", () => this.skip(), "link skip");
    if (isPermission) return this.#parts.actions.replaceChildren(...this.#options(), skip);
    const send = el("button", { type: "submit", class: "primary" }, line(question.submit || "Send answer"));
    const cannot = !this.#fields.some((it) => it.inputs.length);
    this.#parts.actions.replaceChildren(...(cannot ? [] : [send]), skip);
  }

  #options() {
    const options = this.#record.question.fields?.[0]?.options ?? [];
    const primary = options.findIndex(({ role }) => role == "allow_once");
    return options.map((option, place) => {
      const meaning = own(MEANINGS, option.role) ?? line(option.role ?? "").replaceAll("_", " ");
      const verb = /^(allow|reject)_/.exec(option.role ?? "")?.[1];
      const does = verb ? `${verb == "allow" ? "Allows" : "Refuses"} it ${meaning}` : meaning;
      const press = () => this.#press(option);
      return button(
        [el("span", { class: "what" }, el("bdi", null, line(option.label)), does && el("small", null, does)), place < 9 && el("kbd", { "aria-hidden": "true" }, String(place + 1))],
        press,
        `option ${place == primary ? "primary" : ""} ${verb ?? ""}`,
      );
    });
  }

  /** Takes an option of a permission: at once where it refuses, or allows once what is not dangerous. */
  #press(option) {
    const { question } = this.#record;
    const { role = "", label } = option;
    const isRefusal = role.startsWith("reject_");
    const act = () => this.#send("answer", { values: Object.fromEntries([[question.fields[0].name, option.value]]), notes: {} });
    if (isRefusal || (role == "allow_once" && !question.dangerous)) return act();
    const always = role == "allow_always" ? "Allow always: from now on without asking?" : "";
    const harm = question.dangerous ? "This can do harm. Allow it all the same?" : "";
    const confirm = role == "allow_always" ? "Allow always" : harm ? "Allow it" : "Choose it";
    this.#ask({ title: [always, harm].filter(Boolean).join(" ") || "Choose this?", about: label, confirm, act, isDangerous: question.dangerous });
  }

  #select(option) {
    if (!option) return false;
    for (const other of this.#root.querySelectorAll("button.option")) other.toggleAttribute("data-chosen", other == option);
    this.#chosen = option;
    option.focus();
    return true;
  }

  #answer() {
    const wrong = this.#fields.map((it) => ({ field: it.field.name, message: it.wrong() })).filter(({ message }) => message);
    this.#fail("", wrong);
    if (wrong.length) return;
    const act = () => this.#send("answer", this.#given());
    if (!this.#record.question.dangerous) return act();
    this.#ask({ title: "A wrong answer can do harm", label: "Type yes to send this answer", confirm: "Send answer", must: "yes", act, isDangerous: true });
  }

  #given() {
    const pairs = (get) => Object.fromEntries(this.#fields.map((it) => [it.field.name, get(it)]).filter(([, value]) => value !== undefined && value !== ""));
    return { values: pairs((it) => it.get()), notes: pairs((it) => it.note()) };
  }

  /** Puts a step in the place of the buttons: what is confirmed, a text, and the way back. */
  #ask({ title, about, label, value, confirm, act, must, isDangerous }) {
    const opener = this.#root.activeElement;
    const input = label && el("input", { id: "step", value: value ?? "", autocomplete: "off", dir: "auto", class: must ? "must" : "reason" });
    const error = el("p", { class: "error", role: "alert" });
    const take = () => {
      if (must && input.value.trim().toLowerCase() != must) {
        error.textContent = `Type ${must}, or go back`;
        return input.focus();
      }
      act(input ? input.value.trim() : undefined);
    };
    const back = () => {
      this.#offer();
      this.#update();
      const again = opener?.textContent;
      [...this.#root.querySelectorAll(".actions button")].find((it) => it.textContent == again)?.focus();
    };
    const yes = el("button", { type: "submit", class: isDangerous ? "danger" : "primary" }, confirm);
    const no = button("Back", back, "back");
    const text = [el("p", { class: "label", id: "asked" }, title), about && el("p", { dir: "auto" }, line(about))];
    const entry = input && [el("label", { for: "step" }, label), input, error];
    this.#parts.actions.replaceChildren(el("div", { class: "step", role: "group", "aria-labelledby": "asked" }, text, entry, el("div", { class: "buttons" }, yes, no)));
    // A dangerous step is taken by its own button alone.
    this.#step = take;
    this.#step.back = back;
    (input || (isDangerous ? no : yes)).focus();
    this.#update();
  }

  #send(name, detail) {
    if (!this.#isOpen || this.#busy) return;
    this.dispatchEvent(new CustomEvent(`askbridge-${name}`, { detail: { id: this.#record.id, ...detail }, bubbles: true, composed: true, cancelable: true }));
  }

  #key(event) {
    if (event.isComposing) return;
    if (event.key == "Escape" && this.#step) {
      event.preventDefault();
      event.stopPropagation();
      this.#step.back();
    }
    const isText = event.target.matches?.("textarea.own");
    const isSent = event.ctrlKey || event.metaKey || (isText && !event.shiftKey);
    if (event.key != "Enter" || !isSent || event.repeat) return;
    event.preventDefault();
    this.submit();
  }

  #entered({ target }) {
    if (target.matches(".must")) return;
    if (target.matches(".reason")) this.#reason = target.value;
    this.touched = true;
    for (const it of this.#fields) if (it.node.contains(target) && !it.wrong()) it.fail("");
    this.#changed();
  }

  #changed(isSaid = true) {
    const wrong = this.#fields.find((it) => it.wrong());
    this.#internals.setFormValue(JSON.stringify(this.#given()), JSON.stringify(this.draft));
    if (wrong) this.#internals.setValidity({ customError: true }, `${wrong.field.label} ${wrong.wrong()}`, wrong.inputs[0]);
    else this.#internals.setValidity({});
    if (isSaid) this.dispatchEvent(new CustomEvent("askbridge-draft", { detail: { id: this.#record?.id }, bubbles: true, composed: true }));
  }

  /** Shows what is wrong beside the fields and above them, where the focus goes. */
  #fail(message, wrong) {
    const { problem } = this.#parts;
    for (const it of this.#fields) it.fail(wrong.find(({ field }) => field == it.field.name)?.message);
    const items = wrong.map(({ field, message }) => {
      const it = this.#fields.find((it) => it.field.name == field);
      const text = `“${short(it?.field.header || it?.field.label || field)}” ${visible(message)}`;
      return el("li", null, it?.inputs.length ? el("a", { href: `#${it.id}`, onclick: (event) => (event.preventDefault(), it.focus()) }, text) : text);
    });
    const isShown = !!message || items.length > 0;
    problem.hidden = !isShown;
    problem.replaceChildren(...(isShown ? [el("h3", null, "There is a problem"), message && el("p", { dir: "auto" }, visible(message)), el("ul", null, items)].filter(Boolean) : []));
    if (isShown) problem.focus();
  }

  /** Shows the state: whether it can be answered, whether something is under way, and how it ended. */
  #update() {
    const { notice, actions, status } = this.#parts;
    if (!this.#record) return;
    const isOpen = this.#isOpen;
    if (!isOpen && !this.touched) this.#settle();
    for (const it of this.#fields) it.lock(!isOpen);
    notice.hidden = isOpen;
    actions.hidden = !isOpen;
    if (!isOpen) this.#end(notice);
    // Disabled buttons would lose the focus.
    for (const it of actions.querySelectorAll("button")) it.ariaDisabled = this.#busy ? "true" : null;
    this.#root.firstElementChild.ariaBusy = String(this.#busy);
    status.textContent = this.#busy ? "Sending" : "";
    this.#tick();
  }

  #settle() {
    const { values, notes } = this.#record.settlement?.outcome ?? {};
    for (const it of values ? this.#fields : []) {
      it.set(own(values, it.field.name));
      it.setNote(own(notes, it.field.name));
    }
  }

  /** Says how it ended. What the person entered, and is not the answer, stays to copy. */
  #end(notice) {
    const record = this.#record;
    const { outcome, by } = record.settlement ?? {};
    const mine = given(record.question, this.#given());
    const isLeft = this.touched && mine && mine != (outcome?.values ? given(record.question, outcome) : "");
    const copy = () => this.#copy(mine);
    notice.className = `notice ${outcome?.status ?? record.state}`;
    notice.replaceChildren(el("p", { dir: "auto" }, ended(record)), ...(isLeft ? [button("Copy your draft", copy)] : []));
  }

  async #copy(text) {
    await navigator.clipboard?.writeText(text);
    this.#parts.status.textContent = "Copied";
  }

  #tick() {
    clearTimeout(this.#timer);
    const { deadline, expiring } = this.#record ?? {};
    const isShown = this.#isOpen && !!deadline;
    const { time, later } = this.#parts;
    if (!time) return;
    later.hidden = !isShown;
    const left = Date.parse(deadline) - Date.now() - this.clockOffset;
    time.textContent = isShown ? remaining(left) : "";
    time.classList.toggle("soon", !!expiring || left < 60_000);
    if (isShown && this.isConnected) this.#timer = setTimeout(() => this.#tick(), 1000 - ((Date.now() + this.clockOffset) % 1000));
  }
}

const button = (text, onclick, name = "") => el("button", { type: "button", class: name, onclick }, text);
const short = (text) => (text.length > 60 ? `${line(text.slice(0, 59))}…` : line(text));

/** Returns the heading and the rest of a text: its first line, unless that is code. */
function headed(text) {
  const [first, ...rest] = text.trim().split("\n");
  return /^ *(```|~~~)/.test(first) ? ["Question", text] : [first, rest.join("\n").trim()];
}

customElements.define("askbridge-question", AskbridgeQuestion);
