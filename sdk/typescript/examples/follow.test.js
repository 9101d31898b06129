// The loop in Python, with the real program, which is killed once.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { Machine, until } from "../tests/server.js";

const skip = spawnSync("python3", ["--version"]).status === 0 ? false : "there is no python3";

test("a loop in Python tells each question once", { skip }, async () => {
  const machine = await new Machine().start();
  const script = new URL("follow.py", import.meta.url).pathname;
  const loop = spawn("python3", [script, machine.url, join(machine.folder, "token")], { stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  loop.stdout.on("data", data => (said += data));
  const hear = text => until(text, () => said.includes(text), () => said);
  try {
    machine.ask("First?");
    await hear("asked: First?\n");
    await machine.kill();
    machine.ask("Second?");
    await machine.start();
    await hear("asked: Second?\n");
    for (const question of await machine.client().questions()) await question.reply({ q0: "a" });
    await hear("answered: First?: a\n");
    await hear("answered: Second?: a\n");
    assert.equal(said.match(/asked/g).length, 2, said);
  } finally {
    loop.kill("SIGKILL");
    await machine.end();
  }
});
