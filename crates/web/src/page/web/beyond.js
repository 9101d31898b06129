// Shows what a permission, or one of its options, allows beyond the act that is shown, and what of a question no page
// can show.

import { el } from "./dom.js";
import { line } from "./words.js";

/** Returns the lines of a list below its name. */
const list = (name, lines = []) => lines.length > 0 && el("div.beyond", el("p.about", name), el("ul", lines.map(it => el("li", el("bdi", line(it))))));

/** Returns what a permission allows beyond its act, and what else its request says. @param {object} subject */
export const beyond = ({ grants, further }) => [list("It also allows", grants), list("The request also says", further)];

/** Returns the pages that the person is to open, each with its host. @param {{links?: {url: string, host: string}[]}} question */
export const pages = ({ links = [] }) =>
  links.map(({ url, host }) => el("p.page", el("a.link", { href: url, target: "_blank", rel: "noopener noreferrer" }, "Open ", el("b", el("bdi", line(host)))), el("small", el("bdi", line(url)))));

/** Returns what the agent sent and is not shown. @param {{unshown?: string[]}} question */
export const unshown = ({ unshown: sentences = [] }) => sentences.map(it => el("p.unshown", "! ", el("bdi", line(it))));

/** Returns what an option allows beyond the act that is shown. @param {{grants?: string[]}} option */
export const optionGrants = ({ grants = [] }) => grants.map(it => el("small.grant", "Also allows: ", el("bdi", line(it))));

/** Returns the question that is asked before an option is taken that allows more than what is shown. */
export const wide = ({ grants = [] }) =>
  grants.length ? `This option also allows: ${grants.map(line).join("; ")}. Allow that?` : "The agent marked this option: it can do harm. Choose it?";

/** Returns where it would happen and what else would be allowed, behind what a row says. @param {object} [subject] */
export function besideIt({ environment, grants: [first, ...more] = [] } = {}) {
  const also = first && `also allows: ${first}${more.length ? `, and ${more.length} more` : ""}`;
  const parts = [environment && `on ${environment}`, also].filter(Boolean);
  return parts.length ? ` (${parts.join("; ")})` : "";
}
