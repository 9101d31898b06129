// The client behind the hooks of the package, which it does not export, on the pipes of an agent.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { ClientSideConnection, ndJsonStream } from "@agentclientprotocol/sdk";
import { AcpClient } from "./node_modules/use-acp/dist/client/acp-client.js";
import { agent as words, decide, prompts, tell } from "./far.mjs";

const [command, ...args] = words;
const { stdin, stdout } = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
let client;
const ask = async ({ deferredId, options, toolCall }) => {
  const optionId = await decide(options, toolCall.title);
  client.resolvePermission(deferredId, { outcome: { outcome: "selected", optionId } });
};
const agent = new ClientSideConnection((agent) => {
  client = new AcpClient(agent, {
    onRequestPermission: (request) => void ask(request),
    onSessionNotification: () => {},
    onRpcError: () => {},
  });
  return client;
}, ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)));
await agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
const { sessionId } = await agent.newSession({ cwd: process.cwd(), mcpServers: [] });
for (const text of prompts) {
  const { stopReason } = await agent.prompt({ sessionId, prompt: [{ type: "text", text }] });
  tell({ ended: stopReason });
}
process.exit(0);
