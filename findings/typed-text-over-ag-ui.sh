#!/usr/bin/env bash
# ag-ui-langgraph 0.0.47 (PyPI): a graph asks for a text, and the client sends what its person typed by
# `forwardedProps.command.resume`, the way for which the adapter asks unless it is told otherwise. One would guess that a
# text is a text. It is read as JSON first: "true" becomes a boolean, "1e3" a number and "[1]" a list; only what is no JSON
# stays as it was typed. By `resume` of AG-UI, the same texts arrive unchanged.
#
# Output:
#   typed  as it asks by default  by `resume` of AG-UI
#   blue   'blue'                 'blue'
#   007    '007'                  '007'
#   42     42                     '42'
#   1e3    1000.0                 '1e3'
#   true   True                   'true'
#   [1]    [1]                    '[1]'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q ag-ui-langgraph==0.0.47 ag-ui-protocol==1.0.0 langgraph==1.2.24 fastapi==0.165.0
cat >ask.py <<'PROGRAM'
import asyncio, logging
from typing import Annotated, Any
from typing_extensions import TypedDict
from ag_ui.core import RunAgentInput
from ag_ui_langgraph import LangGraphAgent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt

logging.disable(logging.CRITICAL)

class State(TypedDict):
    messages: Annotated[list, add_messages]
    answer: Any

async def answered(typed, by_default):
    builder = StateGraph(State)
    builder.add_node("ask", lambda state: {"answer": interrupt("What is its name?")})
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    graph = builder.compile(checkpointer=InMemorySaver())

    async def run(forwarded=None, resume=None):
        said = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": forwarded or {}}
        messages = [{"id": "m", "role": "user", "content": "hello"}]
        agent = LangGraphAgent(name="asks", graph=graph, **({} if by_default else {"emit_interrupt_outcome": True}))
        return [event async for event in agent.run(RunAgentInput(**said, messages=messages, resume=resume))][-1]

    end = await run()
    if by_default:
        assert end.outcome is None, end
        await run({"command": {"resume": typed}})
    else:
        [asked] = end.outcome.interrupts
        await run(resume=[{"interruptId": asked.id, "status": "resolved", "payload": typed}])
    return repr((await graph.aget_state({"configurable": {"thread_id": "t"}})).values["answer"])

async def main():
    print("typed  as it asks by default  by `resume` of AG-UI")
    for typed in ("blue", "007", "42", "1e3", "true", "[1]"):
        print(f"{typed:6} {await answered(typed, True):22} {await answered(typed, False)}")

asyncio.run(main())
PROGRAM
python/bin/python ask.py | tee said
diff said - <<'EXPECTED'
typed  as it asks by default  by `resume` of AG-UI
blue   'blue'                 'blue'
007    '007'                  '007'
42     42                     '42'
1e3    1000.0                 '1e3'
true   True                   'true'
[1]    [1]                    '[1]'
EXPECTED
