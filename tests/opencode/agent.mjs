// An agent of ACP that asks for a permission at each prompt, and says what it was told. The prompt names the options.
import { createInterface } from "node:readline";

const kinds = { always: "allow_always", once: "allow_once", step: "allow_once", no: "reject_once" };
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
let prompt;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") say({ id, result: { protocolVersion: 1 } });
  else if (method === "session/new") say({ id, result: { sessionId: "session-1" } });
  else if (method === "session/prompt") {
    prompt = id;
    const options = params.prompt[0].text.split(" ").map((name) => ({ optionId: name, name, kind: kinds[name] }));
    const toolCall = { toolCallId: "call-1", title: "`make`", kind: "execute", rawInput: { command: "make" } };
    say({ id: "ask", method: "session/request_permission", params: { sessionId: "session-1", toolCall, options } });
  } else if (id === "ask") {
    const text = `told: ${result.outcome.optionId ?? result.outcome.outcome} ${result._meta?.askbridge?.remark ?? ""}`;
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    say({ method: "session/update", params: { sessionId: "session-1", update } });
    say({ id: prompt, result: { stopReason: "end_turn" } });
  }
});
