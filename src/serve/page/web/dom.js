// Builds elements and loads style sheets. Texts become text nodes: nothing here reads markup.

/**
 * Returns an element. Functions become listeners (`onclick`), `true` and `false` set and omit an attribute, and members
 * of the element (`value`, `checked`) are set as such; `dataset` takes an object.
 * @param {string} tag
 * @param {Object<string, *>} [properties]
 * @param {...*} children nodes, texts, and lists of them; `null`, `undefined` and `false` are left out
 * @returns {HTMLElement}
 */
export function el(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) set(element, name, value);
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

// These are members because the attribute of the same name says only how they begin.
const MEMBERS = new Set(["value", "checked", "selected", "open", "hidden", "disabled", "readOnly", "indeterminate", "srcdoc"]);

function set(element, name, value) {
  if (value == null) return;
  if (typeof value == "function") element.addEventListener(name.replace(/^on/, ""), value);
  else if (name == "dataset") Object.assign(element.dataset, value);
  else if (MEMBERS.has(name)) element[name] = value;
  else if (typeof value == "boolean") element.toggleAttribute(name, value);
  else element.setAttribute(name, value);
}

const sheets = new Map();

/**
 * Returns style sheets of this folder, each fetched once, for `adoptedStyleSheets`.
 * @param {...string} names
 * @returns {Promise<CSSStyleSheet[]>}
 */
export function stylesheet(...names) {
  for (const name of names) if (!sheets.has(name)) sheets.set(name, load(name));
  return Promise.all(names.map((name) => sheets.get(name)));
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
