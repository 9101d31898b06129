#!/usr/bin/env bash
# strands-agents 1.62.0 (PyPI): a tool asks by an interrupt, and its person chooses "none of them", which the client sends
# as null. One would guess that any JSON value is an answer, as false, 0 and an empty text are. With null the agent asks
# the same again, under the same ID, for ever: the client that trusts its form never gets the agent to go on.
#
# Output:
#   False: the tool gets False
#   0: the tool gets 0
#   '': the tool gets ''
#   None: asks again, under the same ID
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q strands-agents==1.62.0
cat >ask.py <<'PROGRAM'
from strands import Agent, tool
from strands.models import Model

class StandIn(Model):
    def get_config(self):
        return {}

    def update_config(self, **config):
        pass

    def structured_output(self, *given, **more):
        raise NotImplementedError

    async def stream(self, messages, *given, **more):
        asks = "toolResult" not in messages[-1]["content"][0]
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "1", "name": "paint"}} if asks else {}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}} if asks else {"text": "Good."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if asks else "end_turn"}}

@tool(context=True)
def paint(tool_context):
    """Paints it."""
    got.append(tool_context.interrupt("colour", reason="Which colour?"))
    return "painted"

for answer in [False, 0, "", None]:
    got = []
    agent = Agent(StandIn(), tools=[paint], callback_handler=None)
    asked = agent("Paint it").interrupts[0]
    result = agent([{"interruptResponse": {"interruptId": asked.id, "response": answer}}])
    again = result.stop_reason == "interrupt" and result.interrupts[0].id == asked.id
    print(f"{answer!r}: " + ("asks again, under the same ID" if again else f"the tool gets {got[0]!r}"))
PROGRAM
python/bin/python -W ignore ask.py 2>/dev/null | tee said
diff said - <<'EXPECTED'
False: the tool gets False
0: the tool gets 0
'': the tool gets ''
None: asks again, under the same ID
EXPECTED
