// <askbridge-question>: one question or permission, from when it opens until it is settled. It sends nothing: what the
// person decides is an event. elements.html describes its properties, methods and events.

import { el, stylesheet } from "./dom.js";
import { createField, entries, pairs } from "./field.js";
import { decision, kind, optionButton, subject } from "./subject.js";
import { direction, headed, inline, prose } from "./text.js";
import { ended, given, heading, line, own, remaining, visible } from "./words.js";

const sheets = await stylesheet("tokens.css", "question.css");
const MORE_TIME = 600_000;

export class AskbridgeQuestion extends HTMLElement {
  static formAssociated = true;
  #root = this.attachShadow({ mode: "open" });
  #internals = this.attachInternals();
  #record = null;
  #fields = [];
  #parts = {};
  #reason = "";
  #step = null;
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
    this.#root.addEventListener("input", ({ target }) => this.#entered(target));
    this.#root.addEventListener("keydown", (event) => this.#key(event));
  }

  connectedCallback() {
    // A property that was set before the element was defined hides the accessor of its name.
    for (const name of ["record", "draft", "busy", "failure"].filter((name) => Object.hasOwn(this, name))) {
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
    const wasOpen = this.#isOpen;
    this.#record = record ?? null;
    const isSame = before?.id == record?.id;
    // An answer that could not be delivered opens the question again, as it was proposed.
    const isAgain = !wasOpen && this.#isOpen && !this.touched;
    if (!record) this.#root.replaceChildren();
    else if (!isSame || isAgain || !equal(before.question, record.question)) this.#show(isSame);
    this.#update();
  }

  /** What was entered, without secrets, as JSON. */
  get draft() {
    const fields = this.#fields.filter(({ field }) => !field.secret);
    return { ...entries(fields), other: pairs(fields, (it) => it.other?.value), reason: this.#reason };
  }

  set draft(draft) {
    if (!draft || !this.#record) return;
    for (const it of this.#fields.filter(({ field }) => !field.secret)) {
      const { name } = it.field;
      it.set(own(draft.values, name));
      if (it.other) it.other.value ||= own(draft.other, name) ?? "";
      it.setNote(own(draft.notes, name));
    }
    this.#reason = draft.reason ?? "";
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
    if (this.#record) this.#fail(failure?.message, failure?.fields ?? []);
  }

  /** Moves the focus to the first field; of a permission to the heading, so that no key allows it by chance. */
  focusFirst() {
    const first = this.#isOpen && this.#fields.find((it) => it.inputs.length);
    (first || this.#parts.title)?.focus();
  }

  /** Sends the answer, or takes what is under way: a step, a chosen option. */
  submit() {
    if (!this.#isOpen || this.#busy) return;
    if (this.#step) this.#step.take();
    else if (this.#isPermission) this.#root.querySelector("[data-chosen]")?.click();
    else this.#answer();
  }

  /** Asks for a reason, and then skips the question or denies the permission. */
  skip() {
    if (!this.#isOpen || this.#busy) return;
    const [title, confirm] = this.#isPermission ? ["Deny this", "Deny"] : ["Skip this question", "Skip"];
    const act = (reason) => this.#send("reject", { reason: reason || undefined });
    this.#ask({ title, label: "Reason (optional)", value: this.#reason, confirm, act });
  }

  /** Chooses an option by its number, from 1, and returns whether there is one. @param {number} n */
  choose(n) {
    if (!this.#isOpen || this.#busy || this.#step) return false;
    if (this.#isPermission) return this.#select(this.#root.querySelectorAll(".option")[n - 1]);
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

  formResetCallback() {
    this.discard();
  }

  formStateRestoreCallback(state) {
    this.draft = JSON.parse(state);
  }

  get #isOpen() {
    const { state = "open", settlement } = this.#record ?? { state: "none" };
    return state == "open" && !settlement;
  }

  get #isPermission() {
    return this.#record?.question.purpose == "permission";
  }

  /** Builds the card. What was entered is kept where it is the same question, with other texts. */
  #show(isSame) {
    const { question, kept } = this.#record;
    const draft = isSame && this.touched && this.draft;
    const focused = isSame && this.#root.activeElement?.id;
    const fields = this.#isPermission ? [] : (question.fields ?? []);
    const isOnly = fields.length == 1;
    const isTitled = isOnly && heading(question) == fields[0].label;
    const context = { isOnly, isTitled, hasNotes: question.notes ?? true };
    this.touched = false;
    this.#fields = fields.map((field, place) => createField(field, place, context));
    // What the client gave before it left the rest to others.
    for (const it of this.#fields) if (kept?.values) it.set(own(kept.values, it.field.name) ?? it.get());
    this.#build(question, this.#isPermission ? subject(question) : this.#fields.map(({ node }) => node));
    if (draft) this.draft = draft;
    if (focused) this.#root.getElementById(focused)?.focus();
    this.#changed(false);
  }

  #build(question, body) {
    const isCommand = this.#isPermission && question.message == question.subject?.command;
    const whole = isCommand ? "Run this command?" : heading(question);
    const [title, rest] = headed(whole);
    const [only, ...others] = question.fields ?? [];
    const about = this.#isPermission ? kind(question) : !others.length && only?.header;
    const chips = [about, question.title != title && question.title].filter(Boolean);
    const harm = `Dangerous: ${this.#isPermission ? "it" : "a wrong answer"} can do harm`;
    const parts = {
      notice: el("div.notice", { tabindex: "-1" }),
      time: el("span.time"),
      later: button("link", "More time", () => this.#send("extend", { milliseconds: MORE_TIME })),
      title: el(`h2.${title.length > 90 ? "long" : ""}`, { id: "title", tabindex: "-1", dir: "auto" }, inline(title)),
      problem: el("div.problem", { tabindex: "-1", hidden: true }),
      actions: el("div.actions"),
      status: el("p.vh", { role: "status" }),
    };
    const head = [
      chips.map((text) => el("bdi.chip", line(text))),
      question.dangerous && el("span.chip.danger", harm),
      el("span.until", parts.time, parts.later),
    ];
    const onsubmit = (event) => {
      event.preventDefault();
      this.submit();
    };
    const form = el("form", { novalidate: true, onsubmit }, body, parts.actions);
    const more = [rest, !isCommand && question.message != whole && question.message].filter(Boolean);
    const { notice, problem, status } = parts;
    const card = [notice, el("div.head", head), parts.title, more.map(prose), problem, form, status];
    this.#root.replaceChildren(el("article", { "aria-labelledby": "title", dir: direction(title) }, card));
    this.#parts = parts;
    this.#offer();
  }

  /** Offers what can be done: to send and to skip, or the options of a permission. */
  #offer() {
    const { question } = this.#record;
    this.#step = null;
    const skip = button("link", this.#isPermission ? "Deny with a reason" : "Skip this question", () => this.skip());
    const canSend = this.#fields.some((it) => it.inputs.length);
    const send = canSend && el("button.primary", line(question.submit || "Send answer"));
    const options = this.#isPermission ? (question.fields?.[0]?.options ?? []) : [];
    const ways = options.map((it, place) => optionButton(it, place, question.dangerous, () => this.#press(it)));
    this.#parts.actions.replaceChildren(...ways, ...(send ? [send] : []), skip);
  }

  /** Takes an option of a permission: at once, or after a step. */
  #press({ role, label, value }) {
    const { dangerous, fields } = this.#record.question;
    const act = () => this.#send("answer", { values: Object.fromEntries([[fields[0].name, value]]), notes: {} });
    const step = decision(role, dangerous);
    if (!step) return act();
    this.#ask({ ...step, about: label, act, dangerous });
  }

  #select(option) {
    for (const other of this.#root.querySelectorAll(".option")) other.toggleAttribute("data-chosen", other == option);
    option?.focus();
    return !!option;
  }

  #answer() {
    const wrong = this.#fields.map((it) => ({ field: it.field.name, message: it.wrong() }));
    this.#fail("", wrong.filter(({ message }) => message));
    if (!this.#parts.problem.hidden) return;
    const act = () => this.#send("answer", entries(this.#fields));
    const { dangerous } = this.#record.question;
    if (!dangerous) return act();
    const title = "A wrong answer can do harm";
    this.#ask({ title, label: "Type yes to send this one", must: "yes", confirm: "Send answer", act, dangerous });
  }

  /** Puts a step in the place of the buttons: what is asked, a text to type, and the way back. */
  #ask({ title, about, label, value = "", must, confirm, act, dangerous }) {
    const opener = this.#root.activeElement?.textContent;
    const typed = { id: "step", value, autocomplete: "off", dir: "auto" };
    const input = label && el(must ? "input.must" : "input.reason", typed);
    const error = el("p.error", { role: "alert" });
    const take = () => {
      if (!must || input.value.trim().toLowerCase() == must) return act(input?.value.trim());
      error.textContent = `Type ${must}, or go back`;
      input.focus();
    };
    const back = () => {
      this.#offer();
      this.#update();
      [...this.#parts.actions.children].find((it) => it.textContent == opener)?.focus();
    };
    // The second click of a double click confirms nothing.
    const onclick = (event) => event.detail > 1 && event.preventDefault();
    const yes = el(dangerous ? "button.danger" : "button.primary", { onclick }, confirm);
    const no = button("back", "Back", back);
    const text = [el("p.label", { id: "asked" }, title), about && el("p", { dir: "auto" }, inline(about))];
    const entry = input && [el("label", { for: "step" }, label), input, error];
    const group = { role: "group", "aria-labelledby": "asked" };
    this.#parts.actions.replaceChildren(el("div.step", group, text, entry, el("div.buttons", yes, no)));
    // What is dangerous, and is not typed, takes the button itself.
    this.#step = { back, take: () => (dangerous && !must && this.#root.activeElement != yes ? no.focus() : take()) };
    this.#update();
    (input || (dangerous ? no : yes)).focus();
  }

  #send(name, more) {
    const isDraft = name == "draft";
    if (!isDraft && (!this.#isOpen || this.#busy)) return;
    const detail = { id: this.#record?.id, ...more };
    const how = { bubbles: true, composed: true, cancelable: !isDraft };
    this.dispatchEvent(new CustomEvent(`askbridge-${name}`, { detail, ...how }));
  }

  #key(event) {
    if (event.key == "Escape" && this.#step) {
      event.preventDefault();
      event.stopPropagation();
      this.#step.back();
    }
    const isSent = event.ctrlKey || event.metaKey || (event.target.matches(".own") && !event.shiftKey);
    if (event.key != "Enter" || event.isComposing || !(isSent || event.repeat)) return;
    // A key that is held down sends nothing: it may be left from the question before.
    event.preventDefault();
    if (!event.repeat) this.submit();
  }

  #entered(target) {
    if (target.matches(".must, .toggle *")) return;
    if (target.matches(".reason")) this.#reason = target.value;
    this.touched = true;
    for (const it of this.#fields) if (it.node.contains(target) && !it.wrong()) it.fail("");
    this.#changed();
  }

  #changed(isSaid = true) {
    const wrong = this.#fields.find((it) => it.wrong());
    this.#internals.setFormValue(JSON.stringify(entries(this.#fields)), JSON.stringify(this.draft));
    const said = wrong && `${wrong.field.label}: ${wrong.wrong()}`;
    this.#internals.setValidity({ customError: !!wrong }, said, wrong?.inputs[0]);
    if (isSaid) this.#send("draft");
  }

  /** Shows what is wrong beside the fields, and above them, where the focus goes. */
  #fail(message, wrong) {
    const { problem } = this.#parts;
    for (const it of this.#fields) it.fail(wrong.find(({ field }) => field == it.field.name)?.message);
    const items = wrong.map(({ field, message }) => {
      const it = this.#fields.find((it) => it.field.name == field);
      const text = `“${short(it?.field.header || it?.field.label || field)}” ${visible(message)}`;
      const onclick = (event) => (event.preventDefault(), it.focus());
      return el("li", it?.inputs.length ? el("a", { href: `#${it.inputs[0].id}`, onclick }, text) : text);
    });
    problem.hidden = !message && !items.length;
    const said = [message && el("p", visible(message)), items.length && el("ul", items)].filter(Boolean);
    problem.replaceChildren(el("h3", "There is a problem"), ...said);
    if (!problem.hidden) problem.focus();
  }

  /** Shows the state: whether it can be answered, whether something is under way, and how it ended. */
  #update() {
    if (!this.#record) return;
    const { notice, actions, status } = this.#parts;
    const isOpen = this.#isOpen;
    const held = this.#root.activeElement;
    const isTyping = held?.id == "step";
    if (!isOpen) this.#end(notice);
    for (const it of this.#fields) it.lock(!isOpen);
    for (const it of this.#root.querySelectorAll(".cards .link")) it.hidden ||= !isOpen;
    notice.hidden = isOpen;
    // A reason that is being typed keeps the focus, as a text does.
    actions.hidden = !isOpen && !isTyping;
    if (isTyping) held.readOnly = !isOpen;
    else if (!isOpen && (held?.disabled || actions.contains(held))) notice.focus();
    // A button that is disabled by the attribute would lose the focus.
    for (const it of actions.querySelectorAll("button")) it.ariaDisabled = this.#busy ? "true" : null;
    const card = this.#root.firstElementChild;
    card.ariaBusy = String(this.#busy);
    card.classList.toggle("over", !isOpen);
    status.textContent = this.#busy ? "Sending" : isOpen ? "" : ended(this.#record);
    this.#tick();
  }

  /** Says how it ended. What the person entered, and is not the answer, stays to copy. */
  #end(notice) {
    const { question, settlement, state } = this.#record;
    const answer = settlement?.outcome?.values ? settlement.outcome : null;
    // What was proposed is not what was answered.
    for (const it of this.touched || state == "delivering" ? [] : this.#fields) {
      it.set(own(answer?.values, it.field.name));
      it.setNote(own(answer?.notes, it.field.name));
    }
    const mine = given(question, entries(this.#fields));
    const isLeft = this.touched && mine && !(answer && mine == given(question, answer));
    // A page without encryption has no clipboard; the fields still show the draft.
    const copied = () => (this.#parts.status.textContent = "Copied");
    const onclick = () => navigator.clipboard.writeText(mine).then(copied);
    const copy = isLeft && navigator.clipboard ? button("copy", "Copy your draft", onclick) : "";
    notice.className = `notice ${settlement?.outcome?.status ?? state}`;
    notice.replaceChildren(el("p", { dir: "auto" }, ended(this.#record)), copy);
  }

  #tick() {
    clearTimeout(this.#timer);
    const { time, later } = this.#parts;
    if (!time) return;
    const { deadline, expiring } = this.#record ?? {};
    const left = Date.parse(deadline) - Date.now() - this.clockOffset;
    const isShown = this.#isOpen && !isNaN(left);
    later.hidden = !isShown;
    time.textContent = isShown ? remaining(left) : "";
    time.classList.toggle("soon", !!expiring || left < 60_000);
    if (isShown && this.isConnected) this.#timer = setTimeout(() => this.#tick(), (left % 1000) + 10);
  }
}

const button = (name, text, onclick) => el(`button.${name}`, { type: "button", onclick }, text);
const equal = (one, other) => JSON.stringify(one) == JSON.stringify(other);
const short = (text) => line(text.length > 60 ? `${text.slice(0, 59)}…` : text);

customElements.define("askbridge-question", AskbridgeQuestion);
