// An MCP server with two tools, for agents that ask before they call one.

import { createInterface } from "node:readline";

const text = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
const tools = [
  { name: "find_issue", description: "Finds an issue.", inputSchema: text("query"), annotations: { readOnlyHint: true } },
  { name: "create_issue", description: "Creates an issue.", inputSchema: text("title"), annotations: { destructiveHint: false } },
];

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tracker", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "Done." }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = RESULTS[method]?.(params);
  const reply = result ? { result } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
});
