// A client of the SDK under its first name, with a handler for permissions.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { ClientSideConnection, ndJsonStream } from "@zed-industries/agent-client-protocol";
import { agent as words, decide, prompts, tell } from "./far.mjs";

const [command, ...args] = words;
const { stdin, stdout } = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const person = {
  requestPermission: async ({ options, toolCall }) => {
    return { outcome: { outcome: "selected", optionId: await decide(options, toolCall.title) } };
  },
  sessionUpdate: async () => {},
};
const agent = new ClientSideConnection(() => person, ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)));
await agent.initialize({ protocolVersion: 1, clientCapabilities: {} });
const { sessionId } = await agent.newSession({ cwd: process.cwd(), mcpServers: [] });
for (const text of prompts) {
  const { stopReason } = await agent.prompt({ sessionId, prompt: [{ type: "text", text }] });
  tell({ ended: stopReason });
}
process.exit(0);
