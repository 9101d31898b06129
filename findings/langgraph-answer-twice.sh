#!/usr/bin/env bash
# langgraph 1.2.24 (PyPI) and @langchain/langgraph 1.7.3 (npm): a node asks two questions in turn, and each interrupt
# has an ID of its own. An answer under the ID of the first question, sent a second time, answers the second question.
# One would guess that it is ignored, as the answer under an ID that was never given is. A program that sends an answer
# again, because it did not hear that the first one arrived, answers for its person what the person has not read.
#
# Output:
#   ids differ: True
#   an unknown id: asks 'Which size?' again
#   the first id, a second time: ['blue', 'blue']
#   the same in JavaScript: blue, blue
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q langgraph==1.2.24
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @langchain/langgraph@1.7.3 @langchain/core@1.4.0
cat >graph.py <<'PROGRAM'
from typing import Any, TypedDict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

class State(TypedDict):
    answers: Any

def ask(state):
    return {"answers": [interrupt("Which colour?"), interrupt("Which size?")]}

builder = StateGraph(State)
builder.add_node("ask", ask)
builder.add_edge(START, "ask")
builder.add_edge("ask", END)
graph = builder.compile(checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "one"}}
first = graph.invoke({"answers": None}, thread)["__interrupt__"][0]
second = graph.invoke(Command(resume={first.id: "blue"}), thread)["__interrupt__"][0]
print("ids differ:", first.id != second.id)
unknown = graph.invoke(Command(resume={"0" * 32: "blue"}), thread)
print("an unknown id: asks", repr(unknown["__interrupt__"][0].value), "again")
print("the first id, a second time:", graph.invoke(Command(resume={first.id: "blue"}), thread)["answers"])
PROGRAM
cat >graph.mjs <<'PROGRAM'
import { Annotation, Command, END, MemorySaver, START, StateGraph, interrupt } from "@langchain/langgraph";
const graph = new StateGraph(Annotation.Root({ answers: Annotation() }))
  .addNode("ask", () => ({ answers: [interrupt("Which colour?"), interrupt("Which size?")] }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile({ checkpointer: new MemorySaver() });
const thread = { configurable: { thread_id: "one" } };
const [first] = (await graph.invoke({ answers: null }, thread)).__interrupt__;
await graph.invoke(new Command({ resume: { [first.id]: "blue" } }), thread);
const { answers } = await graph.invoke(new Command({ resume: { [first.id]: "blue" } }), thread);
console.log(`the same in JavaScript: ${answers.join(", ")}`);
PROGRAM
{ python/bin/python graph.py; node graph.mjs; } | tee said
diff said - <<'EXPECTED'
ids differ: True
an unknown id: asks 'Which size?' again
the first id, a second time: ['blue', 'blue']
the same in JavaScript: blue, blue
EXPECTED
