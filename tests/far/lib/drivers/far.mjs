// What the drivers of clients in JavaScript share: see far.py.

import { existsSync } from "node:fs";

export const agent = process.argv.slice(2);
export const prompts = JSON.parse(process.env.FAR_PROMPTS ?? "[]");
export const waits = process.env.FAR_ANSWER === "wait";
const late = process.env.FAR_LATE ?? "";
let count = 0;

/** Writes an event: `asked` and `options`, `withdrawn`, or `ended`. */
export function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/** Returns the ID of the option that a person chooses. `signal` ends the wait where the client is told of a withdrawal. */
export async function decide(options, title, signal) {
  const isFirst = count++ === 0;
  // The withdrawal is told at once, so that it comes before whatever the agent asks next.
  signal?.addEventListener("abort", () => tell({ withdrawn: title ?? null }));
  tell({ asked: title ?? null, options: options.map(({ name }) => name) });
  // A promise alone does not keep the program alive.
  while (waits) {
    signal?.throwIfAborted();
    if (isFirst && existsSync(late)) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return (options.find(({ kind }) => kind === "allow_once") ?? options[0]).optionId;
}
