#!/usr/bin/env bash
# ag-ui-langgraph 0.0.47 (PyPI): a graph asks two questions, and its client answers them by `resume` of AG-UI, each under
# the ID that it came with. One would guess that each answer reaches its question, and that an ID which is not open is
# refused. Two questions that are open at once cannot be answered, neither together nor one by one: the run ends with an
# error of LangGraph, which got no ID. And where one is open, the answer under any ID is its answer.
#
# Output:
#   two at once, both answered: RUN_ERROR
#   two at once, one answered: RUN_ERROR
#   one after the other, the second under the ID of the first: 'blue', 'blue again'
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
    colour: Any
    size: Any

def asks(at_once):
    builder = StateGraph(State)
    builder.add_node("a", lambda state: {"colour": interrupt("Which colour?")})
    builder.add_node("b", lambda state: {"size": interrupt("Which size?")})
    builder.add_edge(START, "a")
    builder.add_edge(START if at_once else "a", "b")
    builder.add_edge("b", END)
    return builder.compile(checkpointer=InMemorySaver())

async def run(graph, *answers):
    """Returns the last event of a run."""
    said = {"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {}}
    resume = [{"interruptId": id, "status": "resolved", "payload": answer} for id, answer in answers]
    messages = [{"id": "m", "role": "user", "content": "hello"}]
    agent = LangGraphAgent(name="asks", graph=graph, emit_interrupt_outcome=True)
    return [event async for event in agent.run(RunAgentInput(**said, messages=messages, resume=resume or None))][-1]

async def main():
    for what, count in (("both", 2), ("one", 1)):
        graph = asks(at_once=True)
        ids = [asked.id for asked in (await run(graph)).outcome.interrupts]
        assert len(set(ids)) == 2, ids
        end = await run(graph, *[(id, "blue") for id in ids[:count]])
        print(f"two at once, {what} answered:", end.type.value)
    graph = asks(at_once=False)
    first = (await run(graph)).outcome.interrupts[0].id
    second = (await run(graph, (first, "blue"))).outcome.interrupts[0].id
    assert first != second
    await run(graph, (first, "blue again"))
    state = (await graph.aget_state({"configurable": {"thread_id": "t"}})).values
    print(f"one after the other, the second under the ID of the first: {state['colour']!r}, {state['size']!r}")

asyncio.run(main())
PROGRAM
python/bin/python ask.py | tee said
diff said - <<'EXPECTED'
two at once, both answered: RUN_ERROR
two at once, one answered: RUN_ERROR
one after the other, the second under the ID of the first: 'blue', 'blue again'
EXPECTED
