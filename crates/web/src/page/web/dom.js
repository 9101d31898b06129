// Builds elements and loads style sheets. Texts become text nodes: nothing here reads markup.

const listed = children => children.flat(Infinity).filter(Boolean);

/**
 * Returns an element: `el("p.hint", { id: "a" }, "text")`. What is no property of the element becomes an attribute.
 * @param {string} tag with its classes
 * @param {Object|*} properties may be left out
 * @param {...*} children nodes, texts, and lists of them; what is not true is left out
 * @returns {HTMLElement}
 */
export function el(tag, properties, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  element.classList.add(...classes.filter(Boolean));
  if (properties?.constructor != Object) children.unshift(properties);
  else {
    for (const [name, value] of Object.entries(properties)) {
      if (name in element && value != null) element[name] = value;
      else if (value != null) element.setAttribute(name, value);
    }
  }
  fill(element, children);
  return element;
}

/** Makes these the children of an element. */
export const fill = (element, ...children) => element.replaceChildren(...listed(children));

/** Returns a button that sends no form. @param {string} name its classes */
export const button = (name, onclick, ...children) => el(`button.${name}`, { type: "button", onclick }, children);

/** A property that was set before the element was defined hides the accessor of its name. */
export function upgrade(element, ...names) {
  for (const name of names.filter(name => Object.hasOwn(element, name))) {
    const value = element[name];
    delete element[name];
    element[name] = value;
  }
}

/** Listens to an event. */
export const on = (target, type, run, options) => target.addEventListener(type, run, options);

/** Sends an event with its detail, which bubbles and crosses shadow roots. */
export const tell = (target, type, detail) => target.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));

const sheets = {};

/** Returns style sheets of this folder, each fetched once. @returns {Promise<CSSStyleSheet[]>} */
export const stylesheet = (...names) => Promise.all(names.map(name => (sheets[name] ??= load(name))));

async function load(name) {
  // Without its style an element still works.
  const response = await fetch(new URL(name, import.meta.url)).catch(() => null);
  return new CSSStyleSheet().replace(response?.ok ? await response.text() : "");
}
