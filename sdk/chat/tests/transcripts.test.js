// What persons see, told as conversations. Lines with two spaces before them are what the bot does; `UPDATE=1` writes them.

import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

import { policy, World } from "./world.js";

const folder = new URL("transcripts/", import.meta.url);
const USERS = { ben: "1", ada: "2", eve: "9" };
const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 };

function settings(words) {
  const given = words ? JSON.parse(words) : {};
  const users = new Map((given.users ?? ["ben"]).map(name => [USERS[name], name[0].toUpperCase() + name.slice(1)]));
  const escalate = given.escalate && { escalate: { ...given.escalate, to: USERS[given.escalate.to] } };
  return policy({ ...given, users, ...escalate });
}

/** Carries out one line of a transcript. */
function play(world, line) {
  const [, user, verb, rest] = /^(ben|ada|eve)> (\w+) ?(.*)$/.exec(line) ?? [];
  const [, act, words] = /^inbox> (\w+) (.*)$/.exec(line) ?? [];
  const [, count, unit] = /^\+(\d+)([smh])$/.exec(line) ?? [];
  const args = (words ?? "").match(/\{.*\}|\S+/g) ?? [];
  if (count) return world.pass(count * UNITS[unit]);
  if (line === "restart") return world.restart();
  if (/^chat> (refuses|takes) images$/.test(line)) return void (world.refusesImages = line.includes("refuses"));
  if (line === "connect") return world.connect();
  if (verb === "taps") return world.tapLabel(USERS[user], rest);
  if (verb === "again") return world.tap(USERS[user], world.last);
  if (verb === "replies") return world.reply(USERS[user], rest.split(" ")[0], rest.split(" ").slice(1).join(" "));
  if (verb === "fills") return world.fill(USERS[user], JSON.parse(rest));
  if (verb === "deletes") return void world.messages.delete(`room#${rest}`);
  if (act === "opens") return world.open(args[0], args[1], args[2] ? JSON.parse(args[2]) : {});
  if (act === "changes") return world.change(args[0], args[1], args[2] ? JSON.parse(args[2]) : {});
  if (act === "answers") return world.settle(args[0], { status: "answered", values: JSON.parse(args[1]) }, { responder: args[2] });
  if (act === "forgets") return void world.questions.delete(args[0]);
  if (act === "silently") return world.settle(args[0], { status: "rejected", reason: args[1] }, { responder: "bridge" }, undefined, false);
  if (act === "ends") return world.settle(args[0], { status: "rejected", reason: args[1] }, { responder: "bridge" });
  if (act === "refuses") return void (world.refusesNext = words);
  throw new Error(`not understood: ${line}`);
}

for (const name of readdirSync(folder).filter(name => name.endsWith(".txt"))) {
  test(`transcript ${name}`, () => {
    const path = new URL(name, folder);
    const wanted = readFileSync(path, "utf8");
    const seen = [];
    let world = new World(settings());
    for (const line of wanted.split("\n")) {
      if (line.startsWith("  ")) continue;
      seen.push(line);
      const [, given] = /^settings(?: (.*))?$/.exec(line) ?? [];
      if (/^settings/.test(line)) world = new World(settings(given));
      else if (line && !line.startsWith("#")) {
        try {
          play(world, line);
        } catch (error) {
          throw new Error(`${name}: ${line}: ${error.stack}`);
        }
      }
      seen.push(...world.lines.splice(0));
    }
    const text = seen.join("\n").replace(/\n+$/, "\n");
    if (process.env.UPDATE) writeFileSync(path, text);
    assert.equal(text, wanted);
  });
}
