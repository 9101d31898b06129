// <askbridge-question>: one question or permission, from when it opens until it is settled. It sends nothing: what the
// person decides is an event. elements.html describes its properties, methods and events.

import { Alike } from "./alike.js";
import { createArguments } from "./arguments.js";
import { Attachments, brought, NONE, READING } from "./attach.js";
import { Comments } from "./comments.js";
import { button, el, fill, on, stylesheet, tell, upgrade } from "./dom.js";
import { createField, digit, entries, others } from "./field.js";
import { Images } from "./images.js";
import { adopt, isAlone, isMeantFor, isText, takesText } from "./keys.js";
import { Led } from "./led.js";
import { prose } from "./markdown.js";
import { clear, stick } from "./pointer.js";
import { Sight } from "./sight.js";
import { pages, unshown } from "./beyond.js";
import { act, decision, evidence, kind, optionButton, subject } from "./subject.js";
import { direction, headed, inline } from "./text.js";
import { ago, cut, decided, ended, given, heading, isHarmful, isOpen, line, machineOf, nameOf, own, remaining, riskOf, visible } from "./words.js";

const sheets = await stylesheet("tokens.css", "base.css", "question.css");
const MORE_TIME = 600_000;
/** A person needs this long to see that another question stands there, and to stop a click or a key on its way. */
const PAUSE = 1_000;

const EARLY = "Nothing was sent: this has only just appeared. Read it, then try again.";
const HASTY = "Nothing was sent: keys that are typed in one go decide nothing. Press the last one again.";

