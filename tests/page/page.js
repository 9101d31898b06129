// What a test sees of the page, in all open shadow roots: elements by what a person knows of them, and the text.
// The harness puts this in front of each of its scripts.

const clean = (text) => text.replace(/\s+/g, " ").trim();

/** All elements that match, in the document's order, also those in shadow roots. */
const all = (selector, root = document) => {
  const found = [];
  const visit = (node) => {
    if (node.shadowRoot) visit(node.shadowRoot);
    for (const element of node.children) {
      if (element.matches(selector)) found.push(element);
      visit(element);
    }
  };
  visit(root);
  return found;
};

/** Whether a person could see it. An element with `display: contents` has no box of its own. */
const isSeen = (element) =>
  getComputedStyle(element).display === "contents" || element.checkVisibility({ visibilityProperty: true });

/** Its accessible name, as far as the page's ways to give one go. */
const name = (element) => {
  const ids = element.getAttribute("aria-labelledby")?.split(/\s+/);
  const labels = ids?.map((id) => element.getRootNode().getElementById(id)) ?? [...(element.labels ?? [])];
  const texts = labels.filter(Boolean).map((label) => label.textContent);
  return clean(element.getAttribute("aria-label") ?? (texts.length ? texts.join(" ") : element.textContent));
};

/** The best match among what is seen: the name itself, one that begins with it, or one that contains it. */
const named = (selector, wanted, root) => {
  const ranks = [(text) => text === wanted, (text) => text.startsWith(wanted), (text) => text.includes(wanted)];
  // A control itself may be hidden behind the label that is drawn in its place.
  const canBeReached = (element) => isSeen(element) || [...(element.labels ?? [])].some(isSeen);
  const candidates = all(selector, root).map((element) => [element, name(element)]);
  for (const fits of ranks) {
    const found = candidates.find(([element, text]) => fits(text) && canBeReached(element));
    if (found) return found[0];
  }
  return null;
};

const BUTTONS = "button, [role=button], summary, a[href]";
const FIELDS = "input:not([type=radio]):not([type=checkbox]):not([type=hidden]), textarea, select";
const CHOICES = "input[type=radio], input[type=checkbox], [role=radio], [role=checkbox]";

const ROWS = "button.row";

/** Brings a control into view that is not switched off. The driver does not scroll within nested shadow roots. */
const usable = (element) => {
  // Shortly after it appeared, a question takes nothing.
  if (!element || element.matches(":disabled, [aria-disabled=true]") || element.getRootNode().host?.paused) return null;
  element.scrollIntoView({ block: "center", behavior: "instant" });
  return element;
};

/** Whether an inbox has its questions. */
const isOnline = (inbox) => inbox.connection?.state === "online";

/** Where a person would click to reach it. */
const target = (element) => (element && !isSeen(element) ? [...element.labels].find(isSeen) : element);

/** The element that has the focus, inside of all shadow roots. */
const focused = () => {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
};

/** The current question's element. */
const card = () => all("askbridge-question").find(isSeen) ?? null;

/** The heading of the current question. */
const currentTitle = () => clean(all("#title", card() ?? document.createElement("p"))[0]?.textContent ?? "");

/** The step that stands in the place of the buttons: a reason, or a confirmation. */
const step = () => all(".step", card()).find(isSeen) ?? null;

/** The text that a person sees, with what stands in fields. */
const text = (root = document.body) => {
  let out = "";
  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) out += node.data.replace(/\s+/g, " ");
    if (node.nodeType !== Node.ELEMENT_NODE || /^(STYLE|SCRIPT|TEMPLATE)$/.test(node.tagName) || !isSeen(node)) return;
    const isBlock = !getComputedStyle(node).display.startsWith("inline");
    if (isBlock) out += "\n";
    if (node.matches("input, textarea")) out += `[${/radio|checkbox/.test(node.type) ? (node.checked ? "x" : " ") : node.value}]`;
    else if (node.tagName === "PRE") out += node.textContent;
    else {
      const assigned = node.tagName === "SLOT" ? node.assignedNodes() : [];
      for (const child of assigned.length ? assigned : (node.shadowRoot ?? node).childNodes) visit(child);
    }
    if (isBlock) out += "\n";
  };
  visit(root);
  return out.replace(/ *\n[\n ]*/g, "\n").trim();
};
