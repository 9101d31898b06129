// Shows the preview of an option. Markup is shown in a frame that may run, load, open and send nothing.

import { el } from "./dom.js";
import { code, prose } from "./text.js";

// A frame inherits the policy of the page, but another page may have none.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'";
const HEAD = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<style>body{margin:8px;font:14px system-ui,sans-serif;background:#fff;color:#000}img{max-width:100%;max-height:90vh}</style>`;
// What connects, leads away or frames though no script runs: a policy does not hold back `preconnect`, for one.
const ACTIVE = "script,link,meta,base,iframe,frame,frameset,object,embed,form,template,noscript,foreignObject";

const rules = { createHTML: (text) => text };
let policy = rules;
try {
  policy = globalThis.trustedTypes?.createPolicy("askbridge-preview", rules) ?? rules;
} catch {
  // The page allows no such policy: markup is shown as text.
  policy = null;
}

/** Returns a preview. @param {{format: string, text: string}} preview @returns {HTMLElement} */
export function preview({ format, text }) {
  if (format == "markdown" || format == "text") return prose(text);
  if (!policy || (format != "svg" && format != "html")) return code(text);
  // An image of SVG loads nothing and has no links.
  const body = format == "svg" ? `<img alt="" src="data:image/svg+xml,${encodeURIComponent(text.toWellFormed())}">` : inert(text);
  return el("iframe", { class: format, sandbox: "", title: "Preview", srcdoc: policy.createHTML(HEAD + body) });
}

function inert(text) {
  // A parsed document that no window shows loads nothing.
  const { documentElement } = new DOMParser().parseFromString(policy.createHTML(text), "text/html");
  for (const element of documentElement.querySelectorAll(ACTIVE)) element.remove();
  for (const link of documentElement.querySelectorAll("a,area")) for (const { name } of [...link.attributes]) link.removeAttribute(name);
  return documentElement.innerHTML;
}
