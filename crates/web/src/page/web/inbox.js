// <askbridge-inbox>: the list of the questions, and the one that the person looks at. elements.html describes its
// attribute, properties, slots and events.

import { Alerts } from "./alerts.js";
import { Connection, PATIENCE } from "./connection.js";
import { button, el, fill, on, stylesheet, tell, upgrade } from "./dom.js";
import { drafts, keep, keepDraft, recall } from "./drafts.js";
import { action, takesText } from "./keys.js";
import { LaterDialog } from "./later.js";
import { readBy } from "./markdown.js";
import { Outbox } from "./outbox.js";
import "./question.js";
import { Overview, Past } from "./past.js";
import { RuleDialog } from "./rule.js";
import { agentOf, arrange, facets, from, isSelected, keyed, onMachine, parsed, projectName, Row, searched, title, write } from "./rows.js";
import { Store } from "./store.js";
import { doing, done, ended, gaps, isOpen, line, longest, machineOf, visible } from "./words.js";

const SHEETS = await stylesheet("tokens.css", "base.css", "inbox.css");

/** A question that another responder settled is put away after this, unless the person is at it. */
const FOLD = 30_000;
/** After a restart of the server, bridges are back within this. */
const RETURN = 2_000;
/** The longest that a browser can time. */
const FOR_EVER = 2 ** 31 - 1;

const CHANGED = "It changed while you looked at it, and nothing was sent. Read what it asks now; what you entered is kept.";

/** How many calls are on their way at once, of those for what is decided together: as many as a bridge takes from one connection, with room for others. */
const AT_ONCE = 8;

/** Pixels around what has the focus, as for its ring. */
const BESIDE = 12;

