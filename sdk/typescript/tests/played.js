// A server that a test plays: it responds what the test says, on a port of its own.

import { createServer } from "node:http";

import { Askbridge } from "../dist/index.js";

/** Starts a server with this handler, until the test ends. */
export async function play(t, handle) {
  const server = createServer(handle);
  await new Promise(resolve => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  t.after(() => (server.closeAllConnections(), server.close()));
  return { url, client: () => new Askbridge({ url, token: "t" }) };
}

/** Begins a stream of events. */
export const begin = response => response.writeHead(200, { "Content-Type": "text/event-stream" });

/** Returns an event as it is on the wire. */
export const event = (name, data, id) => `event: ${name}\n${id ? `id: ${id}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

/** Returns the snapshot with these open questions. */
export const snapshot = (open = [], id = "e-0") => event("snapshot", { protocol: 1, revision: 0, open }, id);

/** Returns the least that a record has. */
export const record = (id, more = {}) => ({ id, openedAt: "2026-01-01T00:00:00Z", question: { fields: [] }, ...more });
