// Builds elements and loads style sheets. Texts become text nodes: nothing here reads markup.

// Members, because the attribute of the same name says only how they begin.
const MEMBERS = ["value", "checked", "selected", "open", "hidden", "disabled", "readOnly", "srcdoc"];

/**
 * Returns an element: `el("p.hint", { id: "a" }, "text")`. Functions become listeners, `true` and `false` set and omit
 * an attribute, `dataset` takes an object.
 * @param {string} tag with its classes
 * @param {Object|*} properties may be left out
 * @param {...*} children nodes, texts, and lists of them; `null`, `undefined` and `false` are left out
 * @returns {HTMLElement}
 */
export function el(tag, properties, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  element.classList.add(...classes.filter(Boolean));
  if (properties?.constructor != Object) children.unshift(properties);
  else for (const [name, value] of Object.entries(properties)) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

function set(element, name, value) {
  if (value == null) return;
  if (typeof value == "function") element.addEventListener(name.replace(/^on/, ""), value);
  else if (name == "dataset") Object.assign(element.dataset, value);
  else if (MEMBERS.includes(name)) element[name] = value;
  else if (typeof value == "boolean") element.toggleAttribute(name, value);
  else element.setAttribute(name, value);
}

const sheets = {};

/** Returns style sheets of this folder, each fetched once. @returns {Promise<CSSStyleSheet[]>} */
export function stylesheet(...names) {
  return Promise.all(names.map((name) => (sheets[name] ??= load(name))));
}

async function load(name) {
  const sheet = new CSSStyleSheet();
  try {
    const response = await fetch(new URL(name, import.meta.url));
    if (!response.ok) throw new Error(`status ${response.status}`);
    await sheet.replace(await response.text());
  } catch (error) {
    // Without its style an element still works.
    console.error(`askbridge: ${name} could not be loaded`, error);
  }
  return sheet;
}
