// A client of the SDK with handlers for permissions and forms.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";
import { agent as words, decide, prompts, tell } from "./far.mjs";

const [command, ...args] = words;
const { stdin, stdout } = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout));
const asks = client()
  .onRequest("session/request_permission", async ({ params, signal }) => {
    const optionId = await decide(params.options, params.toolCall.title, signal);
    return { outcome: { outcome: "selected", optionId } };
  })
  .onRequest("elicitation/create", async ({ params, signal }) => {
    await decide([{ name: "accept" }], params.message, signal);
    const [[name, field]] = Object.entries(params.requestedSchema.properties);
    return { action: "accept", content: { [name]: field.oneOf?.[1].const ?? "a text" } };
  });
await asks.connectWith(stream, async (agent) => {
  await agent.request("initialize", { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } } });
  const { sessionId } = await agent.request("session/new", { cwd: process.cwd(), mcpServers: [] });
  for (const text of prompts) {
    const { stopReason } = await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    tell({ ended: stopReason });
  }
});
process.exit(0);
