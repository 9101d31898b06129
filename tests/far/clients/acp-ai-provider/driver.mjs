// The provider for the AI SDK, which answers by itself.

import { createACPProvider } from "@mcpc-tech/acp-ai-provider";
import { agent, prompts, tell } from "./far.mjs";

const [command, ...args] = agent;
const session = { cwd: process.cwd(), mcpServers: [] };
const provider = createACPProvider({ command, args, session, env: process.env, persistSession: true });
for (const text of prompts) {
  const prompt = [{ role: "user", content: [{ type: "text", text }] }];
  tell({ ended: (await provider.languageModel().doGenerate({ prompt })).finishReason });
}
provider.cleanup?.();
process.exit(0);
