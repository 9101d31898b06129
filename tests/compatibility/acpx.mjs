// A client made of the library of acpx: it prompts once, and asks the person who is at a socket of its own.
//
//     node acpx.mjs AGENT
//
// Each line that comes at $XDG_RUNTIME_DIR/person answers what has waited for the longest time.

import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { createAcpRuntime, createAgentRegistry, createRuntimeStore } from "acpx/runtime";

const folder = process.env.XDG_RUNTIME_DIR;
const waiting = [];
const asked = () => new Promise((resolve) => waiting.push(resolve));
createServer((socket) => {
  createInterface({ input: socket }).on("line", (line) => waiting.shift()?.(JSON.parse(line)));
}).listen(`${folder}/person`);

const runtime = createAcpRuntime({
  cwd: process.cwd(),
  sessionStore: createRuntimeStore({ stateDir: `${folder}/state` }),
  agentRegistry: createAgentRegistry({ overrides: { checked: [process.argv[2]] } }),
  permissionMode: "deny-all",
  elicitationModes: ["form"],
  onPermissionRequest: async () => ({ outcome: (await asked()).kind }),
});
const handle = await runtime.ensureSession({ sessionKey: "checked", agent: "checked", mode: "oneshot" });
const turn = runtime.startTurn({ handle, text: "hello", mode: "prompt", requestId: "1", onElicitation: asked });
for await (const _ of turn.events);
await turn.result;
await runtime.close({ handle, reason: "the turn has ended" });
process.exit(0);