export class AskbridgeQuestion extends HTMLElement {
  static formAssociated = true;
  #root = this.attachShadow({ mode: "open" });
  #internals = this.attachInternals();
  #record = null;
  #fields = [];
  #comments;
  #parts;
  #reason = "";
  #step;
  #busy = false;
  /** What had the focus when the person sent it. */
  #left = null;
  #failure = null;
  #timer;
  #pause;
  /** Why something that was tried did nothing. */
  #hint = "";
  /** What of the question was in sight. */
  #sight;
  /** Open permissions that are like this one. */
  #alike = [];
  /** The list of all of them, with what of it was in sight, while the person decides them together. */
  #together;
  /** What led to the question. */
  #led;
  #images;
  /** The images that the person adds, where the agent takes any. */
  #attached;
  /** Tells the page how much of its bottom the bar with the buttons covers. */
  #sizes = new ResizeObserver(() => {
    const height = this.#barHeight();
    this.style.setProperty("--_bar", `${-height}px`);
    tell(this, "askbridge-bar", { height });
  });
  /** A person who comes back to the page has not seen what came meanwhile. */
  #look = () => document.hidden || (this.paused && (this.paused = true));
  /** How many comments the buttons know of. */
  #counted = 0;
  /** Whether the person entered something. */
  touched = false;
  /** The clock of the bridge minus that of this page, in milliseconds. */
  clockOffset = 0;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = sheets;
    on(this.#root, "input", ({ target }) => this.#entered(target));
    on(this.#root, "keydown", event => this.#key(event));
    on(this.#root, "read", () => this.#reread());
    for (const type of ["paste", "drop"]) on(this.#root, type, event => this.attach(event));
  }

  connectedCallback() {
    upgrade(this, "record", "draft", "busy", "failure", "context");
    on(document, "visibilitychange", this.#look);
    this.#appear();
    this.#tick();
  }

  disconnectedCallback() {
    document.removeEventListener("visibilitychange", this.#look);
    this.paused = false;
    this.#sight?.stop();
    this.#together?.sight.stop();
    clearTimeout(this.#timer);
  }

  /** The question, as schema/question_record.schema.json has it. */
  get record() {
    return this.#record;
  }

  set record(record) {
    const before = this.#record;
    this.#record = record ?? null;
    if (!record) return fill(this.#root);
    const isSame = before?.id == record.id;
    if (!isSame) this.#led = new Led(() => tell(this, "askbridge-context", { id: record.id }));
    // An answer that could not be delivered opens the question again, as it was proposed.
    const isAgain = !isOpen(before) && isOpen(record) && !this.touched;
    const isNew = !isSame || isAgain || before.turnOver != record.turnOver || !equal(before.question, record.question);
    if (isNew) this.#show(isSame);
    this.#update();
    if (isNew && this.isConnected) this.#appear();
  }

  /** Whether it has just appeared: nothing in it is chosen or decided for a second in which the person can see it. */
  get paused() {
    return !!this.#pause;
  }

  set paused(paused) {
    clearTimeout(this.#pause);
    const end = () => document.hidden || (this.paused = false);
    this.#pause = paused && isOpen(this.#record) ? setTimeout(end, PAUSE) : 0;
    if (!this.paused && this.#hint != NONE) this.#hint = "";
    if (!this.paused && this.#parts) stick(this.#parts.actions);
    this.#update();
  }

  /** What was entered, without secrets, as JSON. */
  get draft() {
    return { ...entries(this.#kept), others: others(this.#kept), reason: this.#reason, comments: this.#comments?.draft ?? [] };
  }

  set draft(draft) {
    if (!draft || !this.#record) return;
    for (const it of this.#kept) it.take(draft);
    this.#reason = draft.reason ?? "";
    this.#comments.draft = draft.comments;
    this.touched = true;
    this.#changed();
  }

  /** Whether what was decided is on its way. */
  get busy() {
    return this.#busy;
  }

  set busy(busy) {
    if (busy) this.#left = this.#root.activeElement;
    this.#busy = !!busy;
    this.#update();
  }

  /** The open permissions that are like this one, as records: the person may decide them together. */
  get alike() {
    return this.#alike;
  }

  set alike(records) {
    this.#alike = records ?? [];
    if (!this.#parts) return;
    // What is on its way is not left out.
    if (this.#together && !this.#busy) {
      this.#together.list.keep([this.#record, ...this.#alike]);
      this.#together.name();
    }
    this.#nameMore();
  }

  /** Why the server refused what was sent: `{message, fields: [{field, message}]}`, or null. */
  get failure() {
    return this.#failure;
  }

  set failure(failure) {
    this.#failure = failure ?? null;
    if (this.#record) this.#fail(failure?.fields ?? [], failure?.message);
  }

  /** What led to the question, by `QuestionContext` in schema/openrpc.json, or why it is not known: `{problem}`. */
  set context(context) {
    if (context) this.#led?.show(context);
  }

  /** Shows the data of an image by its number, or why it is not there: `{problem}`. @param {number} image @param {Uint8Array|Object} data */
  showImage(image, data) {
    this.#images?.show(image, data);
  }

  /** Moves the focus to the first field; of a permission to the heading, so that no key allows it by chance. */
  focusFirst() {
    if (this.#isTooEarly()) return;
    const first = isOpen(this.#record) && this.#asked.find(it => it.inputs.length);
    (first || this.#parts?.title)?.focus();
  }

  /** Goes back to what was there before it was sent, and returns whether something has the focus that had it then. */
  resume() {
    if (this.#step) this.#step.back();
    else this.#left?.focus();
    return !!this.#root.activeElement;
  }

  /** Moves the focus into the text field of a question that has no other field, and returns whether it does. */
  focusText() {
    const [only, ...more] = this.#asked;
    const isText = isOpen(this.#record) && only?.typed && !only.pick && !more.length;
    if (isText) only.typed.focus();
    return !!isText;
  }

  /** Puts a text that was pasted outside of any field at the end of the only text field, if there is just one. @param {string} text */
  paste(text) {
    const [only, ...more] = this.#asked.map(({ typed }) => typed).filter(Boolean);
    if (!this.#canAct || this.#step || !only || more.length) return;
    only.focus();
    only.value += text;
    only.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** Adds the images of a paste or a drop, or says that this agent takes none. Returns whether it brings files. @param {ClipboardEvent|DragEvent} event */
  attach(event) {
    const files = brought(event.clipboardData ?? event.dataTransfer);
    if (!files.length || event.defaultPrevented || !this.#canAct) return false;
    event.preventDefault();
    if (this.#attached) this.#attached.add(files);
    else this.#say(NONE);
    return true;
  }

  /** Sends the answer, or takes what is under way: a step, a chosen option. */
  submit() {
    if (!this.#canAct || this.#isTooEarly()) return;
    this.#hint = "";
    if (this.#step) this.#step.take();
    else if (!this.#isPermission) this.#check();
    // Ctrl+Enter takes the option in focus; in a comment it asks for the rejection, which alone takes comments.
    else if (this.#root.activeElement?.matches(".comment textarea")) this.reject();
    else this.#root.querySelector(".option:focus")?.onclick();
  }

  /** Asks for a reason, and then rejects the question or the permission. */
  reject() {
    if (!this.#canAct || this.#isTooEarly()) return;
    const act = reason => this.#send("reject", { reason: reason || undefined, comments: this.#comments.sent });
    const { count } = this.#comments;
    const title = (this.#isPermission ? "Reject this" : "Reject this question") + (count ? `, with your ${commentsOf(count)}` : "");
    this.#ask({ title, label: "Reason (optional)", value: this.#reason, confirm: "Reject", act, refuses: true });
  }

  /** Lists the permissions that are like this one, with this one, to decide them together. */
  together() {
    if (!this.#canAct || this.#step || this.#together || !this.#alike.length || this.#isTooEarly()) return;
    const list = new Alike([this.#record, ...this.#alike]);
    const { actions } = this.#parts;
    actions.before(list.element);
    this.#together = { list, sight: new Sight(list.parts, actions, () => this.#read()) };
    this.#together.sight.watch();
    this.#offer();
    this.#settleIn();
    list.focus();
  }

  /** Takes the list away. */
  #alone() {
    this.#together?.sight.stop();
    this.#together?.list.element.remove();
    this.#together = null;
  }

  /** Chooses an option by its number, from 1, and returns whether there is one. @param {number} n */
  choose(n) {
    if (!this.#canAct || this.#step || this.#isTooEarly()) return false;
    if (this.#isPermission) {
      const option = this.#root.querySelectorAll(".option")[n - 1];
      option?.focus();
      return !!option;
    }
    const fields = this.#fields.filter(it => it.pick);
    const focused = fields.find(it => it.node.contains(this.#root.activeElement));
    const field = focused ?? fields.find(it => it.get() === undefined) ?? fields[0];
    return field?.pick(n - 1) ?? false;
  }

  /** Opens a comment on what is selected, in focus or pointed at, or on the first lines in sight. Returns whether there is something to comment. */
  comment() {
    return this.#canAct && !this.#isTooEarly() && this.#comments.add();
  }

  /** Asks until when it is set aside, or brings it back. */
  setAside() {
    if (this.#canAct && !this.#isTooEarly()) this.#send("later", this.#record.later ? { milliseconds: 0 } : {});
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

  get #canAct() {
    return isOpen(this.#record) && !this.#busy;
  }

  /** What decides stands elsewhere than under the pointer, and does nothing until it can have been read. */
  #appear() {
    if (!isOpen(this.#record)) return;
    clear(this.#parts.actions);
    this.#images.ask();
    this.#sight?.watch();
    this.paused = true;
  }

  /** A text stands there as it is meant: it has other lines than before, and what decides may have moved. */
  #reread() {
    this.#comments.place();
    this.#sight?.forget();
    this.#appear();
  }

  /** Whether comments reach the agent with an answer, as a note on the first field, and not with a rejection alone. */
  get #takesComments() {
    return !this.#isPermission && (this.#record.question.notes ?? true) && this.#asked.some(it => it.inputs.length);
  }

  /**
   * Returns whether the person cannot have read this yet. What they tried was meant for what stood here before, and so
   * may be what they try next: the pause begins again.
   */
  #isTooEarly() {
    if (!this.paused) return false;
    this.#hint = EARLY;
    this.paused = true;
    return true;
  }

  /** Returns whether a key is one of several that are typed in one go, and says that it did nothing. */
  #isHasty(field) {
    if (isMeantFor(field)) return false;
    this.#say(HASTY);
    return true;
  }

  /** Says why something that was tried did nothing. */
  #say(hint) {
    this.#hint = hint;
    this.#update();
  }

  /** How much of the page the bar with the buttons covers. */
  #barHeight() {
    const { actions } = this.#parts;
    return getComputedStyle(actions).position == "sticky" ? actions.offsetHeight : 0;
  }

  /** The fields whose entries may be kept. */
  get #kept() {
    return this.#fields.filter(({ field }) => !field.secret);
  }

  /** The fields that ask something. Changed arguments are the person's own idea. */
  get #asked() {
    return this.#isPermission ? [] : this.#fields;
  }

  /** The edition that stands here: an answer counts for no other. */
  get #seen() {
    return this.#record.edition ?? 0;
  }

  get #isPermission() {
    return this.#record.question.purpose == "permission";
  }

  /** Builds the card. What was entered is kept where it is the same question, with other texts. */
  #show(isSame) {
    const { question, kept } = this.#record;
    const draft = isSame && this.touched && this.draft;
    const focused = isSame && this.#root.activeElement?.id;
    const fields = question.fields ?? [];
    const isOnly = fields.length == 1;
    const isTitled = isOnly && heading(question) == fields[0].label;
    const context = { isOnly, isTitled, hasNotes: question.notes ?? true };
    this.touched = false;
    if (!isSame) this.#attached = null;
    this.#fields = this.#isPermission ? createArguments(question) : fields.map((field, place) => createField(field, place, context));
    // What the client gave before it left the rest to others.
    for (const it of this.#fields) if (kept?.values) it.set(own(kept.values, it.field.name) ?? it.get());
    this.#build(question);
    if (draft) this.draft = draft;
    if (focused) this.#root.getElementById(focused)?.focus();
    this.#changed(false);
  }

  #build(question) {
    const { message, riskReason, fields: [only, ...others] = [] } = question;
    const risk = riskOf(question);
    const isPermission = this.#isPermission;
    const isCommand = isPermission && question.subject?.command;
    const whole = isCommand ? "Run this command?" : heading(question);
    const [title, rest] = headed(whole);
    const about = isPermission ? kind(question) : !others.length && only?.header;
    const parts = {
      notice: el("div.notice", { tabindex: "-1" }),
      ago: el("span"),
      time: el("span"),
      later: button("link", () => this.#send("extend", { milliseconds: MORE_TIME }), "More time"),
      aside: button("link", () => this.setAside(), "Later"),
      title: el(`h2.${isCommand ? "above" : title.length > 90 ? "long" : ""}`, { id: "title", tabindex: "-1", dir: "auto" }, inline(title)),
      problem: el("div.problem", { tabindex: "-1", hidden: true }),
      actions: el("div.actions"),
      more: button("link", () => this.together()),
      status: el("p.status.vh", { role: "status" }),
    };
    const head = el(
      "div.head",
      [machineOf(this.#record), about, !isCommand && question.title != title && question.title].map(text => text && el("bdi.chip", inline(line(text)))),
      isOpen(this.#record) && this.#record.edition && el("span.chip.danger", "Changed since it was asked"),
      this.#record.turnOver && el("span.chip.danger", "Its turn is over: the agent may not read an answer"),
      isHarmful(risk) && el("span.chip.danger", "Dangerous: ", el("bdi", inline(line(riskReason || "can do harm")))),
      // The kind says it already.
      risk == "acts" && riskReason && !question.riskOfKind && el("bdi.chip", inline(line(riskReason))),
    );
    // What a person may do about its time is read after what is asked, and stands above it at the right.
    const top = el("div.top", head, parts.title, el("span.until", parts.time, parts.later, parts.aside));
    const onsubmit = event => {
      event.preventDefault();
      this.submit();
    };
    this.#images = new Images(question.images ?? [], image => tell(this, "askbridge-image", { id: this.#record.id, image }));
    if (question.takesImages) this.#attached ??= new Attachments(() => this.#entered(this));
    const hint = isOpen(this.#record) && question.subject?.plan && el("p.hint", "To comment on a line, point at it or tap it.");
    const body = [hint, isPermission && subject(question), this.#images.node, pages(question), this.#fields.map(({ node }) => node), this.#attached?.node, unshown(question)];
    const form = el("form", { noValidate: true, onsubmit }, body, parts.actions);
    // What only shows more may be clicked at once. The second click of a double click was meant for the first, and a key
    // of a text for no button.
    const calm = event => {
      const isSecond = event.detail > 1 && parts.actions.contains(event.target);
      const decides = !event.target.closest("summary, .toggle, .fold, .rest, .add, .comment, .image, dialog, a");
      if (isSecond || (decides && (this.#isTooEarly() || (!event.detail && event.target.matches("button") && this.#isHasty())))) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    on(form, "click", calm, true);
    on(parts.notice, "click", calm, true);
    const more = [rest, !isCommand && message != whole && message].map(text => text && prose(text));
    const card = el("article", { "aria-labelledby": "title", dir: direction(title) });
    const led = this.#record.hasContext && this.#led.node;
    fill(card, parts.notice, top, more, led, parts.problem, form, parts.status);
    fill(this.#root, card);
    this.#alone();
    this.#parts = parts;
    this.#comments = new Comments(card, parts.actions, () => this.#entered(card));
    this.#sizes.disconnect();
    this.#sizes.observe(parts.actions);
    this.#sight?.stop();
    const shown = [parts.title, ...more, body].flat(Infinity).filter(Boolean);
    this.#sight = risk != "plain" ? new Sight(shown, parts.actions, () => this.#read()) : null;
    if (this.isConnected) this.#sight?.watch();
    this.#offer();
  }

  /** Offers what can be done: to send and to reject, or the options of a permission. */
  #offer() {
    const { submit, fields } = this.#record.question;
    const risk = riskOf(this.#record.question);
    this.#step = null;
    if (this.#together) return this.#offerTogether();
    const options = (this.#isPermission && fields?.[0]?.options) || [];
    const { count } = this.#comments;
    this.#counted = count;
    const [goes, reaches] = count == 1 ? ["goes", "reaches"] : ["go", "reach"];
    const takes = this.#takesComments ? `${goes} with your answer, and with a rejection` : `${reaches} this agent with a rejection only`;
    fill(
      this.#parts.actions,
      count > 0 && el("p.hint.counted", `Your ${commentsOf(count)} ${takes}.`),
      options.map((it, place) => optionButton(it, place, options, risk, () => this.#press(it), count > 0 && this.#isRejection(it) && `, with your ${commentsOf(count)}`)),
      this.#asked.some(it => it.inputs.length) && el("button.primary", line(submit || "Send answer")),
      button("link", () => this.reject(), count ? `Reject with your ${commentsOf(count)}` : this.#isPermission ? "Reject with a reason" : "Reject this question"),
      this.#parts.more,
    );
    this.#nameMore();
  }

  #nameMore() {
    const { more } = this.#parts;
    more.hidden = !this.#alike.length;
    fill(more, `${this.#alike.length} more like this `, el("kbd", "a"));
  }

  /** Offers to decide all that are listed. */
  #offerTogether() {
    const { list } = this.#together;
    const options = [true, false].map((allows, place) => {
      const text = el("span.what");
      return { text, allows, button: button(`option.${allows ? "primary" : ""}`, () => this.#decideAll(allows), text, digit(place)) };
    });
    const back = () => {
      this.#alone();
      this.#offer();
      this.#update();
      this.#parts.title.focus();
    };
    this.#together.name = () => options.forEach(({ text, allows }) => (text.textContent = `${allows ? "Allow" : "Reject"} all ${list.count}`));
    this.#together.name();
    fill(this.#parts.actions, options.map(it => it.button), button("back", back, "Back"));
  }

  /** Whether an option is the only one that refuses once: it is the same as a rejection, which takes comments. */
  #isRejection(option) {
    const { options } = this.#record.question.fields[0];
    return option.role == "reject_once" && !options.some(it => it != option && it.role == "reject_once");
  }

  #decideAll(allows) {
    const { list, sight } = this.#together;
    const all = `${allows ? "Allow" : "Reject"} all ${list.count}`;
    const take = () => this.#send("together", { allows, decisions: list.decisions(allows) });
    this.#ask({ title: `${all}?`, confirm: all, act: take, refuses: !allows, dangerous: this.#record.question.confirm, sight: allows && sight });
    this.#settleIn();
  }

  /** Takes an option of a permission: at once, or after a step. */
  #press(option) {
    const { question } = this.#record;
    const risk = riskOf(question);
    const isRefused = option.role?.startsWith("reject_");
    if (!isRefused && !this.#areRight()) return;
    const changed = isRefused ? {} : entries(this.#fields).values;
    const { count } = this.#comments;
    if (count && this.#isRejection(option)) return this.#send("reject", { comments: this.#comments.sent });
    const take = () => this.#send("answer", { values: { ...changed, [question.fields[0].name]: option.value }, notes: {}, seen: this.#seen });
    const step = decision(option, risk, act(question)) ?? (count ? { title: ["Choose “", inline(nameOf(option)), "”?"], confirm: "Choose it" } : null);
    if (!step) return take();
    const isOnce = option.role == "allow_once";
    const dangerous = question.confirm || option.dangerous || isHarmful(risk);
    const lost = count > 0 && `Your ${commentsOf(count)} ${count == 1 ? "is" : "are"} not sent with this: only a rejection takes them.`;
    const about = [!isOnce && ["Your choice: ", inline(nameOf(option))], Object.keys(changed).length > 0 && "With the arguments as you changed them.", lost].filter(Boolean).flatMap(it => [it, "\n"]);
    this.#ask({ ...step, about: about.length > 0 && about.slice(0, -1), act: take, dangerous, risk: risk != "plain" && question });
    this.#settleIn();
  }

  /** What a step asks stands elsewhere than under the pointer, and does nothing until it can have been read. */
  #settleIn() {
    const { actions } = this.#parts;
    clear(actions.querySelector(".buttons") ?? actions);
    this.paused = true;
  }

  /** All of what can do harm was in sight: a step that waited for that can be taken. */
  #read() {
    if (!this.#step?.rest) return;
    this.#step.rest.remove();
    this.paused = true;
  }

  /** Returns whether what is entered can be sent, and says what cannot. */
  #areRight() {
    const wrong = this.#fields.map(it => ({ field: it.field.name, message: it.wrong() }));
    this.#fail(wrong.filter(({ message }) => message));
    return this.#parts.problem.hidden;
  }

  #check() {
    if (!this.#areRight()) return;
    if (this.#attached?.reading) return this.#say(READING);
    const answer = entries(this.#fields);
    if (this.#takesComments) answer.comments = this.#comments.sent;
    const isEmpty = !answer.comments && !this.#attached?.images.length && [...Object.values(answer.values), ...Object.values(answer.notes)].every(value => Array.isArray(value) && !value.length);
    if (!isEmpty) return this.#answer(answer);
    this.#ask({ title: "Nothing is chosen or entered. Send it empty?", confirm: "Send it empty", act: () => this.#answer(answer), isEmpty });
    this.#settleIn();
  }

  #answer(answer) {
    const { question } = this.#record;
    const images = this.#attached?.images ?? [];
    if (images.length) answer = { ...answer, images };
    const take = () => this.#send("answer", { ...answer, seen: this.#seen });
    if (!isHarmful(riskOf(question))) return take();
    this.#ask({ title: "A wrong answer can do harm", label: "Type yes to send this one", must: "yes", confirm: "Send answer", act: take, dangerous: true, risk: question });
  }

  /**
   * Puts a step in the place of the buttons: what is asked, a text to type, and the way back. What is more than plain
   * (`risk`), or is decided together (`sight`), was in sight before it is done, and what can do harm is said once more.
   */
  #ask({ title, about, label, value = "", must, confirm, act, dangerous, risk, refuses, isEmpty, sight = risk && this.#sight }) {
    const { actions } = this.#parts;
    const opener = this.#root.activeElement?.textContent;
    const input = label && el("input", { id: "step", value, autocomplete: "off", dir: "auto", "aria-describedby": "step-error" });
    const error = el("p.error", { id: "step-error", role: "alert" });
    if (input && !must) input.oninput = () => ((this.#reason = input.value), (error.textContent = ""));
    const rest = sight && !sight.isWhole && el("p.rest-of-it", el("b", "Read it to its end before you allow it. "), button("link.rest", () => sight.next(), "Show what is left"));
    const take = () => {
      if (rest?.isConnected) return sight.next();
      // What is dangerous, and is not typed, takes the button itself.
      if (dangerous && !must && this.#root.activeElement != yes) return no.focus();
      if (!must || input.value.trim().toLowerCase() == must) return act(input?.value.trim());
      error.textContent = `Type ${must}, or go back`;
      input.focus();
    };
    const back = () => {
      this.#offer();
      this.#update();
      [...actions.children].find(it => it.textContent == opener)?.focus();
    };
    const yes = el(`button.${dangerous ? "danger" : "primary"}`, confirm);
    const no = button("back", back, "Back");
    const group = el("div.step", { role: "group", "aria-labelledby": "asked" });
    const entry = input && [el("label", { for: "step" }, label), input, error];
    const harm = risk && isHarmful(riskOf(risk)) && el("p.harm", ["This can do harm", line(risk.riskReason ?? "")].filter(Boolean).join(": "), ".");
    const proof = harm && evidence(risk);
    const parts = [el("p.label", { id: "asked", dir: "auto" }, title), about && el("p", { dir: "auto" }, about), harm, proof && el("p", el("code", proof)), rest, entry];
    fill(group, parts, el("div.buttons", yes, no));
    fill(actions, group);
    const hurry = refuses && (() => (error.textContent = "Ctrl+Enter rejects it, and so does the button"));
    this.#step = { back, take, must, hurry, error, rest, yes };
    this.#update();
    (input || (dangerous || isEmpty ? no : yes)).focus();
  }

  #send(name, more) {
    if (name == "draft" || (this.#canAct && !this.#isTooEarly())) tell(this, `askbridge-${name}`, { id: this.#record?.id, ...more });
  }

  #key(event) {
    const { key, target } = event;
    if (key == "Escape" && this.#step) {
      event.preventDefault();
      event.stopPropagation();
      this.#step.back();
    } else if (key == "Enter") this.#enter(event);
    else if (isText(event) && target.id == "step" && !isMeantFor(target)) {
      // The rest of a text whose first letter opened the step. A comment takes it: it decides nothing, and stays in sight.
      event.preventDefault();
      this.#step.error.textContent = "Type it after a moment: what came in one go with the key before is no part of it.";
    } else if (isText(event) && key != " " && !this.#parts.problem.hidden && !target.matches("input, textarea, button")) {
      // After a mistake, a letter belongs to the first field that is wrong.
      const field = this.#fields.find(it => it.node.matches(".wrong"))?.typed ?? (this.#fields.length == 1 && this.#fields[0].typed);
      if (!field) return;
      event.stopPropagation();
      field.focus();
      adopt(field);
    }
  }

  /** Enter sends from a line of text, and with Ctrl from anywhere. A key that is held down may be left from the question before. */
  #enter(event) {
    const { target, ctrlKey, metaKey, shiftKey, repeat, isComposing } = event;
    if (isComposing) return;
    const isChord = ctrlKey || metaKey;
    const isSent = isChord || (target.matches("input") && !target.closest(".toggle")) || (target.matches(".own") && !shiftKey);
    if (!isSent && !repeat) return;
    event.preventDefault();
    if (repeat) return;
    if (isChord) this.submit();
    else if (target.id == "step" && this.#step.hurry) this.#step.hurry();
    else if (!this.#isHasty(takesText(target) && target)) this.submit();
  }

  #entered(target) {
    // What is typed to confirm is no draft, and neither is how a change is shown.
    if (target.matches(".toggle *") || (target.id == "step" && this.#step.must)) return;
    this.touched = true;
    // A step was about what stood there before, and the buttons say what becomes of comments.
    if (this.#step ? this.#isPermission && target.id != "step" : this.#comments.count != this.#counted) {
      this.#offer();
      this.#update();
    }
    if (!this.paused) this.#hint = "";
    for (const it of this.#fields) if (it.node.contains(target) && !it.wrong()) it.fail();
    this.#changed();
  }

  #changed(isSaid = true) {
    const wrong = this.#fields.find(it => it.wrong());
    this.#internals.setFormValue(JSON.stringify(entries(this.#fields)), JSON.stringify(this.draft));
    const said = wrong && `${wrong.field.label}: ${wrong.wrong()}`;
    this.#internals.setValidity({ customError: !!wrong }, said, wrong?.inputs[0]);
    if (isSaid) this.#send("draft");
  }

  /** Shows what is wrong beside the fields, and above them, where the focus goes. */
  #fail(wrong, message) {
    const { problem } = this.#parts;
    for (const it of this.#fields) it.fail(wrong.find(({ field }) => field == it.field.name)?.message);
    const items = wrong.map(({ field, message }) => {
      const it = this.#fields.find(it => it.field.name == field);
      const name = it?.field.header || it?.field.label || field;
      const text = `“${cut(line(name), 60)}” ${visible(message)}`;
      const onclick = event => (event.preventDefault(), it.focus());
      return el("li", it?.inputs[0] ? el("a", { href: `#${it.inputs[0].id}`, onclick }, text) : text);
    });
    problem.hidden = !message && !items.length;
    fill(problem, el("h3", "There is a problem"), message && el("p", visible(message)), items.length > 0 && el("ul", items));
    if (!problem.hidden) problem.focus();
  }

  /** Shows the state: whether it can be answered, whether something is under way, and how it ended. */
  #update() {
    if (!this.#record) return;
    const { notice, actions, status } = this.#parts;
    const isOver = !isOpen(this.#record);
    const held = this.#root.activeElement;
    const isTyping = held?.id == "step";
    const isIn = notice.contains(held);
    if (isOver) {
      this.#alone();
      this.#end(notice);
    } else if (!isIn) this.#recall(notice);
    // A text keeps the focus, so that what is still being typed is no command of the page.
    for (const it of this.#root.querySelectorAll("textarea, input:not(.toggle *)")) {
      const isChoice = /radio|checkbox/.test(it.type);
      it[isChoice ? "disabled" : "readOnly"] = isOver;
    }
    notice.hidden = !notice.firstChild;
    actions.hidden = isOver && !isTyping;
    if (isOver && !isTyping && (isIn || held?.disabled || actions.contains(held))) notice.focus();
    // A button that is disabled by the attribute would lose the focus.
    for (const it of this.#root.querySelectorAll(".actions button, .notice button, .until button")) {
      it.ariaDisabled = this.#busy || this.paused || (it == this.#step?.yes && this.#step.rest?.isConnected) || null;
    }
    const card = this.#root.firstElementChild;
    card.ariaBusy = this.#busy;
    card.classList.toggle("over", isOver);
    status.classList.toggle("vh", !this.#hint);
    status.textContent = this.#busy ? "Sending" : isOver ? ended(this.#record) : this.#hint;
    this.#tick();
  }

  /** Says how the same question ended before. What was answered then is given once more if the person wants. */
  #recall(notice) {
    const { question, earlier } = this.#record;
    if (!earlier) return fill(notice);
    const { values, notes } = earlier.outcome;
    const give = () => this.#canAct && this.#answer({ values, notes });
    const canGive = values && !this.#isPermission;
    fill(notice, el("p", `Asked before. ${decided(question, earlier)}, `, this.#parts.ago), canGive && button("", give, "Give this answer again"));
  }

  /** Says how it ended. What the person entered, and is not the answer, stays to copy. */
  #end(notice) {
    const { question, settlement, state, mayHaveArrived, accepted = settlement } = this.#record;
    const answer = accepted?.outcome?.values && accepted.outcome;
    // What was proposed is not what was answered.
    for (const it of this.touched || state == "delivering" ? [] : this.#fields) {
      it.take(answer);
    }
    const mine = this.touched && given(question, entries(this.#fields));
    const isLeft = mine && !(answer && mine == given(question, answer));
    // A page without encryption has no clipboard; the fields still show the draft.
    const copy = () => navigator.clipboard.writeText(mine).then(() => (this.#parts.status.textContent = "Copied"));
    notice.className = `notice ${settlement?.outcome?.status}`;
    const isGiven = accepted != settlement && !mayHaveArrived && !question.dangerous && !this.#isPermission;
    const way = state == "lost" && el("p", "Asked ", this.#parts.ago, `. To continue, resume the session of this agent: it asks again${isGiven ? " and gets this answer, which never reached it" : ""}.`);
    fill(notice, el("p", { dir: "auto" }, ended(this.#record)), way, isLeft && navigator.clipboard && button("", copy, "Copy your draft"));
  }

  #tick() {
    clearTimeout(this.#timer);
    if (!this.#record) return;
    const { time, later, aside, ago: since } = this.#parts;
    const { deadline, expiring, earlier, openedAt, later: back } = this.#record;
    aside.hidden = !isOpen(this.#record);
    aside.textContent = back ? "Bring it back" : "Later";
    const now = Date.now() + this.clockOffset;
    const left = Date.parse(deadline) - now;
    const isShown = isOpen(this.#record) && !isNaN(left);
    later.hidden = !isShown;
    time.textContent = isShown ? remaining(left) : "";
    time.classList.toggle("soon", !!expiring || left < 60_000);
    since.textContent = ago(now - Date.parse(isOpen(this.#record) ? earlier?.at : openedAt));
    if ((isShown || since.isConnected) && this.isConnected) this.#timer = setTimeout(() => this.#tick(), (left % 1000 || 1000) + 10);
  }
}

const commentsOf = count => (count == 1 ? "comment" : `${count} comments`);

const equal = (one, other) => JSON.stringify(one) == JSON.stringify(other);

customElements.define("askbridge-question", AskbridgeQuestion);
