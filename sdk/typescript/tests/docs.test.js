// The blocks of docs/sdk.md and README.md: tsc checks each as a module of its own, which may use what given.d.ts has.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = new URL("../", import.meta.url);
// Below the package, so that a block finds the package by its name.
const folder = new URL("tests/types/docs/", root);

test("each block of the documentation is right", { timeout: 120_000 }, async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  let count = 0;
  for (const [name, path] of [["sdk", "../../docs/sdk.md"], ["readme", "README.md"]]) {
    const text = readFileSync(new URL(path, root), "utf8");
    for (const { 1: block, index } of text.matchAll(/^```ts\n([^]*?)^```$/gm)) {
      const line = text.slice(0, index).split("\n").length;
      writeFileSync(new URL(`${name}-line-${line}.ts`, folder), `${block}export {};\n`);
      count++;
    }
  }
  assert.ok(count >= 10, `${count} blocks`);
  const config = { extends: "../tsconfig.json", include: ["*.ts", "../given.d.ts"], compilerOptions: { noUnusedLocals: false } };
  writeFileSync(new URL("tsconfig.json", folder), JSON.stringify(config));
  const program = fileURLToPath(new URL("node_modules/.bin/tsc", root));
  await promisify(execFile)(program, ["-p", fileURLToPath(folder)]).catch(({ stdout, stderr }) => assert.fail(stdout + stderr));
});