export class AskbridgeInbox extends HTMLElement {
  /** The id of the question that is shown, or null. */
  current = null;
  /** Notifications and sounds, which the page switches on and off. */
  alerts = new Alerts({ from: record => from(record, this.#bridges.get(record.bridge)?.status), show: id => this.show(id), say: text => this.#say(text) });
  #given;
  #connection;
  #store = new Store();
  #past = new Past((...call) => this.#connection.call(...call), this.#store);
  #overview = new Overview();
  #rule = new RuleDialog((...call) => this.#connection.call(...call));
  #until = new LaterDialog((id, milliseconds) => this.#setAside(id, milliseconds));
  /** Which questions end soon, as they were listed last. */
  #soon;
  /** Which open permissions the server found like the shown one, and among which it looked. */
  #alike = {};
  #parts;
  #bridges = new Map();
  #rows = new Map();
  #groups = new Map();
  /** The shown question, and those that hold what is nowhere else: a secret, an answer on its way. */
  #cards = new Map();
  #count = -1;
  #machines = [];
  #fleet;
  /** What is said while no question is listed: nothing before it is known. */
  #nothing = "";
  #outbox = new Outbox({ undo: () => this.#undo(), show: id => this.#select(id, "main"), say: text => this.#say(text) });
  /** What the page was opened for, which may come later. */
  #wanted;
  #timers = {};
  #end;

  get connection() {
    return this.#connection;
  }

  set connection(connection) {
    this.#given = this.#connection = connection;
    if (this.#end) this.#connect();
  }

  get search() {
    return this.#past.search;
  }

  set search(search) {
    if (search == this.search) return;
    this.#past.search = search;
    if (!this.#parts) return;
    if (this.#parts.search.value != search) this.#parts.search.value = search;
    this.#tell("search", { search });
    this.#render();
    this.#selectFound();
    // The journal is asked once the person has paused.
    this.#later("past", 250, async () => {
      await this.#past.load();
      this.#selectFound();
    });
  }

  connectedCallback() {
    this.#store.now = ({ bridge }) => Date.now() + (this.#bridges.get(bridge)?.clock ?? 0);
    if (!this.#parts) this.#build();
    upgrade(this, "connection");
    this.#connect();
  }

  disconnectedCallback() {
    this.#end.abort();
    this.#end = null;
  }

  /** Shows a question, now or when it comes; null shows the list. */
  show(id) {
    this.#wanted = id;
    if (id) this.#render();
    else if (this.current) this.#select(null);
  }

  #build() {
    const parts = {
      waiting: el("span.count"),
      groups: el("div"),
      newer: el("p.newer"),
      aside: el("ul"),
      asides: el("span.count"),
      lost: el("ul"),
      gone: el("span.count"),
      settled: el("ul"),
      context: el("p.context", { dir: "auto" }),
      stage: el("div.stage"),
      sent: this.#outbox.element,
      live: el("p.vh", { role: "status" }),
    };
    // What was lost can be put away, and stays so.
    parts.put = el("details", { open: recall("lost") ?? true, ontoggle: () => keep("lost", parts.put.open) }, el("summary", el("h2", "Lost"), " ", parts.gone), parts.lost);
    // What is set aside is folded.
    parts.later = el("details", el("summary", el("h2", "Later"), " ", parts.asides), parts.aside);
    parts.known = el("datalist", { id: "known" });
    const oninput = ({ target }) => (this.search = target.value);
    parts.search = el("input.search", { type: "search", placeholder: matchMedia("(hover: none)").matches ? "Search" : "Search (/)", ariaLabel: "Search questions by text, or by project:, agent:, kind: or risk:", value: this.search, oninput });
    parts.search.setAttribute("list", "known");
    parts.none = el("p.none");
    parts.past = el("section.past", { hidden: true }, el("h2", "History"), parts.settled, this.#past.missing, this.#past.more);
    parts.list = el("section.list", { ariaLabel: "Questions" }, parts.search, parts.known, el("h2", "Waiting ", parts.waiting), parts.newer, parts.groups, parts.none, el("section.past", { hidden: true }, parts.later), el("section.past", { hidden: true }, parts.put), parts.past);
    parts.back = button("quiet.back", () => this.#leave(), "All questions");
    parts.main = el("section.main", { tabindex: "-1" }, parts.back, parts.context, parts.stage);
    const retry = button("", () => this.#connection.check?.(), "Try now");
    parts.notice = el("p.notice", { hidden: true }, "Offline. What you type is kept; the page connects by itself.", retry);
    const slot = name => el("slot", { name });
    const panes = el("div.panes", parts.list, parts.main);
    const header = el("header", slot("heading"), slot("tools"));
    parts.shell = el("div.shell", { "data-view": "list" }, header, parts.notice, el("div.sign-in", slot("sign-in")), panes, parts.live);
    const ways = [el("button.primary", { value: "keep" }, "Keep it as a draft"), el("button", { value: "discard" }, "Discard")];
    const choice = el("form", { method: "dialog" }, el("h2", "Discard what you typed?"), el("div.buttons", ways));
    parts.confirm = el("dialog", { ariaLabel: "Discard what you typed?" }, choice);
    // When it has closed, the browser has given the focus back.
    parts.confirm.onclose = () => parts.confirm.returnValue && this.#leave(parts.confirm.returnValue);
    this.#parts = parts;
    // What sticks at the top and at the bottom covers no part of the page that has the focus.
    const sticks = () => parseFloat(getComputedStyle(parts.main).paddingTop) + parts.sent.offsetHeight;
    new ResizeObserver(() => (parts.main.style.scrollPaddingTop = `${sticks() + BESIDE}px`)).observe(parts.sent);
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = SHEETS;
    root.append(parts.shell, parts.confirm, this.#rule.element, this.#until.element);
    const { main } = parts;
    on(main, "askbridge-answer", ({ detail: { id, seen, comments, ...answer } }) => this.#settle("question_answer", { id, answer, seen, comments }));
    on(main, "askbridge-reject", ({ detail }) => this.#settle("question_reject", detail));
    on(main, "askbridge-together", ({ detail }) => this.#settleAll(detail));
    on(main, "askbridge-extend", ({ detail }) => this.#extend(detail));
    on(main, "askbridge-later", ({ detail: { id, milliseconds } }) => (milliseconds == null ? this.#until.show(id) : this.#setAside(id, milliseconds)));
    on(main, "askbridge-context", ({ target: card, detail }) => this.#lead(card, detail));
    on(main, "askbridge-image", ({ target: card, detail }) => this.#image(card, detail));
    on(main, "askbridge-draft", ({ target: card }) => {
      keepDraft(card.record.id, card.touched && card.draft);
      this.#later("render", 200, () => this.#render());
    });
    on(main, "askbridge-bar", ({ detail: { height } }) => (main.style.scrollPaddingBottom = `${height + BESIDE}px`));
    on(this.#store, "change", () => this.#later("render", 0, () => this.#render()));
    on(this.#store, "arrival", ({ detail }) => this.alerts.arrived(detail));
    on(this.#store, "gap", ({ detail }) => detail[0] && setTimeout(() => this.#greet(detail), RETURN));
  }

  #connect() {
    this.#end?.abort();
    this.#end = new AbortController();
    const { signal } = this.#end;
    const server = this.getAttribute("src") ?? new URL(import.meta.url).origin;
    this.#connection = this.#given ?? new Connection(server, signal);
    readBy(texts => this.#connection.call("markdown_read", { texts }));
    on(this.#connection, "delta", ({ detail }) => this.#take(detail), { signal });
    on(this.#connection, "state", () => this.#turn(), { signal });
    on(document, "keydown", event => this.#key(event), { signal });
    on(document, "paste", event => this.#paste(event), { signal });
    // A file that is dropped anywhere would replace the page.
    on(document, "dragover", event => event.dataTransfer.types.includes("Files") && event.preventDefault(), { signal });
    on(document, "drop", event => this.#drop(event), { signal });
    // With room beside the list, other things are shown there.
    on(window, "resize", () => this.#later("render", 200, () => this.#render()), { signal });
    const clock = setInterval(() => document.hidden || this.#tick(), 1000);
    on(signal, "abort", () => clearInterval(clock));
    this.#turn();
  }

  /** Brings the times up to date, and the order once another question ends soon. */
  #tick() {
    this.#rows.forEach(row => row.tick());
    this.#groups.forEach(group => group.tick?.());
    const soon = this.#store.soon().map(({ id }) => id).join();
    if (soon != this.#soon) this.#render();
  }

  /** Runs the first of a name that comes, after a while; the others until then are the same. */
  #later(name, wait, run) {
    this.#timers[name] ??= setTimeout(() => {
      delete this.#timers[name];
      run();
    }, wait);
  }

  /* The connection */

  #turn() {
    const { shell, notice } = this.#parts;
    shell.dataset.state = this.#connection.state;
    if (this.#connection.state == "online") {
      this.#greet();
      this.#follow();
    } else this.#store.reset();
    if (this.#connection.state == "offline") this.#nothing = "Not connected: what waits is not known.";
    // A moment without a connection is no news.
    this.#later("notice", 1000, () => {
      const { state } = this.#connection;
      if (notice.hidden == (state == "offline")) this.#say({ offline: "Offline.", online: "Connected." }[state] ?? "");
      notice.hidden = state != "offline";
    });
    this.#render();
  }

  /** Asks for what ended, and for what became of questions that are missing from a snapshot. */
  async #greet(missing = []) {
    this.#ask();
    this.#past.load();
    const store = this.#store;
    const call = (method, id) => this.#connection.call(`question_${method}`, { id, limit: 50 });
    // A server of an earlier version does not know what was lost.
    const [settled, lost] = ["settled", "lost"].map(method => call(method).catch(() => ({})));
    const { questions } = await settled;
    if (!questions) return;
    store.put(questions);
    for (const it of missing.filter(it => store.records.get(it.id) == it)) {
      const lose = ({ code }) => code != "offline" && store.put([{ ...it, state: "lost" }]);
      call("get", it.id).then(found => store.put([found]), lose);
    }
    store.lose((await lost).questions ?? []);
  }

  #take(delta) {
    this.#store.apply(delta);
    // What was lost may be known better, or was asked again.
    if (this.#store.all(({ state }) => state == "lost")[0]) this.#later("greet", RETURN, () => this.#greet());
  }

  /** Asks the bridges for their agents, and what the time is by their clocks. */
  async #ask() {
    const statuses = await this.#connection.call("bridge_status").catch(() => []);
    // Without a connection, nothing new is known.
    if (this.#connection.state != "online") return;
    let unreadable = 0;
    this.#overview.update(statuses);
    for (const status of statuses) {
      const clock = status.uptimeMs == null ? 0 : Date.parse(status.startedAt) + status.uptimeMs - Date.now();
      this.#bridges.set(status.bridge, { status, clock });
      unreadable += status.unreadable ?? 0;
    }
    const why = gaps(this.#machines, this.#fleet);
    this.#nothing = why[0] ? "Nothing waits in the inboxes that replied." : "Nothing waits.";
    if (unreadable) why.push(`${unreadable} more can be read only by a newer askbridge.`);
    write(this.#parts.newer, why.join("\n"));
    this.#render();
  }

  /** Learns how other machines are connected, each time that this changes. */
  async #follow(known) {
    const { revision, machines, fleet } = await this.#connection.call("machine_list", { known }, FOR_EVER).catch(() => ({}));
    if (!machines) return;
    this.#machines = machines;
    this.#fleet = fleet;
    this.#ask();
    this.#follow(revision);
  }

  /* The list */

  #render() {
    const { groups, lost, settled, waiting, none, shell } = this.#parts;
    const { records } = this.#store;
    const open = this.#store.waiting().length;
    this.#recall();
    let shown = this.#wanted;
    if (this.#count != open && this.#connection.state == "online") {
      this.#tell("count", { waiting: open });
      // What is there first, and what comes while nothing waits, is shown where there is room beside the list.
      if (this.#count < 1 && !this.current && this.#isWide() && !records.has(shown)) shown = this.#order()[0];
      this.#count = shell.dataset.count = open;
    }
    this.#soon = this.#store.soon().map(({ id }) => id).join();
    const drafted = drafts();
    const rows = records => records.map(record => this.#row(record, drafted));
    const isFound = this.#isFound();
    // First, so that a row that goes there moves, and keeps the focus.
    for (const list of [lost, settled]) {
      arrange(list, rows(this.#store.ended(list == lost, isFound)));
      list.closest("section").hidden = !list.firstChild && !(list == settled && this.#past.missing.textContent);
    }
    write(this.#parts.gone, lost.childElementCount);
    const { aside, asides, later } = this.#parts;
    arrange(aside, rows(this.#store.aside(isFound)));
    write(asides, aside.childElementCount);
    later.parentNode.hidden = !aside.firstChild;
    let found = 0;
    const sections = [...this.#store.groups(isFound)].map(([key, records]) => {
      const group = this.#group(key, records[0]);
      arrange(group.lastChild, rows(records));
      // What was settled keeps its place for a while, and waits no more.
      const waiting = records.filter(isOpen);
      found += waiting.length;
      const since = Math.min(...waiting.map(({ id }) => this.#rows.get(id).since));
      const { clock } = this.#rows.get(records[0].id);
      group.tick = () => write(group.waits, longest(waiting.length, Date.now() + clock - since));
      group.tick();
      return group;
    });
    arrange(groups, sections);
    write(waiting, this.search && open ? `${found} of ${open} found` : open || "");
    const isMissed = !!this.search && !sections.length;
    none.classList.toggle("missed", isMissed);
    write(none, isMissed ? "No question that waits has these words." : open ? "" : this.#nothing);
    this.#suggest();
    for (const id of this.#rows.keys()) if (!records.has(id)) this.#rows.delete(id);
    if (!records.has(shown)) return this.#refresh();
    if (shown == this.#wanted) this.#wanted = null;
    this.#select(shown);
  }

  #group(key, record) {
    if (!this.#groups.has(key)) {
      const { project = "" } = record.question;
      const id = `project-${this.#groups.size}`;
      const waits = el("span.waits");
      const heading = el("h3", { id, title: visible(project) }, el("bdi", machineOf(record) && `${machineOf(record)}: `, projectName(project)), waits);
      const group = el("section", { "aria-labelledby": id }, heading, el("ul"));
      this.#groups.set(key, Object.assign(group, { waits }));
    }
    return this.#groups.get(key);
  }

  /** Returns whether the search finds a record: it is selected, and has each word. The server has looked for these in the past. */
  #isFound() {
    const { words, only } = parsed(this.search);
    const has = (record, status) => record.isPast || words.every(word => searched(record, status).includes(word.toLowerCase()));
    return record => {
      const { status } = this.#bridges.get(record.bridge) ?? {};
      return isSelected(record, agentOf(record, status), only) && (!words.length || has(record, status));
    };
  }

  /** Shows the first question that the search finds, where it does not find the shown one and the person is not at it. */
  #selectFound() {
    const { touched, busy, failure } = this.#card ?? {};
    if (!this.search || !this.#isWide() || touched || busy || failure) return;
    const found = this.#order();
    const isShown = found.includes(this.current) || (!found.length && !this.current);
    if (!isShown) this.#select(found[0] ?? null);
  }

  /** Offers the machines of what waits, and its projects, agents, kinds and risks, as words to search for. */
  #suggest() {
    const words = this.#store.open().flatMap(record => {
      const known = Object.entries(facets(record, agentOf(record, this.#bridges.get(record.bridge)?.status)));
      return [machineOf(record), ...known.flatMap(([name, values]) => values.map(value => `${name}:${keyed(value)}`))];
    });
    const options = [...new Set(words.filter(Boolean))].sort();
    if (this.#parts.known.dataset.of == options.join()) return;
    this.#parts.known.dataset.of = options.join();
    fill(this.#parts.known, options.map(value => el("option", { value })));
  }

  #row(record, drafted) {
    const { id, bridge } = record;
    const pick = () => this.#select(id, this.current == id ? "fields" : "text");
    if (!this.#rows.has(id)) this.#rows.set(id, new Row(pick));
    if (!isOpen(record)) this.alerts.ended(id);
    else if (!this.#bridges.has(bridge)) {
      this.#bridges.set(bridge, {});
      this.#later("ask", 0, () => this.#ask());
    }
    const row = this.#rows.get(id);
    const mark = this.#cards.get(id)?.failure?.mark ?? (this.#outbox.has(id) ? "Sending" : drafted.has(id) && "Draft");
    row.update(record, this.#bridges.get(bridge), mark);
    return row.element;
  }

  /** Returns the ids in the order of the rows. */
  #order() {
    const isFound = this.#isFound();
    const lost = this.#parts.put.open ? this.#store.ended(true, isFound) : [];
    const aside = this.#parts.later.open ? this.#store.aside(isFound) : [];
    return [...this.#store.groups(isFound).values(), aside, lost, this.#store.ended(false, isFound)].flat().map(({ id }) => id);
  }

  /* The question */

  get #card() {
    return this.#cards.get(this.current);
  }

  /** Returns whether list and question are side by side. */
  #isWide() {
    return this.#parts.list.checkVisibility() && this.#parts.main.checkVisibility();
  }

  /**
   * `focus` is "main", "fields" or "row", "text" of what the person opens, whose only text field then has the focus, or
   * "next" after an answer, "again" after that was taken back; there is none where nobody chose.
   */
  #select(id, focus) {
    const { shell, main } = this.#parts;
    const { touched, busy, failure } = this.#card ?? {};
    if (this.current != id) {
      if (!touched && !busy && !failure) this.#cards.delete(this.current);
      main.scrollTop = 0;
      if (focus && focus != "next") this.#outbox.leave();
    }
    if (focus) this.#wanted = null;
    this.current = id;
    shell.dataset.view = id ? "item" : "list";
    this.#place();
    this.#refresh();
    // What the person opens from the list beside it needs no pause. On a phone, it takes the place of what they tapped.
    if (this.#card && focus && !/next|again/.test(focus) && this.#isWide()) this.#card.paused = false;
    this.#tell("select", { id });
    const { button } = this.#rows.get(id) ?? {};
    // The page around the inbox stays where it is.
    button?.scrollIntoView({ block: "nearest", container: "nearest" });
    // Where there is no keyboard, one that comes up by itself is in the way.
    const isText = /text|next/.test(focus) && !matchMedia("(pointer: coarse)").matches && this.#card?.focusText();
    if (isText || (focus == "again" && this.#card?.resume())) return;
    if (focus == "row" || (focus == "text" && this.#isWide())) button.focus();
    else if (focus == "fields") this.#card.focusFirst();
    else if (focus) main.focus({ preventScroll: true });
  }

  /** Puts what was sent above the question, or above the list where that stands alone. */
  #place() {
    const { list, back, sent } = this.#parts;
    // What is moved loses the focus.
    if (!(this.current || this.#isWide())) list.firstChild == sent || list.prepend(sent);
    else if (back.nextSibling != sent) back.after(sent);
  }

  /** Says what there is while no question is shown: beside the list, or below it where that stands alone. */
  #rest(said) {
    const { stage, none } = this.#parts;
    const { element } = this.#overview;
    const isNew = !element.isConnected;
    element.firstChild.textContent = said;
    if (this.#isWide()) stage.firstChild == element || fill(stage, element);
    else if (this.#store.open().length) element.remove();
    else none.after(element);
    if (isNew && this.#connection.state == "online") this.#overview.count((...call) => this.#connection.call(...call));
  }

  /** Brings the shown question up to date. */
  #refresh() {
    const { main, stage, context, list } = this.#parts;
    const record = this.#store.records.get(this.current);
    for (const other of list.querySelectorAll("[tabindex='0']")) {
      other.tabIndex = -1;
      other.ariaCurrent = null;
    }
    // A search may leave out the row of what is shown.
    const row = this.#rows.get(this.current)?.button;
    const reached = row?.isConnected ? row : list.querySelector(".row");
    if (reached) reached.tabIndex = 0;
    if (row) row.ariaCurrent = "true";
    main.classList.toggle("rests", !record);
    if (!record) {
      main.ariaLabel = this.#store.open().length ? "Choose a question." : this.#nothing;
      return this.#rest(main.ariaLabel);
    }
    main.ariaLabel = title(record);
    const { diffs = [], patch } = record.question.subject ?? {};
    main.classList.toggle("wide", !!(diffs.length || patch));
    const { status, clock = 0 } = this.#bridges.get(record.bridge) ?? {};
    const { project, sessionId, origin } = record.question;
    // One session of a project needs no name.
    const isOther = ({ question: it }) => it.project == project && it.sessionId != null && it.sessionId != sessionId;
    const hasOthers = this.#store.open().some(isOther);
    const isolated = text => `\u2068${visible(text)}\u2069`;
    // A program does not work in the folder of the inbox that it asks.
    const folder = project ?? (origin == "program" ? "" : (status?.folder ?? "an unknown folder"));
    write(context, `${agentOf(record, status)}${folder && ` in ${isolated(folder)}`}${onMachine(record)}${sessionId && hasOthers ? ` · session ${isolated(sessionId)}` : ""}`);
    const card = this.#card ?? el("askbridge-question");
    card.clockOffset = clock;
    if (card.record != record) card.record = record;
    if (!this.#card) {
      this.#cards.set(record.id, card);
      card.draft = drafts().get(record.id);
    }
    if (stage.firstChild != card) fill(stage, card);
    this.#findAlike(record);
    if (isOpen(record)) return;
    if (card.failure) card.failure = null;
    this.#later(`fold-${record.id}`, FOLD, () => {
      const isWatched = card.touched || main.matches(":focus-within");
      if (this.#card == card && !isWatched && this.#isWide()) this.#select(null);
    });
  }

  /** Asks the server which open permissions are like the shown one, if any could be. */
  #findAlike({ id, question }) {
    const of = JSON.stringify([id, this.#store.alike(id).map(record => [record.id, record.edition])]);
    const card = this.#card;
    // Until the server has looked again, those that were found before stay: they may be listed.
    const { ids } = this.#alike.id == id ? this.#alike : { ids: card.alike.map(({ id }) => id) };
    card.alike = ids.map(id => this.#store.records.get(id)).filter(isOpen);
    if (this.#alike.of == of || question.purpose != "permission") return;
    this.#alike = { id, of, ids };
    if (!this.#store.alike(id).length) return (card.alike = this.#alike.ids = []);
    this.#later("alike", 200, async () => {
      const asked = this.#alike;
      // A server of an earlier version does not know it.
      const found = await this.#connection.call("question_like", { id: asked.id }).catch(() => ({}));
      if (this.#alike != asked) return;
      asked.ids = found.ids ?? [];
      this.#refresh();
    });
  }

  /* What the person does */

  /** Returns whether the person is at something else than the questions. */
  #isElsewhere() {
    return this.#connection.state == "signed-out" || this.#parts.confirm.open || this.#rule.element.open || this.#until.element.open || !!document.querySelector(":modal");
  }

  #key(event) {
    const { list } = this.#parts;
    const name = !this.#isElsewhere() && action(event, this);
    if (!name) return;
    event.preventDefault();
    const focus = list.matches(":focus-within") ? "row" : "main";
    if (name == "next") this.#step(1, focus);
    else if (name == "previous") this.#step(-1, focus);
    else if (name == "first" || name == "last") this.#step(name == "first" ? -Infinity : Infinity, focus);
    else if (name == "search") this.#find();
    else if (name == "help") this.#tell("help", { isByKey: true });
    else if (name == "leave") this.#leave();
    else if (name == "found") this.#openFirst();
    else if (name == "rule") this.#makeRule();
    else if (name == "undo") this.#undo();
    else if (name == "later") this.#card?.setAside();
    else this.#card?.[name](Number(event.key));
  }

  /** Opens the first question that the search found. */
  #openFirst() {
    const [first] = this.#order();
    if (first) this.#select(first, "row");
  }

  /** A text that is pasted where no text is typed is for the question. */
  #paste(event) {
    const [target, ...around] = event.composedPath();
    const isOurs = around.includes(this) || target == document.body;
    if (!isOurs || event.defaultPrevented || takesText(target) || this.#isElsewhere() || !this.#card) return;
    if (!this.#card.attach(event)) this.#card.paste(event.clipboardData.getData("text/plain"));
  }

  #drop(event) {
    if (!this.#isElsewhere()) this.#card?.attach(event);
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  }

  #step(by, focus) {
    const all = this.#order();
    const waiting = all.filter(id => isOpen(this.#store.records.get(id)) && !this.#store.records.get(id).later);
    // The last question is the last one that waits, not the oldest of the past.
    const order = Math.abs(by) == Infinity && waiting[0] ? waiting : all;
    const at = order.indexOf(this.current);
    const id = at < 0 ? order.at(by == Infinity ? -1 : 0) : order[Math.min(Math.max(at + by, 0), order.length - 1)];
    if (id) this.#select(id, focus);
  }

  /** Goes to the search, which is above the list. */
  #find() {
    if (!this.#isWide()) this.#select(null);
    this.#parts.search.focus();
    this.#parts.search.select();
  }

  /** Leaves the question, or the search. Of what was typed, the person says in a dialog what becomes of it: "keep" or "discard". */
  #leave(choice) {
    const { confirm, search } = this.#parts;
    if (search.matches(":focus")) {
      this.search = "";
      return (this.#rows.get(this.current)?.button ?? this.#parts.list.querySelector(".row"))?.focus();
    }
    const [card, row] = [this.#card, this.#rows.get(this.current)];
    if (choice == "discard") {
      keepDraft(this.current, null);
      card?.discard();
    } else if (!choice && card?.touched && isOpen(card.record) && card.matches(":focus-within")) {
      confirm.returnValue = "";
      return confirm.showModal();
    }
    if (!this.#isWide()) this.#select(null);
    row?.button.focus();
    this.#render();
  }

  /** Sends what ends a question, and goes on to the next one that waits. */
  async #settle(method, params) {
    const { id } = params;
    let isOn = false;
    const record = await this.#send(id, async () => {
      const time = await this.#defer(params);
      if (!time) return this.#connection.call(method, params);
      isOn = true;
      const isMoved = this.#outbox.begin(id, this.#sentence(doing(this.#store.records.get(id), params), id), time);
      this.#goOn(id, this.#next(id), isMoved);
      return this.#connection.call("question_deferred", { id }, time + PATIENCE);
    });
    // The server says so where it was taken back.
    if (record === null) return this.#reopen(id);
    if (!record) return isOn && this.#fail(id);
    // Before it leaves its place in the list.
    const next = this.#next(id);
    keepDraft(id, null);
    this.#store.put([record], true);
    const isMoved = this.#outbox.tell(id, this.#sentence(done(record), id), this.#ruleOf(record));
    // Who went back to it meanwhile stays there.
    if (isOn && this.current == id) this.#card.touched = false;
    else this.#cards.delete(id);
    if (!isOn) this.#goOn(id, next, isMoved);
    this.#render();
  }

  /** Lets it wait on the server, from where it can be taken back. Returns for how long, or 0: it is to be sent at once. */
  async #defer(params) {
    // What the server refuses to let wait, or a server of an earlier version, it refuses again when it is sent, or takes.
    const refused = error => {
      if (error.code == "offline") throw error;
      return {};
    };
    const { milliseconds = 0 } = await this.#connection.call("question_defer", params).catch(refused);
    return milliseconds;
  }

  /** Returns what waits behind a question in the list, or else the first that waits. */
  #next(id) {
    const waits = it => isOpen(this.#store.records.get(it)) && !this.#store.records.get(it).later && !this.#outbox.has(it);
    const order = this.#order().filter(it => it == id || waits(it));
    return order[order.indexOf(id) + 1] ?? order.find(it => it != id) ?? null;
  }

  /** Leaves a question whose answer is there, or on its way, for the next one that waits. */
  #goOn(id, next, isMoved) {
    this.#place();
    if (this.current == id) this.#select(next, "next");
    else if (isMoved && this.#card) this.#card.paused = true;
    this.#render();
  }

  /** Decides permissions together, each as it was shown. They wait as one, and are taken back as one. One that has changed or ended meanwhile is left out. */
  async #settleAll({ id, allows, decisions }) {
    const card = this.#cards.get(id);
    if (!card || card.busy) return;
    card.failure = null;
    card.busy = true;
    const together = `${id} ${Date.now()}`;
    const waits = new Map();
    const offline = { message: "the connection was lost" };
    await atOnce(decisions, async decision => {
      const time = await this.#defer({ ...decision, together }).catch(() => 0);
      if (time) waits.set(decision.id, time);
    });
    const key = waits.has(id) ? id : [...waits.keys()][0];
    if (key) {
      const time = Math.min(...waits.values());
      const said = this.#sentence([`${allows ? "Allowing" : "Rejecting"} ${waits.size}`, `${title(this.#store.records.get(id))} and what is like it`], id);
      const isMoved = this.#outbox.begin(key, said, time, [...waits.keys()]);
      this.#goOn(id, this.#next(id), isMoved);
    }
    const [left, done, back] = [[], [], []];
    const settle = async ({ id, ...decision }) => {
      const record = waits.has(id)
        ? await this.#connection.call("question_deferred", { id }, waits.get(id) + PATIENCE)
        : await this.#connection.call(allows ? "question_answer" : "question_reject", { id, ...decision });
      if (!record) return back.push(id);
      keepDraft(id, null);
      this.#store.put([record], true);
      done.push(record);
    };
    await atOnce(decisions, decision =>
      settle(decision).catch(({ message, data } = offline) => {
        if (data?.question) this.#store.put([data.question]);
        left.push(message);
      }),
    );
    card.busy = false;
    if (back.length) return this.#reopen(key, id);
    const own = done.find(record => record.id == id);
    const why = left.length && `${left.length} of ${decisions.length} ${left.length == 1 ? "was" : "were"} left out: ${[...new Set(left)].join("; ")}`;
    if (own) this.#cards.delete(id);
    else card.failure = why ? { message: why, mark: "Not sent" } : null;
    let isMoved = false;
    if (done.length) {
      const record = own ?? done[0];
      const said = this.#sentence([`${allows ? "Allowed" : "Rejected"} ${done.length}`, `${title(record)} and what is like it`], record.id);
      isMoved = this.#outbox.tell(record.id, [...said, why && `${why}. `].filter(Boolean), this.#ruleOf(record));
    }
    if (key && !done.length) this.#fail(id);
    if (key) this.#outbox.end(key);
    if (own && !key) this.#goOn(id, this.#next(id), isMoved);
    this.#render();
  }

  /** Shows the rule that decides like the person did last, or like the shown permission ended. What can still be taken back is not decided yet. */
  #makeRule() {
    if (this.#outbox.last) return;
    const [told, current] = [this.#outbox.told, this.current].map(id => this.#store.records.get(id));
    const record = told?.question.purpose == "permission" ? told : current;
    if (record && this.#ruleOf(record).more) this.#rule.show(record.id);
  }

  /** Offers to make a rule of a permission of this machine. */
  #ruleOf(record) {
    const canBe = record.question.purpose == "permission" && !machineOf(record);
    return { more: canBe && button("link", () => this.#makeRule(), "Make it a rule ", el("kbd", "m")) };
  }

  /** Returns the line about what was sent, or is being sent. */
  #sentence([said, what], id) {
    const record = this.#store.records.get(id);
    const to = line(from(record, this.#bridges.get(record.bridge)?.status));
    return [el("b", said), ": ", el("bdi", what || title(record)), /^Sen/.test(said) ? " to " : " for ", el("bdi", to), ". "];
  }

  /** Takes back what was sent last, if it is still on its way. */
  #undo() {
    const id = this.#outbox.last;
    // Whether it was taken back is the reply to the call that waits for what becomes of it.
    if (id) this.#connection.call("question_undo", { id }).catch(() => {});
  }

  /** Opens what was taken back as it was. `key` is what it was on its way under. */
  #reopen(key, id = key) {
    this.#outbox.end(key);
    if (this.current == id) this.#card.resume();
    else this.#select(id, "again");
    this.#card.paused = true;
    this.#say("Taken back. The question is open again, with what you entered.");
    this.#render();
  }

  /** Says that what was on its way did not arrive: the person is at something else by now. */
  #fail(id) {
    const record = this.#store.records.get(id);
    const { mark = "Not sent", message } = this.#cards.get(id)?.failure ?? {};
    this.#outbox.tell(id, [el("b", mark), ": ", el("bdi", message ?? `${ended(record)}.`), " "], { isFailed: true, isOpen: isOpen(record) });
    this.#place();
  }

  /** What was not confirmed may have arrived all the same. */
  #recall() {
    const record = this.#store.records.get(this.#outbox.open);
    if (record && !isOpen(record)) this.#outbox.tell(record.id, [el("bdi", ended(record)), ". "]);
  }

  async #extend(params) {
    const record = await this.#send(params.id, () => this.#connection.call("question_extend", params));
    if (isOpen(record)) this.#say("It has more time.");
  }

  /** Sets a question aside, or brings it back: it stands where it belongs, and the next one is shown. */
  async #setAside(id, milliseconds) {
    const next = this.#next(id);
    const record = await this.#send(id, () => this.#connection.call("question_later", { id, milliseconds }));
    if (!isOpen(record)) return;
    if (record.later) {
      this.#say("It is set aside until later.");
      if (this.current == id) this.#select(next, "next");
    } else this.#say(milliseconds ? "It ends too soon to be set aside." : "It is back in the list.");
  }

  /** Returns the record as it is then. Where it fails, the question says so. */
  async #send(id, call) {
    const card = this.#cards.get(id);
    if (!card || card.busy) return;
    card.failure = null;
    card.busy = true;
    let record;
    try {
      record = await call();
      if (record) this.#store.put([record]);
    } catch ({ code, message, data, isUnknown }) {
      const advice = code == "offline" ? " What you entered is kept. Send it again." : "";
      if (data?.question) this.#store.put([(card.record = data.question)]);
      const why = isOpen(data?.question) ? CHANGED : message[0].toUpperCase() + message.slice(1) + advice;
      const mark = isUnknown ? "Not confirmed" : "Not sent";
      if (!data?.question || isOpen(data.question)) card.failure = { message: why, fields: data?.errors ?? [], mark };
    }
    card.busy = false;
    this.#render();
    return record;
  }

  /** Asks for what led to a question. */
  async #lead(card, { id }) {
    card.context = await this.#connection.call("question_context", { id }).catch(({ message }) => ({ problem: message }));
  }

  /** Asks for an image of a question, piece by piece. */
  async #image(card, { id, image }) {
    const pieces = [];
    let from = 0;
    try {
      for (let bytes = 1; from < bytes; ) {
        const piece = await this.#connection.call("question_image", { id, image, from });
        pieces.push(Uint8Array.from(atob(piece.data), letter => letter.charCodeAt()));
        from += pieces.at(-1).length || Infinity;
        bytes = piece.bytes;
      }
    } catch ({ message, data }) {
      const problem = data?.name == "not_found" ? "It is not kept any more." : message;
      return card.showImage(image, { problem });
    }
    card.showImage(image, new Uint8Array(await new Blob(pieces).arrayBuffer()));
  }

  #say(text) {
    this.#parts.live.textContent = text;
  }

  #tell(type, detail) {
    tell(this, `askbridge-${type}`, detail);
  }
}

/** Does this with each of them, several at once. */
async function atOnce(all, act) {
  const waiting = [...all];
  const work = async () => {
    for (let next; (next = waiting.shift()); ) await act(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

customElements.define("askbridge-inbox", AskbridgeInbox);
