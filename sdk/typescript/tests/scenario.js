// What the library does wherever JavaScript runs: nothing here is of Node. `control(verb, ...words)` reaches the machine.

import { Askbridge, AskbridgeError, Permission } from "../dist/index.js";

const PATIENCE = 20_000;

function equal(seen, wanted) {
  const [a, b] = [JSON.stringify(seen), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${a} instead of ${b}`);
}

/** Plays a conversation with an inbox. Throws at the first thing that is not as it should be. */
export async function play(access, control) {
  const inbox = new Askbridge(access);
  const abort = new AbortController();
  const { signal } = abort;
  const heard = [];
  const waiting = new Map();
  const hear = question => {
    heard.push(question.text);
    waiting.get(question.text)?.(question);
  };
  const ended = [];
  inbox.onQuestion(hear, { signal });
  inbox.onPermission(hear, { signal });
  inbox.onResolved(({ question, outcome }) => ended.push(`${question.text} ${outcome.status}`), { signal });
  /** Does something that asks, and waits for the question. */
  const asked = async (text, ask) => {
    const question = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${text}, but ${heard}`)), PATIENCE);
      waiting.set(text, question => (clearTimeout(timer), resolve(question)));
    });
    await ask();
    return question;
  };

  const first = await asked("First?", () => control("ask", "First?"));
  await first.reply({ q0: "a" });
  equal(await first.settled({ signal }), { status: "answered", values: { q0: "a" } });
  const conflict = await first.reply({ q0: "b" }).catch(error => error);
  equal([conflict instanceof AskbridgeError, conflict.name, conflict.outcome.values.q0], [true, "conflict", "a"]);

  // The server ends between the question and the reply, and another one begins.
  const second = await asked("Second?", () => control("ask", "Second?"));
  await control("kill");
  const replied = second.reply({ q0: "b" });
  await control("start");
  await replied;
  equal(await second.settled(), { status: "answered", values: { q0: "b" } });

  let answer;
  const fields = [{ name: "go", label: "Deploy?", kind: "boolean" }];
  const own = await asked("Deploy?", () => void (answer = inbox.ask({ fields }, { timeoutMs: 60_000 })));
  await own.extend(1_000);
  await own.reply({ go: true });
  equal(await answer, { values: { go: true } });

  const withdrawal = new AbortController();
  const withdrawn = await asked("Withdrawn?", () => void (answer = inbox.ask({ fields, message: "Withdrawn?" }, { signal: withdrawal.signal }).catch(error => error)));
  withdrawal.abort(new Error("changed my mind"));
  equal((await answer).message, "changed my mind");
  equal((await withdrawn.settled()).reason, "withdrawn");

  const permission = await asked("rm -rf build", () => control("agent", "dangerous"));
  equal(permission instanceof Permission, true);
  equal((await permission.allow().catch(error => error)).name, "needs_confirmation");
  await permission.reject("not by a program");

  for await (const event of inbox.events({ signal })) {
    if (event.type === "snapshot") break;
  }
  abort.abort();
  equal(await inbox.questions(), []);
  equal(heard, ["First?", "Second?", "Deploy?", "Withdrawn?", "rm -rf build"]);
  equal(ended.slice(0, 4), ["First? answered", "Second? answered", "Deploy? answered", "Withdrawn? rejected"]);
  const denied = await new Askbridge({ ...access, token: "0".repeat(64) }).questions().catch(error => error);
  equal([denied.name, denied.status], ["wrong_token", 401]);
}
