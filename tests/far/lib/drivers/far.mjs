// What the drivers of clients in JavaScript share: see far.py.

export const agent = process.argv.slice(2);
export const prompts = JSON.parse(process.env.FAR_PROMPTS ?? "[]");
export const waits = process.env.FAR_ANSWER === "wait";

/** Writes an event: `asked` and `options`, or `ended`. */
export function tell(event) {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/** Returns the ID of the option that a person chooses. */
export async function decide(options, title) {
  tell({ asked: title ?? null, options: options.map(({ name }) => name) });
  // A promise alone does not keep the program alive.
  while (waits) await new Promise((resolve) => setTimeout(resolve, 60_000));
  return (options.find(({ kind }) => kind === "allow_once") ?? options[0]).optionId;
}
