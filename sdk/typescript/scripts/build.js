// Builds the package: dist/ from src/, and elements/ from the files that the inbox serves.

import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = new URL("../", import.meta.url);
const page = new URL("../../crates/web/src/page/web/", here);

// Declarations keep the comments, which editors show. The code keeps neither comments nor indentation.
const program = fileURLToPath(new URL("node_modules/.bin/tsc", here));
const tsc = (...args) => execFileSync(program, ["-p", ".", ...args], { cwd: fileURLToPath(here), stdio: "inherit" });
rmSync(new URL("dist", here), { recursive: true, force: true });
tsc("--emitDeclarationOnly");
tsc("--declaration", "false", "--removeComments");
const dist = new URL("dist/", here);
for (const name of readdirSync(dist).filter(name => name.endsWith(".js"))) {
  const file = new URL(name, dist);
  writeFileSync(file, readFileSync(file, "utf8").replace(/^ +/gm, ""));
}

/** Copies a file of the page with all that it loads. */
function copy(name, copied) {
  if (copied.has(name)) return;
  copied.add(name);
  copyFileSync(new URL(name, page), new URL(`elements/${name}`, here));
  if (!name.endsWith(".js")) return;
  const code = readFileSync(new URL(name, page), "utf8");
  // Modules, style sheets and images, by their names.
  for (const [, loaded] of code.matchAll(/"(?:\.\/)?([\w-]+\.(?:js|css|svg))"/g)) copy(loaded, copied);
}
const copied = new Set();
for (const name of ["question.js", "inbox.js"]) copy(name, copied);
