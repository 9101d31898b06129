#!/usr/bin/env bash
# openai-agents 0.24.0 (PyPI): a tool waits for approval, and the person writes a new message in the same session. The
# open call is dropped without a word: the model sees two messages of the person in a row, not its own call, and not
# that nobody decided. One would guess that the run fails as long as a call is open, or that the call is refused. An
# approval that comes afterwards, for the state of the first run, still runs the tool.
#
# Output:
#   the first run asks: print_page
#   the model sees of the second: user "Print page 1." user "How is the weather?"
#   the late approval: printed page 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q openai-agents==0.24.0
cat >ask.py <<'PROGRAM'
import asyncio, json, logging
from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
logging.disable(logging.CRITICAL)
set_tracing_disabled(True)
printed = []

@function_tool(needs_approval=True)
async def print_page(page: int) -> str:
    printed.append(page)
    return "done"

class StandIn(Model):
    seen = []

    async def get_response(self, system_instructions=None, input=None, *args, **kwargs):
        self.seen.append(input)
        if len(self.seen) == 1:
            output = ResponseFunctionToolCall(type="function_call", call_id="1", name="print_page", arguments='{"page": 1}')
        else:
            text = ResponseOutputText(type="output_text", text="Good.", annotations=[])
            output = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError

async def main():
    model = StandIn()
    agent = Agent(name="printer", model=model, tools=[print_page])
    session = SQLiteSession("one")
    first = await Runner.run(agent, "Print page 1.", session=session)
    print("the first run asks:", first.interruptions[0].name)
    await Runner.run(agent, "How is the weather?", session=session)
    seen = (f"{item.get('role') or item['type']} {json.dumps(item.get('content'))}" for item in model.seen[1])
    print("the model sees of the second:", *seen)
    state = first.to_state()
    state.approve(first.interruptions[0])
    await Runner.run(agent, state)
    print("the late approval: printed page", *printed)

asyncio.run(main())
PROGRAM
python/bin/python ask.py | tee said
diff said - <<'EXPECTED'
the first run asks: print_page
the model sees of the second: user "Print page 1." user "How is the weather?"
the late approval: printed page 1
EXPECTED
