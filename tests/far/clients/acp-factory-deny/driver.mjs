// The package, which refuses by itself.

import { AgentFactory } from "acp-factory";
import { agent as words, decide, prompts, tell } from "./far.mjs";

const [command, ...args] = words;
AgentFactory.register("agent", { command, args });
const agent = await AgentFactory.spawn("agent", { permissionMode: "auto-deny", env: process.env });
const session = await agent.createSession(process.cwd());
for (const text of prompts) {
  for await (const update of session.prompt(text)) {
    if (update.sessionUpdate === "permission_request") {
      decide(update.options, update.toolCall.title).then((id) => session.respondToPermission(update.requestId, id));
    }
  }
  tell({ ended: "end_turn" });
}
await agent.close();
process.exit(0);
