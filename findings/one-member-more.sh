#!/usr/bin/env bash
# A request with one member more beside `params`, as some agents add a time to each message, to eight packages:
# @modelcontextprotocol/sdk 1.32.2 and client 2.4.0, @agentclientprotocol/sdk 2.4.0, jayson 5.0.0, json-rpc-2.0 1.8.1
# (npm), jsonrpcserver 5.0.9, json-rpc 1.15.0 and python-lsp-jsonrpc 1.1.2 (PyPI). One would guess that it is ignored.
# Four answer; two refuse with the ID null, so that the asker cannot tell which request it was; the MCP clients send
# nothing at all. Both leave the asker waiting.
#
# Output:
#   mcp sdk              nothing
#   mcp client           nothing
#   acp (TypeScript)     answers
#   jayson               answers
#   json-rpc-2.0         answers
#   jsonrpcserver        -32600 with the ID null
#   json-rpc             -32600 with the ID null
#   python-lsp-jsonrpc   answers
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q jsonrpcserver==5.0.9 json-rpc==1.15.0 python-lsp-jsonrpc==1.1.2
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 \
    @modelcontextprotocol/client@2.4.0 @agentclientprotocol/sdk@2.4.0 jayson@5.0.0 json-rpc-2.0@1.8.1
cat >ask.mjs <<'PROGRAM'
import { createRequire } from "node:module";
import { client } from "@agentclientprotocol/sdk";
import { Client as ClientOfTwo } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
const require = createRequire(import.meta.url);
const request = { jsonrpc: "2.0", id: 1, method: "ping", params: {}, sentAt: 0 };
const none = () => new Promise((resolve) => setTimeout(resolve, 2000));
async function ofMcp(Client) {
  let heard;
  const transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => {
      if (message.method === "initialize") {
        const { protocolVersion } = message.params;
        const result = { protocolVersion, capabilities: {}, serverInfo: { name: "server", version: "1" } };
        transport.onmessage({ jsonrpc: "2.0", id: message.id, result });
      } else if (message.id === request.id) heard?.(message);
    },
  };
  await new Client({ name: "client", version: "1" }).connect(transport);
  const answer = new Promise((resolve) => (heard = resolve));
  transport.onmessage(request);
  return Promise.race([answer, none()]);
}
const ways = {
  "mcp sdk": () => ofMcp(Client),
  "mcp client": () => ofMcp(ClientOfTwo),
  "acp (TypeScript)": () =>
    new Promise((resolve) => {
      const readable = new ReadableStream({ start: (to) => to.enqueue({ ...request, method: "_ping" }) });
      const writable = new WritableStream({ write: resolve });
      client().onRequest("_ping", (params) => params, () => ({})).connect({ readable, writable });
    }),
  jayson: () =>
    new Promise((resolve) => {
      const server = new (require("jayson").Server)({ ping: (_, callback) => callback(null, {}) });
      server.call(request, (error, response) => resolve(error ?? response));
    }),
  "json-rpc-2.0": () => {
    const server = new (require("json-rpc-2.0").JSONRPCServer)();
    server.addMethod("ping", () => ({}));
    return server.receive(request);
  },
};
for (const [name, way] of Object.entries(ways)) {
  const said = await way();
  console.log(`${name.padEnd(20)} ${!said ? "nothing" : said.id === 1 && said.result ? "answers" : JSON.stringify(said)}`);
}
process.exit();
PROGRAM
cat >ask.py <<'PROGRAM'
import json, logging
import jsonrpc, jsonrpcserver
from pylsp_jsonrpc.endpoint import Endpoint
logging.disable(logging.CRITICAL)
request = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}, "sentAt": 0}

def of_jsonrpcserver():
    return json.loads(jsonrpcserver.dispatch(json.dumps(request), methods={"ping": lambda: jsonrpcserver.Success({})}))

def of_json_rpc():
    return json.loads(jsonrpc.JSONRPCResponseManager.handle(json.dumps(request), {"ping": lambda: {}}).json)

def of_pylsp():
    said = []
    Endpoint({"ping": lambda params: {}}, said.append).consume(request)
    return said[0]

for name, way in {"jsonrpcserver": of_jsonrpcserver, "json-rpc": of_json_rpc, "python-lsp-jsonrpc": of_pylsp}.items():
    said = way()
    if said["id"] == 1 and "result" in said:
        print(f"{name:<20} answers")
    else:
        print(f"{name:<20} {said['error']['code']} with the ID {json.dumps(said['id'])}")
PROGRAM
{ node ask.mjs; python/bin/python ask.py; } | tee said
diff said - <<'EXPECTED'
mcp sdk              nothing
mcp client           nothing
acp (TypeScript)     answers
jayson               answers
json-rpc-2.0         answers
jsonrpcserver        -32600 with the ID null
json-rpc             -32600 with the ID null
python-lsp-jsonrpc   answers
EXPECTED
