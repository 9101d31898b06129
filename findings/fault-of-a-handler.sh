#!/usr/bin/env bash
# What the asker hears when the handler of its request raises an exception "out of ink": vscode-jsonrpc 10.0.0, jayson
# 5.0.0, json-rpc-2.0 1.8.1, @agentclientprotocol/sdk 2.4.0 (npm), python-lsp-jsonrpc 1.1.2, jsonrpcserver 5.0.9,
# json-rpc 1.15.0, agent-client-protocol 0.12.1 (PyPI). One would guess -32603 (internal error) of all. Three have other
# codes: python-lsp-jsonrpc says -32602, which is "invalid params", json-rpc-2.0 says 0, json-rpc -32000. Who takes
# -32602 for "this peer cannot show such a question", and asks in another way, asks twice.
#
# Output:
#   vscode-jsonrpc         -32603, with the text
#   jayson                 -32603
#   json-rpc-2.0           0, with the text
#   acp (TypeScript)       -32603, with the text
#   python-lsp-jsonrpc     -32602, with the text
#   jsonrpcserver          -32603, with the text
#   json-rpc               -32000, with the text
#   acp (Python)           -32603, with the text
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q python-lsp-jsonrpc==1.1.2 jsonrpcserver==5.0.9 json-rpc==1.15.0 agent-client-protocol==0.12.1
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts \
    vscode-jsonrpc@10.0.0 jayson@5.0.0 json-rpc-2.0@1.8.1 @agentclientprotocol/sdk@2.4.0
cat >handlers.mjs <<'PROGRAM'
import { createRequire } from "node:module";
import { PassThrough } from "node:stream";
import { client } from "@agentclientprotocol/sdk";
const require = createRequire(import.meta.url);
const request = { jsonrpc: "2.0", id: 1, method: "print", params: {} };
const print = () => {
  throw new Error("out of ink");
};
const ways = {
  "vscode-jsonrpc": () =>
    new Promise((resolve) => {
      const { createMessageConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-jsonrpc/node");
      const [input, output] = [new PassThrough(), new PassThrough()];
      const connection = createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
      connection.onRequest("print", print);
      connection.listen();
      new StreamMessageReader(output).listen(resolve);
      new StreamMessageWriter(input).write(request);
    }),
  jayson: () =>
    new Promise((resolve) => {
      const server = new (require("jayson").Server)({
        print: async (_, callback) => {
          try {
            callback(null, print());
          } catch (error) {
            callback(error);
          }
        },
      });
      server.call(request, (error, response) => resolve(error ?? response));
    }),
  "json-rpc-2.0": () => {
    const server = new (require("json-rpc-2.0").JSONRPCServer)({ errorListener: () => {} });
    server.addMethod("print", print);
    return server.receive(request);
  },
  "acp (TypeScript)": () =>
    new Promise((resolve) => {
      const readable = new ReadableStream({ start: (to) => to.enqueue({ ...request, method: "_print" }) });
      const writable = new WritableStream({ write: resolve });
      client().onRequest("_print", (params) => params, print).connect({ readable, writable });
    }),
};
for (const [name, way] of Object.entries(ways)) {
  const { error } = await way();
  const text = JSON.stringify(error).includes("out of ink") ? ", with the text" : "";
  console.log(`${name.padEnd(22)} ${error.code}${text}`);
}
process.exit();
PROGRAM
cat >handlers.py <<'PROGRAM'
import asyncio, json, logging, sys
import acp, jsonrpc, jsonrpcserver
from pylsp_jsonrpc.endpoint import Endpoint
logging.disable(logging.CRITICAL)
request = {"jsonrpc": "2.0", "id": 1, "method": "print", "params": {}}

def out_of_ink(*_, **__):
    raise ValueError("out of ink")

def of_pylsp():
    said = []
    Endpoint({"print": out_of_ink}, said.append).consume(request)
    return said[0]

def of_jsonrpcserver():
    return json.loads(jsonrpcserver.dispatch(json.dumps(request), methods={"print": out_of_ink}))

def of_json_rpc():
    return jsonrpc.JSONRPCResponseManager.handle(json.dumps(request), {"print": out_of_ink}).data

def of_acp():
    agent = """
import json, sys
print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "_print", "params": {}}), flush=True)
open("answer", "w").write(sys.stdin.readline())
"""
    class Person(acp.Client):
        async def ext_method(self, method, params):
            out_of_ink()
    async def main():
        async with acp.spawn_agent_process(Person(), sys.executable, "-c", agent) as (_, process):
            await asyncio.wait_for(process.wait(), 30)
    asyncio.run(main())
    return json.load(open("answer"))

for name, way in {"python-lsp-jsonrpc": of_pylsp, "jsonrpcserver": of_jsonrpcserver, "json-rpc": of_json_rpc,
                  "acp (Python)": of_acp}.items():
    error = way()["error"]
    print(f"{name:<22} {error['code']}{', with the text' if 'out of ink' in json.dumps(error) else ''}")
PROGRAM
{ node handlers.mjs; python/bin/python handlers.py; } | tee said
diff said - <<'EXPECTED'
vscode-jsonrpc         -32603, with the text
jayson                 -32603
json-rpc-2.0           0, with the text
acp (TypeScript)       -32603, with the text
python-lsp-jsonrpc     -32602, with the text
jsonrpcserver          -32603, with the text
json-rpc               -32000, with the text
acp (Python)           -32603, with the text
EXPECTED
