#!/usr/bin/env bash
# crewai 1.15.30 (PyPI): a hook before tool calls, which its own example uses for approvals, stops a call by
# returning False. One would guess that a hook which fails, because the service that it asks is down, stops the call as
# well, or ends the run. The error is dropped, without a word unless the agent is verbose, and the tool runs.
#
# Output:
#   the hook returns False: the tool does not run
#   the hook raises: the tool runs
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true CREWAI_TRACING_ENABLED=false
python3 -m venv python
python/bin/pip install -q crewai==1.15.30
cat >crew.py <<'PROGRAM'
from crewai import Agent, Crew, Task
from crewai.hooks import register_before_tool_call_hook, unregister_before_tool_call_hook
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool

class StandIn(BaseLLM):
    calls: int = 0

    def supports_function_calling(self):
        return False

    def call(self, messages, *given, **more):
        self.calls += 1
        if self.calls == 1:
            return 'Thought: I refund it\nAction: refund\nAction Input: {"order": 7}'
        return "Thought: I now can give a great answer\nFinal Answer: Good."

@tool("refund")
def refund(order: int) -> str:
    """Refunds an order."""
    ran.append(order)
    return "refunded"

def rejects(context):
    return False

def fails(context):
    raise ConnectionError("the approval service is down")

for said, hook in [("returns False", rejects), ("raises", fails)]:
    ran = []
    register_before_tool_call_hook(hook)
    clerk = Agent(role="clerk", goal="Refund", backstory="A clerk", llm=StandIn(model="stand-in"), tools=[refund])
    Crew(agents=[clerk], tasks=[Task(description="Refund 7", expected_output="A word", agent=clerk)]).kickoff()
    unregister_before_tool_call_hook(hook)
    print(f"the hook {said}: the tool {'runs' if ran else 'does not run'}")
PROGRAM
python/bin/python crew.py 2>/dev/null | grep '^the hook' | tee said
diff said - <<'EXPECTED'
the hook returns False: the tool does not run
the hook raises: the tool runs
EXPECTED
