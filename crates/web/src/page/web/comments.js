// Comments of the person at lines of a plan, of a change or of a long text. They are a part of the draft, and go with the
// decision. Where the agent takes them is left to question.js.

import { button, el, on } from "./dom.js";
import { cut, line } from "./words.js";

/** What can be commented: blocks of Markdown, paragraphs, rows of a table, lines of a change. The innermost counts. */
const TEXTS = ":is(article > .prose, .plan, .said) [data-lines]";
const BLOCKS = `${TEXTS}, form > .diff .row`;

/** What of a text stands in front of its comment: its first lines, and so many characters. */
const QUOTED = { lines: 3, characters: 240 };

/** The comments of one card. `change` is called when what was written changed. */
export class Comments {
  #card;
  #change;
  #all = [];
  /** The block that the button stands beside. */
  #at = null;
  /** The line of it that is pointed at, in code. */
  #line = "";
  #button = button("add", () => this.add(this.#at), "+");
  /** Those whose lines are not there: not yet, or not any more. */
  #loose = el("div.loose");

  /** @param {Element} card @param {Element} foot what those stand in front of whose lines are not there */
  constructor(card, foot, change) {
    this.#card = card;
    this.#change = change;
    Object.assign(this.#button, { ariaLabel: "Comment on this (c)", title: "Comment on this (c)", tabIndex: -1, hidden: true });
    card.append(this.#button);
    foot.before(this.#loose);
    on(card, "pointerover", ({ target }) => this.#point(target.closest(BLOCKS)));
    on(card, "pointermove", event => this.#pointLine(event));
    // A finger that was lifted has left.
    on(card, "pointerleave", ({ pointerType }) => pointerType == "touch" || (this.#button.hidden = true));
    on(card, "focusin", ({ target }) => {
      if (!target.matches(BLOCKS)) return;
      this.#line = "";
      this.#point(target);
    });
    on(card, "keydown", event => this.#walk(event));
    this.place();
  }

  /** How many have a text. */
  get count() {
    return this.draft.length;
  }

  /** What was written, as JSON. */
  get draft() {
    return this.#sorted().filter(({ text }) => text.trim()).map(({ at, where, quote, text }) => ({ at, where, quote, text }));
  }

  set draft(comments) {
    for (const it of this.#all) shell(it).remove();
    this.#all = [];
    for (const it of comments ?? []) this.#put(it);
    this.place();
  }

  /** What is sent beside the decision; the server makes one text of them. */
  get sent() {
    return this.count ? this.draft.map(({ where, quote, text }) => ({ where, quote, text })) : undefined;
  }

  /** Opens a comment: on what is selected, in focus or pointed at, or on the first block in sight. */
  add(block = this.#chosen()) {
    if (!block) return false;
    const selected = this.#selected();
    const own = selected && block.contains(selected.anchorNode) ? `${selected}` : block == this.#at && this.#line;
    const quote = short(own || textOf(block));
    const at = placeOf(block, this.#card);
    const it = this.#all.find(it => it.at == at && it.quote == quote) ?? this.#put({ at, where: whereOf(block), quote, text: "" });
    this.place();
    this.#button.hidden = true;
    const field = it.box.querySelector("textarea");
    field.focus();
    return true;
  }

  /** Puts each comment below its lines, and lets one of the blocks be reached by Tab. */
  place() {
    const blocks = this.#blocks();
    for (const it of this.#all) {
      // What was quoted may stand elsewhere since the text has changed.
      const block = blocks.find(block => placeOf(block, this.#card) == it.at && textOf(block).includes(it.quote.split("\n")[0].replace(/…$/, "")));
      const isThere = it.box.isConnected && it.beside == block;
      if (!isThere) put(it, block, this.#loose);
    }
    if (blocks.length && !blocks.some(it => it.tabIndex == 0)) blocks[0].tabIndex = 0;
  }

  #put(it) {
    it.box = el("div.comment");
    const label = `Comment on “${cut(line(it.quote), 80)}”`;
    const field = el("textarea", { ariaLabel: label, placeholder: label, rows: 1, dir: "auto", value: it.text });
    field.oninput = () => (it.text = field.value);
    const remove = () => {
      this.#all = this.#all.filter(other => other != it);
      const { beside } = it;
      shell(it).remove();
      if (beside) focus(beside);
      // One that nobody wrote in was no part of the draft.
      if (it.text) this.#change();
    };
    field.onkeydown = event => {
      if (event.key != "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (!it.text.trim()) remove();
      else if (it.beside) focus(it.beside);
    };
    it.box.append(field, button("link", remove, "Remove"));
    this.#all.push(it);
    return it;
  }

  #blocks() {
    return [...this.#card.querySelectorAll(BLOCKS)].filter(isInnermost);
  }

  /** The comments in the order of their lines. */
  #sorted() {
    return this.#all.toSorted((a, b) => (a.box.compareDocumentPosition(b.box) & Node.DOCUMENT_POSITION_PRECEDING ? 1 : -1));
  }

  #selected() {
    const root = this.#card.getRootNode();
    const selection = root.getSelection?.() ?? document.getSelection();
    return selection && !selection.isCollapsed && this.#card.contains(selection.anchorNode) ? selection : null;
  }

  #chosen() {
    const of = node => {
      const block = (node instanceof Element ? node : node?.parentElement)?.closest(BLOCKS);
      return block && isInnermost(block) ? block : undefined;
    };
    const blocks = this.#blocks();
    const isSeen = it => it.checkVisibility() && it.getBoundingClientRect().top >= 0 && it.getBoundingClientRect().bottom <= innerHeight;
    const pointed = this.#button.hidden ? null : this.#at;
    return of(this.#selected()?.anchorNode) ?? of(this.#card.getRootNode().activeElement) ?? pointed ?? blocks.find(isSeen) ?? blocks[0];
  }

  /** Shows the button beside a block. */
  #point(block) {
    if (!block || !isInnermost(block) || this.#card.matches(".over")) return;
    if (block != this.#at) this.#line = "";
    this.#at = block;
    this.#button.hidden = false;
    if (!this.#line) this.#beside(block.getBoundingClientRect());
  }

  /** In a block of code, the button stands beside the line that is pointed at, where the browser tells which that is. */
  #pointLine({ target, clientX, clientY }) {
    const code = target.closest("pre code");
    if (!code || target.closest(BLOCKS) != this.#at || this.#button.hidden) return;
    const at = document.caretPositionFromPoint?.(clientX, clientY, { shadowRoots: [this.#card.getRootNode()] });
    if (!at || !code.contains(at.offsetNode)) return;
    const before = new Range();
    before.setStart(code, 0);
    before.setEnd(at.offsetNode, at.offset);
    this.#line = code.textContent.split("\n")[`${before}`.split("\n").length - 1].trim();
    this.#beside((this.#line && at.getClientRect()) || this.#at.getBoundingClientRect());
  }

  #beside({ top }) {
    this.#button.style.top = `${top - this.#card.getBoundingClientRect().top}px`;
  }

  /** The arrows lead from block to block. */
  #walk(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !event.target.matches(BLOCKS)) return;
    const blocks = this.#blocks().filter(it => it.checkVisibility());
    const next = blocks[blocks.indexOf(event.target) + by];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    focus(next);
  }
}

const isInnermost = block => !block.querySelector("[data-lines]");

function focus(block) {
  block.tabIndex = block.tabIndex == 0 ? 0 : -1;
  block.focus();
}

/** Returns what holds a comment: in a table, a row of its own. */
const shell = ({ box }) => box.closest("tr.commented") ?? box;

/** Puts a comment below a block: what is quoted then stands there already. */
function put(it, block, loose) {
  it.beside = block;
  it.box.querySelector("blockquote")?.remove();
  shell(it).remove();
  if (!block) {
    it.box.prepend(el("blockquote", line(it.where ? `${it.where}: ${it.quote}` : it.quote)));
    return loose.append(it.box);
  }
  // Several comments on one block stand in the order in which they were made.
  let after = block;
  while (after.nextElementSibling?.matches(".comment, .commented")) after = after.nextElementSibling;
  after.after(block.matches("tr") ? el("tr.commented", el("td", { colSpan: 99 }, it.box)) : it.box);
}

/** Returns what tells a block from the others of its card. */
function placeOf(block, card) {
  const text = block.closest(".prose");
  if (text) return `${[...card.querySelectorAll(".prose")].indexOf(text)}:${block.dataset.lines}`;
  const rows = [...block.closest(".diff").querySelectorAll(".row")];
  return `${whereOf(block) || `Patch:${rows.indexOf(block)}`} ${block.querySelector("b").textContent}`;
}

/** Returns the file and the line of a row, or the heading above a part of a text: a plan has equal lines below several. */
function whereOf(block) {
  if (block.matches(".row")) {
    const [path, number] = [block.closest(".diff").querySelector(".path"), block.querySelector("i")];
    return path && number ? `${path.textContent}:${number.textContent}` : "";
  }
  const headings = [...block.closest(".prose").querySelectorAll("h3, h4, h5, h6")];
  const above = headings.findLast(it => it.compareDocumentPosition(block) & Node.DOCUMENT_POSITION_FOLLOWING);
  return above && !block.matches("h3, h4, h5, h6") ? cut(line(above.textContent), 80) : "";
}

function textOf(block) {
  if (block.matches(".row")) return `${block.querySelector("b").textContent.replace("−", "-")}${block.lastElementChild.textContent}`.trim();
  if (block.matches("tr")) return [...block.children].map(it => it.textContent).join(" | ");
  return (block.querySelector("pre code") ?? block).textContent;
}

/** Returns the beginning of a text, and a sign that there is more. */
function short(text) {
  const lines = text.trim().split("\n");
  const more = lines.length > QUOTED.lines ? ["…"] : [];
  return cut([...lines.slice(0, QUOTED.lines), ...more].join("\n"), QUOTED.characters);
}
