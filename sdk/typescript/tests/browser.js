// Runs a script in Chromium, on a page whose server has the files of this package and passes `/v1` on to an inbox.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The name of the browser's program, if there is one. */
export const browser = ["chromium", "google-chrome"].find(name => spawnSync(name, ["--version"]).status === 0);

const TYPES = { html: "text/html", js: "text/javascript", css: "text/css" };
const PATIENCE = 60_000;

const page = script => `<!doctype html><title>test</title><script type="module">
let said = "done";
try {
  ${script}
} catch (error) {
  said = "failed: " + error.stack;
}
await fetch("/said", { method: "POST", body: said });
</script>`;

/** Passes a request on, as a proxy in front of an inbox does: the page's origin is not the inbox's. */
function forward(incoming, response, port) {
  const { host: _, origin: __, ...headers } = incoming.headers;
  const { method, url: path } = incoming;
  const outgoing = request({ port, method, path, headers }, answer => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.on("error", () => response.destroy()).pipe(response);
  });
  outgoing.on("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}

/** Runs a script, and returns its `said`. `port` returns where the inbox is; `control` does what the script asks for. */
export async function browse(script, { port, control } = {}) {
  let finish;
  const finished = new Promise((resolve, reject) => (finish = { resolve, reject }));
  const missing = [];
  const handle = async (incoming, response) => {
    const { url } = incoming;
    if (url.startsWith("/v1/")) return forward(incoming, response, port());
    if (url === "/said") return finish.resolve(await text(incoming));
    if (url === "/control") {
      await control(JSON.parse(await text(incoming)));
      return response.writeHead(204).end();
    }
    if (url === "/favicon.ico") return response.writeHead(204).end();
    const kind = url === "/" ? "html" : url.split(".").at(-1);
    const body = url === "/" ? page(script) : readFileSync(new URL(`..${url}`, import.meta.url));
    response.writeHead(200, { "Content-Type": TYPES[kind] }).end(body);
  };
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(error => {
      missing.push(`${incoming.url}: ${error.message}`);
      response.writeHead(500).end();
    });
  });
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "askbridge-browser-"));
  const options = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`];
  const child = spawn(browser, [...options, `http://127.0.0.1:${server.address().port}/`], { stdio: ["ignore", "ignore", "pipe"] });
  const complaints = text(child.stderr);
  const closed = new Promise(resolve => child.on("close", resolve));
  const timer = setTimeout(() => finish.reject(new Error(`the page said nothing in ${PATIENCE} ms`)), PATIENCE);
  closed.then(async code => finish.reject(new Error(`${browser} ended with ${code}: ${await complaints}`)));
  try {
    const said = await finished;
    return [said, ...missing].join("\n");
  } finally {
    clearTimeout(timer);
    child.kill();
    await closed;
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
