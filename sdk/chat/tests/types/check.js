// Checks values that went over the wire against the published types of a chat: each becomes a constant of its type, and the
// compiler says what does not fit.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../", import.meta.url));
const here = fileURLToPath(new URL(".", import.meta.url));

/** In the place of a member that the types want to be there and to be `undefined`, which JSON leaves out. */
export const ABSENT = "(absent)";

/** Throws if a value does not have its type. `head` imports what the types need; values are `[type, value]`. */
export async function checkTypes(head, values) {
  const folder = mkdtempSync(join(here, "generated-"));
  try {
    const texts = new Set(values.map(([type, value]) => `(${JSON.stringify(value).replaceAll(JSON.stringify(ABSENT), "undefined")}) satisfies ${type};`));
    writeFileSync(join(folder, "values.ts"), `${head}\n${[...texts].join("\n")}\nexport {};\n`);
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--types", "node"];
    const tsc = join(root, "node_modules/.bin/tsc");
    await promisify(execFile)(tsc, ["--ignoreConfig", ...flags, join(folder, "values.ts")], { cwd: root }).catch(error => {
      throw new Error(error.stdout || error.message);
    });
    return texts.size;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
