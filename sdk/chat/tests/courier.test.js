// How messages are brought into a chat, with a clock that only the test moves: the pace, 429, failures, what is gone or refused.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ChatError } from "../dist/adapter.js";
import { Board } from "../dist/core/board.js";
import { Courier } from "../dist/courier.js";
import { limits } from "../dist/telegram/render.js";
import { record } from "./samples.js";
import { policy, START } from "./world.js";

/** Lets everything run that needs no time. */
const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
};

class Stage {
  now = START;
  calls = [];
  reports = [];
  failed = [];
  troubles = [];
  #sleepers = [];
  #refs = 0;

  constructor({ pace = { burst: 1_000, everyMs: 0 }, settings = policy() } = {}) {
    this.board = new Board(settings, limits, () => 0);
    const answer = async (verb, chat, ref, card) => {
      this.calls.push({ verb, chat, ref, at: this.now - START, buttons: card.rows.flat().length });
      if (this.hold) await this.hold;
      const trouble = this.troubles.shift();
      if (trouble) throw trouble;
      return ref ?? String(++this.#refs);
    };
    this.adapter = {
      limits,
      pace: () => pace,
      paceOfAll: { burst: 1_000, everyMs: 0 },
      post: ({ chat, card }) => answer("post", chat, undefined, card),
      edit: async (chat, ref, card) => void (await answer("edit", chat, ref, card)),
      attach: ({ chat, above, bytes }) => answer(`attach ${bytes} to ${above}`, chat, undefined, { rows: [] }),
      detach: async (chat, ref) => void (await answer("detach", chat, ref, { rows: [] })),
    };
    this.courier = new Courier({
      adapter: this.adapter,
      board: this.board,
      load: async ({ number }) => {
        if (this.missing) throw this.missing;
        return `i${number}`;
      },
      hear: event => this.hear(event),
      report: text => this.reports.push(text),
      fail: error => this.failed.push(error),
      now: () => this.now,
      sleep: milliseconds => new Promise(resolve => this.#sleepers.push({ at: this.now + milliseconds, resolve })),
    });
  }

  hear(event) {
    for (const effect of this.board.handle(event, this.now)) {
      if (effect.do === "show") this.courier.show(effect.slot);
      if (effect.do === "clear") this.courier.clear(effect.chat, effect.ref);
    }
  }

  open(id, sample = "choice") {
    this.hear({ type: "opened", record: record(sample, id, { openedAt: new Date(this.now).toISOString() }) });
  }

  end(id) {
    this.hear({ type: "ended", record: record("choice", id), outcome: { status: "rejected", reason: "withdrawn" } });
  }

  async pass(milliseconds) {
    const end = this.now + milliseconds;
    await settle();
    for (;;) {
      const next = this.#sleepers.sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > end) break;
      this.#sleepers.shift();
      this.now = Math.max(this.now, next.at);
      next.resolve();
      await settle();
    }
    this.now = end;
    await settle();
  }
}

test("no faster than the pace, and what is over before its turn is never posted", async () => {
  const stage = new Stage({ pace: { burst: 2, everyMs: 1_000 } });
  for (let number = 0; number < 6; number++) stage.open(`q-${number}`);
  await stage.pass(500);
  assert.deepEqual(stage.calls.map(({ at }) => at), [0, 0]);
  for (const id of ["q-3", "q-4"]) stage.end(id);
  await stage.pass(10_000);
  assert.deepEqual(stage.calls.map(({ verb, at }) => `${verb} ${at}`), ["post 0", "post 0", "post 1000", "post 2000"]);
});

test("changes in between cost one message", async () => {
  const stage = new Stage({ pace: { burst: 1, everyMs: 1_000 } });
  stage.open("q-1");
  await stage.pass(0);
  for (let edition = 1; edition < 5; edition++) stage.hear({ type: "changed", record: record("choice", "q-1", { edition, question: { message: `Edition ${edition}` } }) });
  stage.end("q-1");
  await stage.pass(10_000);
  assert.deepEqual(stage.calls.map(({ verb, buttons }) => `${verb} ${buttons}`), ["post 3", "edit 0"]);
});

test("what ends while it is being posted loses its buttons", async () => {
  const stage = new Stage();
  let go;
  stage.hold = new Promise(resolve => (go = resolve));
  stage.open("q-1");
  await stage.pass(0);
  stage.end("q-1");
  go();
  await stage.pass(0);
  assert.deepEqual(stage.calls.map(({ verb, ref, buttons }) => `${verb} ${ref} ${buttons}`), ["post undefined 3", "edit 1 0"]);
  assert.deepEqual(stage.board.state().questions.map(({ over, isDone }) => [over, isDone]), [["The agent took it back.", true]]);

  // It was not posted: nothing is left of it.
  const other = new Stage();
  other.hold = new Promise(resolve => (go = resolve));
  other.troubles = [new ChatError("passing", "down")];
  other.open("q-2");
  await other.pass(0);
  other.end("q-2");
  go();
  await other.pass(60_000);
  assert.deepEqual([other.calls.length, other.board.state().questions], [1, []]);
});

test("429 waits as long as it says, failures a little longer each time, and being put out a minute", async () => {
  for (const [troubles, wanted, reports] of [
    [[new ChatError("rate", "busy", 7_000)], [0, 7_000], 0],
    [[1, 2, 3].map(() => new ChatError("passing", "down")), [0, 1_000, 3_000, 7_000], 1],
    [[1, 2].map(() => new ChatError("forbidden", "kicked")), [0, 60_000, 120_000], 1],
    [[new TypeError("a mistake")], [0, 1_000], 1],
  ]) {
    const stage = new Stage();
    stage.troubles = troubles;
    stage.open("q-1");
    await stage.pass(300_000);
    assert.deepEqual(stage.calls.map(({ at }) => at), wanted);
    assert.equal(stage.reports.length, reports, `${stage.reports}`);
    assert.equal(stage.board.state().questions[0].slots[Object.keys(stage.board.state().questions[0].slots)[0]].ref, "1");
  }
});

test("what is gone is posted again while it is open; what is refused is posted without its text, once", async () => {
  const stage = new Stage();
  stage.open("q-1");
  await stage.pass(0);
  stage.troubles = [new ChatError("gone", "deleted")];
  stage.hear({ type: "changed", record: record("choice", "q-1", { edition: 1 }) });
  await stage.pass(0);
  assert.deepEqual(stage.calls.map(({ verb }) => verb), ["post", "edit", "post"]);
  stage.troubles = [new ChatError("gone", "deleted")];
  stage.end("q-1");
  await stage.pass(0);
  assert.deepEqual(stage.board.state().questions, []);

  const other = new Stage();
  other.troubles = [new ChatError("refused", "too long"), new ChatError("refused", "too long")];
  other.open("q-2");
  await other.pass(300_000);
  assert.deepEqual(other.calls.map(({ buttons }) => buttons), [3, 0]);
  assert.deepEqual(other.reports, ["too long", "too long"]);
});

test("a token that does not count ends it", async () => {
  const stage = new Stage();
  stage.troubles = [new ChatError("revoked", "no")];
  stage.open("q-1");
  stage.open("q-2");
  await stage.pass(300_000);
  assert.deepEqual([stage.failed.map(({ message }) => message), stage.calls.length], [["no"], 1]);
  await stage.courier.stop();
});

test("images follow their message, and the buttons that allow follow them", async () => {
  const stage = new Stage();
  stage.open("p-1", "images");
  await stage.pass(0);
  assert.deepEqual(stage.calls.map(({ verb, ref, buttons }) => `${verb} ${ref} ${buttons}`), ["post undefined 1", "attach i1 to 1 undefined 0", "attach i2 to 1 undefined 0", "edit 1 3"]);
  // Of two images, one has changed.
  const { images } = record("images", "p-1").question;
  stage.calls = [];
  stage.hear({ type: "changed", record: record("images", "p-1", { edition: 1, question: { images: [images[0], { ...images[1], digest: "sha256:09" }] } }) });
  await stage.pass(0);
  assert.deepEqual(stage.calls.map(({ verb, ref, buttons }) => `${verb} ${ref} ${buttons}`), ["edit 1 1", "attach i2 to 1 undefined 0", "detach 3 0", "edit 1 3"]);
});

test("an image that is not taken is tried again where it may be taken then, and never keeps the other messages waiting for long", async () => {
  const trouble = (kind, retry) => new ChatError(kind, kind, retry);
  for (const [name, troubles, missing, wanted, reports] of [
    ["a chat that refuses it", [undefined, trouble("refused")], undefined, ["post 1 at 0", "attach 0 at 0", "edit 1 at 0"], ["an image is not shown: refused"]],
    ["a bot that may not", [undefined, trouble("forbidden")], undefined, ["post 1 at 0", "attach 0 at 0", "edit 1 at 0"], ["an image is not shown: forbidden"]],
    ["429", [undefined, trouble("rate", 7_000)], undefined, ["post 1 at 0", "attach 0 at 0", "attach 0 at 7000", "edit 3 at 7000"], []],
    ["one failure", [undefined, trouble("passing")], undefined, ["post 1 at 0", "attach 0 at 0", "attach 0 at 1000", "edit 3 at 1000"], ["passing"]],
    ["failures", [undefined, ...[1, 2, 3].map(() => trouble("passing"))], undefined, ["post 1 at 0", "attach 0 at 0", "attach 0 at 1000", "attach 0 at 3000", "edit 1 at 3000"], ["passing", "an image is not shown: passing"]],
    ["a message that is gone", [undefined, trouble("gone")], undefined, ["post 1 at 0", "attach 0 at 0", "post 1 at 0", "attach 0 at 0", "edit 3 at 0"], []],
    ["an inbox that has it no more", [], trouble("refused"), ["post 1 at 0", "edit 1 at 0"], ["an image is not shown: refused"]],
  ]) {
    const stage = new Stage();
    stage.troubles = troubles;
    stage.missing = missing;
    stage.open("p-1", "image");
    await stage.pass(300_000);
    assert.deepEqual(stage.calls.map(({ verb, buttons, at }) => `${verb.split(" ")[0]} ${buttons} at ${at}`), wanted, name);
    assert.deepEqual(stage.reports, reports, name);
  }
});
