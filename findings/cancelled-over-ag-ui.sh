#!/usr/bin/env bash
# ag-ui-langgraph 0.0.47 (PyPI): a graph asks whether to go on, and its client answers with no, or cancels the question by
# the status that AG-UI has for that. One would guess that a question which is cancelled gives nothing, or raises, where
# the graph waits for its answer. It gives a dictionary, which is true in a condition: the graph goes on where its person
# gave up, unless its author knows the adapter's name for it.
#
# Output:
#   no: False, so it stops
#   cancelled: a dictionary with __agui_cancelled__, so it goes on
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
    done: str

def ask(state):
    answer = interrupt("Shall I go on?")
    return {"answer": answer, "done": "it goes on" if answer else "it stops"}

async def answered(status, **payload):
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    graph = builder.compile(checkpointer=InMemorySaver())

    async def run(resume=None):
        said = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {}}
        messages = [{"id": "m", "role": "user", "content": "hello"}]
        agent = LangGraphAgent(name="asks", graph=graph, emit_interrupt_outcome=True)
        return [event async for event in agent.run(RunAgentInput(**said, messages=messages, resume=resume))][-1]

    [asked] = (await run()).outcome.interrupts
    await run([{"interruptId": asked.id, "status": status, **payload}])
    return (await graph.aget_state({"configurable": {"thread_id": "t"}})).values

async def main():
    no = await answered("resolved", payload=False)
    print(f"no: {no['answer']}, so {no['done']}")
    cancelled = await answered("cancelled")
    mark = next(iter(cancelled["answer"]))
    print(f"cancelled: a dictionary with {mark}, so {cancelled['done']}")

asyncio.run(main())
PROGRAM
python/bin/python ask.py | tee said
diff said - <<'EXPECTED'
no: False, so it stops
cancelled: a dictionary with __agui_cancelled__, so it goes on
EXPECTED
