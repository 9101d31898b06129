#!/usr/bin/env node
// Starts the askbridge of this platform, which is in a package of its own. Where Node can become another program, no Node is
// left beside it. Elsewhere Node waits, hands signals on, and ends as the program does.

"use strict";

const { spawn } = require("node:child_process");
const { closeSync } = require("node:fs");
const { constants } = require("node:os");
const { dirname, join } = require("node:path");
const { isatty } = require("node:tty");

const PLATFORM = `${process.platform}-${process.arch}`;
const PACKAGE = `@askbridge/${PLATFORM}`;
/** The exit code of a bridge that fails by itself: docs/behaviour.md. */
const FAILED = 125;

/** Ends with a message. */
function fail(message) {
  process.stderr.write(`askbridge: ${message}\n`);
  process.exit(FAILED);
}

/** Returns the path of the program. */
function find() {
  try {
    return join(dirname(require.resolve(`${PACKAGE}/package.json`)), "bin", "askbridge");
  } catch {
    // npm leaves optional packages out of a lock file that was made on another platform.
    return fail(
      `the package ${PACKAGE} is missing: install again without --no-optional and --omit=optional;` +
        " if there is none for this platform, build it by `cargo install askbridge`",
    );
  }
}

/** Starts the program as a child, and ends as it does. */
function wait(program) {
  let child;
  // A terminal sends these to the program as well, for which a second one would mean to hurry.
  const isOfTerminal = [0, 1, 2].some(fd => isatty(fd));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
    process.on(signal, () => (signal !== "SIGTERM" && isOfTerminal) || child.kill(signal));
  }
  // Signals are caught by now: one that came earlier would end Node alone.
  child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
  // What the client sees of them is the program's doing alone: that one end is closed while the other is still open.
  for (const fd of [0, 1]) closeSync(fd);
  child.on("error", error => fail(`${program} cannot be started: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // A signal that does not end Node is told by the exit code of a shell.
    setTimeout(() => process.exit(128 + constants.signals[signal]), 100);
  });
}

const program = find();
try {
  // Node 22.15 and later has it, but not on Windows.
  process.execve?.(program, [program, ...process.argv.slice(2)], process.env);
} catch {
  // It is refused under a permission model and in a worker.
}
wait(program);
