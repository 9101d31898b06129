// The dashboard in Chromium, on an origin that the settings name and on others, with the real program and mock agents.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { browser as program } from "../tests/browser.js";
import { Machine, until } from "../tests/server.js";

const skip = program ? false : "there is no chromium";
const KINDS = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
/** A generous guard against hangs. */
const PATIENCE = 30_000;

/** Serves sdk/typescript, as any server of files does, until the test ends. Returns the port. */
async function serve(context) {
  const root = new URL("..", import.meta.url);
  const server = createServer(({ url }, response) => {
    const path = url.endsWith("/") ? `${url}index.html` : url;
    try {
      const body = readFileSync(new URL(`.${path}`, root));
      response.writeHead(200, { "Content-Type": KINDS[path.split(".").at(-1)] ?? "text/plain" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  return server.address().port;
}

/** Chromium, driven by its DevTools protocol through a pipe. */
class Browser {
  #calls = new Map();
  #last = 0;
  #rest = "";

  constructor() {
    this.profile = mkdtempSync(join(tmpdir(), "askbridge-browser-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--window-size=1280,900"];
    const options = { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] };
    this.child = spawn(program, [...flags, `--user-data-dir=${this.profile}`, "--remote-debugging-pipe"], options);
    this.closed = new Promise(resolve => this.child.on("close", resolve));
    this.child.stdio[4].setEncoding("utf8").on("data", data => this.#hear(data));
  }

  #hear(data) {
    const messages = (this.#rest + data).split("\0");
    this.#rest = messages.pop();
    for (const { id, result, error } of messages.map(text => JSON.parse(text))) {
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error) call?.reject(new Error(error.message));
      else call?.resolve(result);
    }
  }

  async call(method, params = {}, sessionId = this.session) {
    const id = ++this.#last;
    const reply = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject }));
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    let timer;
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(`no reply to ${method}`)), PATIENCE)));
    return Promise.race([reply, late]).finally(() => clearTimeout(timer));
  }

  /** Opens a page in a tab of its own. */
  async open(url) {
    const { targetId } = await this.call("Target.createTarget", { url }, undefined);
    ({ sessionId: this.session } = await this.call("Target.attachToTarget", { targetId, flatten: true }, undefined));
  }

  /** Returns the value of an expression on the page. */
  async value(expression) {
    const { result, exceptionDetails } = await this.call("Runtime.evaluate", { expression, returnByValue: true });
    assert.equal(exceptionDetails, undefined, expression);
    return result.value;
  }

  /** Waits until an expression is true on the page. The text of the page says why it is not. */
  async until(expression) {
    let text;
    // A page that is still loading has no body.
    const check = async () => {
      text = await this.value("document.body?.innerText");
      return this.value(`document.body && (${expression})`).catch(() => false);
    };
    return until(expression, check, () => text);
  }

  /** Clicks on a button or a label in the question with this text, once it can be clicked, as a person does. */
  async decide(question, text) {
    const card = `[...document.querySelectorAll("askbridge-question")].find(it => it.shadowRoot.textContent.includes(${JSON.stringify(question)}))`;
    await this.until(`${card}?.paused === false`);
    await this.click(text, `${card}.shadowRoot`);
  }

  async click(text, root = "document") {
    const find = `[...${root}.querySelectorAll("button, label")].find(it => it.innerText.includes(${JSON.stringify(text)}))`;
    await this.until(find);
    const middle = `(({ x, y, width, height }) => [x + width / 2, y + height / 2])(it.getBoundingClientRect())`;
    const [x, y] = await this.value(`(it => { it.scrollIntoView({ block: "center" }); return ${middle}; })(${find})`);
    for (const type of ["mousePressed", "mouseReleased"]) {
      await this.call("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    }
  }

  /** Fills in the form, and sends it. */
  async connect(url, token) {
    await this.until("!document.querySelector('#connect').hidden");
    for (const [name, text] of Object.entries({ url, token })) {
      await this.value(`document.querySelector("[name=${name}]").select()`);
      await this.call("Input.insertText", { text });
    }
    await this.click("Connect");
  }

  async end() {
    // Its processes end in order only if they are asked to: killed, some would still write into the profile.
    await this.call("Browser.close", {}, undefined).catch(() => this.child.kill("SIGKILL"));
    await this.closed;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

test("a dashboard on a named origin answers all agents, and on another it gets nothing", { skip }, async context => {
  const [named, other] = [await serve(context), await serve(context)];
  const machine = new Machine();
  context.after(() => machine.end());
  mkdirSync(join(machine.home, ".config/askbridge"), { recursive: true });
  const origin = `http://127.0.0.1:${named}`;
  writeFileSync(join(machine.home, ".config/askbridge/config.toml"), `[inbox]\nallow-origin = ["${origin}"]\n`);
  await machine.start();
  const browser = new Browser();
  context.after(() => browser.end());
  const question = machine.agent("question");
  const command = machine.agent("dangerous");
  const rejected = machine.ask("Deploy to production?", ["Now", "Tonight"]);

  const page = "/examples/dashboard/";
  await browser.open(origin + page);
  await browser.connect(machine.url, "0".repeat(64));
  await browser.until("document.querySelector('#problem').innerText.includes('token')");
  await browser.connect(machine.url, machine.token);
  await browser.until("document.querySelectorAll('askbridge-question').length === 3");
  await browser.until("document.title === '(3) Agents'");

  await browser.decide("Choose one option", "Option B");
  await browser.decide("Choose one option", "Send answer");
  await until("choice", () => /You chose: option-b/.test(question.said), () => question.said);
  await browser.decide("rm -rf build", "Refuses it this time");
  await until("refusal", () => /Permission: selected reject/.test(command.said), () => command.said);
  await browser.until("document.querySelectorAll('#past li').length === 2");

  // A reload keeps the token.
  await browser.call("Page.reload");
  await browser.until("document.querySelectorAll('askbridge-question').length === 1");
  await browser.decide("Deploy", "Tonight");
  await browser.decide("Deploy", "Send answer");
  assert.equal(await rejected.ended, 0);
  assert.match(rejected.said, /^Tonight$/m);
  await browser.until("document.querySelector('#past').innerText.includes('Deploy to production?')");

  // The same page with the same token, but for one part of the origin.
  for (const elsewhere of [`http://127.0.0.1:${other}`, `http://localhost:${named}`]) {
    await browser.open(elsewhere + page);
    await browser.connect(machine.url, machine.token);
    await browser.until("document.querySelector('#problem').innerText.includes('do your settings name this origin')");
    assert.equal(await browser.value("document.querySelectorAll('askbridge-question').length"), 0);
    const status = `fetch("${machine.url}/v1/questions", { headers: { Authorization: "Bearer ${machine.token}" } }).then(({ status }) => status, error => error.name)`;
    const { result } = await browser.call("Runtime.evaluate", { expression: status, awaitPromise: true });
    assert.equal(result.value, "TypeError", "not even the status");
  }
});
