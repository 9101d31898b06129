#!/usr/bin/env bash
# a2a-sdk 1.3.0 (PyPI) and @a2a-js/sdk 1.3.0 (npm): an agent asks two questions in turn (`input-required`), and its client
# sends the answer to the first one twice, as one that did not hear the reply does: the same message, with the same
# `messageId`. One would guess that a server knows the message again, for which A2A gives each an ID. Both hand it to the
# agent a second time, as the answer to the second question. An answer to the first by another client becomes that, too.
#
# Output:
#   a2a-sdk: the same message twice: blue, blue
#   a2a-sdk: two clients answer the first question: blue, red
#   @a2a-js/sdk: the same message twice: blue, blue
#   @a2a-js/sdk: two clients answer the first question: blue, red
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q a2a-sdk==1.3.0
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @a2a-js/sdk@1.3.0
cat >agent.py <<'PROGRAM'
import asyncio, logging
from a2a.server.agent_execution import AgentExecutor
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as a2a

logging.disable(logging.CRITICAL)
QUESTIONS = ["Which colour?", "Which second colour?"]
STATES = a2a.TaskState

class Asks(AgentExecutor):
    def __init__(self):
        self.answers = []

    async def execute(self, context, queue):
        task = TaskUpdater(queue, context.task_id, context.context_id)
        if context.current_task:
            self.answers.append(context.get_user_input())
        else:
            begun = a2a.TaskStatus(state=STATES.TASK_STATE_SUBMITTED)
            await queue.enqueue_event(a2a.Task(id=context.task_id, context_id=context.context_id, status=begun))
        if len(self.answers) < 2:
            await task.requires_input(task.new_agent_message([a2a.Part(text=QUESTIONS[len(self.answers)])]))
        else:
            await task.complete()

    async def cancel(self, context, queue):
        pass

def message(id, text, task=None):
    names = {"task_id": task.id, "context_id": task.context_id} if task else {}
    said = a2a.Message(message_id=id, role=a2a.Role.ROLE_USER, parts=[a2a.Part(text=text)], **names)
    return a2a.SendMessageRequest(message=said)

async def main():
    card = a2a.AgentCard(name="asks", description="asks", version="1", default_input_modes=["text"],
                         default_output_modes=["text"], capabilities=a2a.AgentCapabilities())
    for what, answers in [("the same message twice", [("one", "blue"), ("one", "blue")]),
                          ("two clients answer the first question", [("one", "blue"), ("other", "red")])]:
        agent, context = Asks(), ServerCallContext()
        handler = DefaultRequestHandler(agent, InMemoryTaskStore(), card)
        task = await handler.on_message_send(message("begin", "Begin."), context)
        assert task.status.message.parts[0].text == QUESTIONS[0]
        for id, text in answers:
            end = await handler.on_message_send(message(id, text, task), context)
        assert end.status.state == STATES.TASK_STATE_COMPLETED
        print(f"a2a-sdk: {what}: {', '.join(agent.answers)}")

asyncio.run(main())
PROGRAM
cat >agent.mjs <<'PROGRAM'
import assert from "node:assert";
import { AgentCard, SendMessageRequest, Task, TaskState, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore, ServerCallContext, UnauthenticatedUser } from "@a2a-js/sdk/server";
const QUESTIONS = ["Which colour?", "Which second colour?"];
class Asks {
  answers = [];
  async execute({ taskId, contextId, task, userMessage }, bus) {
    if (task) this.answers.push(userMessage.parts[0].content.value);
    else bus.publish(AgentEvent.task(Task.fromJSON({ id: taskId, contextId, status: { state: "TASK_STATE_SUBMITTED" } })));
    const text = QUESTIONS[this.answers.length];
    const message = { messageId: `question-${this.answers.length}`, role: "ROLE_AGENT", parts: [{ text }] };
    const status = text ? { state: "TASK_STATE_INPUT_REQUIRED", message } : { state: "TASK_STATE_COMPLETED" };
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status })));
    bus.finished();
  }
  async cancelTask() {}
}
const card = AgentCard.fromJSON({
  name: "asks", description: "asks", version: "1", capabilities: {}, skills: [], defaultInputModes: ["text"], defaultOutputModes: ["text"],
});
for (const [what, answers] of [
  ["the same message twice", [["one", "blue"], ["one", "blue"]]],
  ["two clients answer the first question", [["one", "blue"], ["other", "red"]]],
]) {
  const agent = new Asks();
  const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
  const context = new ServerCallContext({ user: new UnauthenticatedUser() });
  const send = (messageId, text, names) =>
    handler.sendMessage(SendMessageRequest.fromJSON({ message: { messageId, role: "ROLE_USER", parts: [{ text }], ...names } }), context);
  const task = await send("begin", "Begin.");
  assert.equal(task.status.message.parts[0].content.value, QUESTIONS[0]);
  let end;
  for (const [id, text] of answers) end = await send(id, text, { taskId: task.id, contextId: task.contextId });
  assert.equal(end.status.state, TaskState.TASK_STATE_COMPLETED);
  console.log(`@a2a-js/sdk: ${what}: ${agent.answers.join(", ")}`);
}
PROGRAM
{ python/bin/python agent.py; node agent.mjs; } | tee said
diff said - <<'EXPECTED'
a2a-sdk: the same message twice: blue, blue
a2a-sdk: two clients answer the first question: blue, red
@a2a-js/sdk: the same message twice: blue, blue
@a2a-js/sdk: two clients answer the first question: blue, red
EXPECTED
