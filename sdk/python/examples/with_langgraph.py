"""A graph of LangGraph that asks its user. Kill it while it waits, and run it again: it goes on where it was.

pip install langgraph==1.2.24 langgraph-checkpoint-sqlite==3.1.2
python with_langgraph.py                    # answer by `askbridge open` or `askbridge next`
"""

from typing import TypedDict

from askbridge.adapters.langgraph import run
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt


class State(TypedDict):
    topic: str
    title: str


def choose_title(state: State) -> dict[str, str]:
    return {"title": interrupt(f"Which title shall the text about {state['topic']} have?")}


builder = StateGraph(State)
builder.add_node(choose_title)
builder.add_edge(START, "choose_title")
builder.add_edge("choose_title", END)

with SqliteSaver.from_conn_string("with_langgraph.sqlite") as checkpointer:
    graph = builder.compile(checkpointer=checkpointer)
    print(run(graph, {"topic": "bees"}, {"configurable": {"thread_id": "text-1"}}))
