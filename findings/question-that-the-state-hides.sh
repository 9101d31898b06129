#!/usr/bin/env bash
# langgraph 1.2.24 (PyPI): a graph waits for a person, and another part of the program writes into its state by
# `update_state`. After that `get_state` names no interrupt, neither of the state nor of its tasks, and the graph waits
# all the same: an answer is taken as before. One would guess that the open question stays in the state until it is
# answered. A list of what waits for a person, made from the states of all threads, loses the question.
#
# Output:
#   before: next ('ask',), interrupts ['Which colour?']
#   after update_state: next ('ask',), interrupts []
#   an answer: blue
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q langgraph==1.2.24
cat >graph.py <<'PROGRAM'
from typing import TypedDict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

class State(TypedDict):
    color: str
    note: str

builder = StateGraph(State)
builder.add_node("ask", lambda state: {"color": interrupt("Which colour?")})
builder.add_edge(START, "ask")
builder.add_edge("ask", END)
graph = builder.compile(checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "one"}}

def say(when):
    state = graph.get_state(thread)
    open_ones = [*state.interrupts, *(one for task in state.tasks for one in task.interrupts)]
    print(f"{when}: next {state.next}, interrupts {sorted({one.value for one in open_ones})}")

graph.invoke({"color": "", "note": ""}, thread)
say("before")
graph.update_state(thread, {"note": "seen"})
say("after update_state")
print("an answer:", graph.invoke(Command(resume="blue"), thread)["color"])
PROGRAM
python/bin/python graph.py | tee said
diff said - <<'EXPECTED'
before: next ('ask',), interrupts ['Which colour?']
after update_state: next ('ask',), interrupts []
an answer: blue
EXPECTED
