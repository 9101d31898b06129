// Where the pointer is, so that nothing decides that comes to stand under it.

import { on } from "./dom.js";

/** Pixels between the pointer and what decides. */
const NEAR = 12;

/** Where the pointer was last. */
let place = [];
for (const type of ["pointerdown", "pointermove"]) on(document, type, ({ clientX, clientY }) => (place = [clientX, clientY]), true);

/** Moves buttons below the pointer, if one of them would stand under it. They do not stick until `stick`. */
export function clear(buttons) {
  const [x, y] = place;
  const isUnder = ({ left, right, top, bottom }) => x > left - NEAR && x < right + NEAR && y > top - NEAR && y < bottom + NEAR;
  const stands = () => [...buttons.children].some(it => isUnder(it.getBoundingClientRect()));
  if (stands()) buttons.style.position = "static";
  if (stands()) buttons.style.marginTop = `${y - buttons.getBoundingClientRect().top + 2 * NEAR}px`;
}

/** Lets buttons stick again. The distance stays: where all is in view, nothing moves. */
export const stick = buttons => (buttons.style.position = "");
