#!/usr/bin/env bash
# langgraph 1.2.24 (PyPI): `Command(resume=...)` hands a node False, 0, an empty text or an empty list, but not an empty
# object, which makes it ask again without a word, nor None, which raises an UnboundLocalError. One would guess that any
# JSON value is an answer. A form whose fields are all optional, and sent as it is, has the answer {}.
#
# Output:
#   False   answered
#   0       answered
#   ''      answered
#   []      answered
#   {}      asked again
#   None    UnboundLocalError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q langgraph==1.2.24
cat >graph.py <<'PROGRAM'
from typing import Any, TypedDict
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

class State(TypedDict):
    answer: Any

builder = StateGraph(State)
builder.add_node("ask", lambda state: {"answer": interrupt("Anything to add?")})
builder.add_edge(START, "ask")
builder.add_edge("ask", END)
for number, answer in enumerate([False, 0, "", [], {}, None]):
    graph = builder.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": str(number)}}
    graph.invoke({"answer": "not yet"}, thread)
    try:
        result = graph.invoke(Command(resume=answer), thread)
        said = "asked again" if "__interrupt__" in result else "answered"
        assert said == "asked again" or result["answer"] == answer, result
    except Exception as error:
        said = type(error).__name__
    print(f"{answer!r:<7} {said}")
PROGRAM
python/bin/python graph.py | tee said
diff said - <<'EXPECTED'
False   answered
0       answered
''      answered
[]      answered
{}      asked again
None    UnboundLocalError
EXPECTED
