// Shows the preview of an option. Markup is shown in a frame that may run, load, open and send nothing.

import { el } from "./dom.js";
import { prose } from "./markdown.js";
import { code } from "./text.js";
import { own } from "./words.js";

// A frame inherits the policy of the page, but another page may have none.
const HEAD =
  '<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"' +
  ` content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"><style>` +
  "body{font:14px system-ui,sans-serif;background:#fff;color:#000}img{max-width:100%;max-height:90vh}</style>";
// What connects or leads away without a script: a policy does not hold back `preconnect`, for one.
const ACTIVE = "script,link,meta,base,iframe,frame,frameset,object,embed,form,template,noscript";

let policy = { createHTML: text => text };
try {
  policy = globalThis.trustedTypes?.createPolicy("askbridge-preview", policy) ?? policy;
} catch {
  // The page allows no such policy: markup is shown as text.
  policy = null;
}

/** Returns a preview. @param {{format: string, text: string}} preview */
export function preview({ format, text }) {
  if (format == "markdown") return prose(text);
  // Layouts are drawn with characters of one width, and lose their shape where lines are wrapped.
  if (format == "text") return code(text, "drawn");
  const show = policy && own({ svg: image, html: inert }, format);
  return show ? el("iframe", { sandbox: "", title: "Preview", srcdoc: policy.createHTML(HEAD + show(text)) }) : code(text);
}

// SVG as an image loads nothing and has no links.
const image = text => `<img alt="" src="data:image/svg+xml,${encodeURIComponent(text.toWellFormed())}">`;

function inert(text) {
  // A document that no window shows loads nothing.
  const root = new DOMParser().parseFromString(policy.createHTML(text), "text/html").documentElement;
  for (const element of root.querySelectorAll(ACTIVE)) element.remove();
  for (const link of root.querySelectorAll("a,area")) link.replaceWith(...link.childNodes);
  return root.innerHTML;
}
