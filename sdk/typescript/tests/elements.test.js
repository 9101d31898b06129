// The elements of the package in a browser: they load, show a question, and tell what a person decides.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const browser = ["chromium", "google-chrome"].find(name => spawnSync(name, ["--version"]).status === 0);
const skip = browser ? false : "there is no chromium";

const PAGE = `<!doctype html><title>waits</title><askbridge-question></askbridge-question><pre id="said"></pre>
<script type="module">
  const said = text => document.getElementById("said").append(text);
  try {
    await import("/elements/inbox.js");
    await import("/elements/question.js");
    const options = [{ value: "a", label: "A" }, { value: "b", label: "B" }];
    const fields = [{ name: "q0", label: "Which?", required: true, kind: "choice", options }];
    const element = document.querySelector("askbridge-question");
    element.addEventListener("askbridge-answer", ({ detail }) => said("answer " + JSON.stringify(detail)));
    element.record = { id: "k3f9q2-1", bridge: "k3f9q2", state: "open", openedAt: new Date().toISOString(),
      question: { questionId: "ask", message: "", fields, origin: "program", dangerous: false, risk: "plain", blocking: true } };
    element.paused = false;
    said("chosen " + element.choose(2) + " ");
    element.submit();
    said(" inbox " + !!customElements.get("askbridge-inbox"));
  } catch (error) {
    said(String(error));
  }
</script>`;

test("the elements show a question and tell what is decided", { skip }, async () => {
  const missing = [];
  const server = createServer(({ url }, response) => {
    const kind = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" }[url.split(".").at(-1)] ?? "text/html";
    try {
      const body = url === "/" ? PAGE : readFileSync(new URL(`..${url}`, import.meta.url));
      response.writeHead(200, { "Content-Type": kind }).end(body);
    } catch {
      missing.push(url);
      response.writeHead(404).end();
    }
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "askbridge-browser-"));
  try {
    const options = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, "--virtual-time-budget=5000"];
    const address = `http://127.0.0.1:${server.address().port}/`;
    const { stdout } = await promisify(execFile)(browser, [...options, "--dump-dom", address], { timeout: 60_000 });
    const said = /<pre id="said">(.*?)<\/pre>/s.exec(stdout)?.[1];
    assert.equal(said, 'chosen true answer {"id":"k3f9q2-1","values":{"q0":"b"},"notes":{}} inbox true');
    assert.deepEqual(missing.filter(url => url !== "/favicon.ico"), []);
  } finally {
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
