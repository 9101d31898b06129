#!/usr/bin/env bash
# openai-agents 0.24.0 (PyPI): one approval of one tool call. The state of the run, resumed twice as the object that it
# is, runs the tool once; stored as text and read again, as its documentation shows for long waits, it runs the tool
# each time that it is resumed. One would guess that both count an approval as used, or neither does. A worker that is
# restarted between the tool and the next checkpoint does again what was allowed once.
#
# Output:
#   the object, resumed twice: printed 1 time
#   its text, resumed twice: printed 2 times
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q openai-agents==0.24.0
cat >ask.py <<'PROGRAM'
import asyncio, logging
from agents import Agent, ModelResponse, RunState, Runner, Usage, function_tool, set_tracing_disabled
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
    calls = 0

    async def get_response(self, *args, **kwargs):
        self.calls += 1
        if self.calls == 1:
            output = ResponseFunctionToolCall(type="function_call", call_id="1", name="print_page", arguments='{"page": 1}')
        else:
            text = ResponseOutputText(type="output_text", text="Good.", annotations=[])
            output = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError

async def approved():
    printed.clear()
    agent = Agent(name="printer", model=StandIn(), tools=[print_page])
    result = await Runner.run(agent, "Print page 1.")
    state = result.to_state()
    state.approve(result.interruptions[0])
    return agent, state

async def main():
    agent, state = await approved()
    for _ in range(2):
        await Runner.run(agent, state)
    print(f"the object, resumed twice: printed {len(printed)} time{'s' * (len(printed) != 1)}")
    agent, state = await approved()
    text = state.to_string()
    for _ in range(2):
        await Runner.run(agent, await RunState.from_string(agent, text))
    print(f"its text, resumed twice: printed {len(printed)} time{'s' * (len(printed) != 1)}")

asyncio.run(main())
PROGRAM
python/bin/python ask.py | tee said
diff said - <<'EXPECTED'
the object, resumed twice: printed 1 time
its text, resumed twice: printed 2 times
EXPECTED
