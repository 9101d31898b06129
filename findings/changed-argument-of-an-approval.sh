#!/usr/bin/env bash
# pydantic-ai-slim 2.68.0 (PyPI): a person approves a tool call, and changes one of its two arguments by
# `override_args`. The arguments given there stand in place of all, so the other is missing, the tool does not run, and
# the model gets the validation error as the result of a call that was approved. One would guess that the change is laid
# over the call's own arguments, or that it raises where the approval is given. A form that lets a person edit one field
# has to send all of them.
#
# Output:
#   both arguments: printed page 1 on blue
#   one argument: tool not run, the model hears: Field required (page)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q pydantic-ai-slim==2.68.0
cat >approve.py <<'PROGRAM'
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

def result(override):
    printed, heard = [], []
    def stand_in(messages, info):
        if not any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[ToolCallPart("print_page", {"page": 1, "color": "red"}, tool_call_id="1")])
        heard.append(messages[-1].parts[0].content)
        return ModelResponse(parts=[TextPart("Good.")])
    agent = Agent(FunctionModel(stand_in), output_type=[str, DeferredToolRequests])
    @agent.tool_plain(requires_approval=True)
    def print_page(page: int, color: str) -> str:
        printed.append(f"printed page {page} on {color}")
        return "done"
    history = agent.run_sync("Print page 1.").all_messages()
    approval = DeferredToolResults(approvals={"1": ToolApproved(override_args=override)})
    agent.run_sync(message_history=history, deferred_tool_results=approval)
    if printed:
        return printed[0]
    error = heard[0][0]
    return f"tool not run, the model hears: {error['msg']} ({error['loc'][0]})"

print("both arguments:", result({"page": 1, "color": "blue"}))
print("one argument:", result({"color": "blue"}))
PROGRAM
python/bin/python approve.py | tee said
diff said - <<'EXPECTED'
both arguments: printed page 1 on blue
one argument: tool not run, the model hears: Field required (page)
EXPECTED
