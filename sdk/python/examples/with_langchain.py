"""An agent of LangChain that asks before it refunds. Kill it while it waits, and run it again: it goes on where it was.

pip install langchain==1.5.2 langgraph-checkpoint-sqlite==3.1.2
python with_langchain.py                    # decide by `askbridge open`, or `askbridge next`
"""

from typing import Any

from askbridge.adapters.langchain import Permissions
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.sqlite import SqliteSaver


class Stub(BaseChatModel):
    """Stands in for a model: put the name of a real one in its place, such as "openai:gpt-5.2"."""

    _llm_type = "stub"

    def bind_tools(self, tools: Any, **given: Any) -> Any:
        return self

    def _generate(self, messages: Any, *given: Any, **more: Any) -> ChatResult:
        message = AIMessage("", tool_calls=[{"name": "refund", "id": "1", "args": {"order": 7}}])
        if isinstance(messages[-1], ToolMessage):
            message = AIMessage(messages[-1].text)
        return ChatResult(generations=[ChatGeneration(message=message)])


@tool
def refund(order: int) -> str:
    """Refunds an order."""
    return f"refunded order {order}"


config = {"configurable": {"thread_id": "order-7"}}
with SqliteSaver.from_conn_string("with_langchain.sqlite") as checkpointer:
    agent = create_agent(Stub(), [refund], middleware=[Permissions("refund")], checkpointer=checkpointer)
    # A thread that is not finished goes on where it is.
    said = None if agent.get_state(config).next else {"messages": [("user", "Refund order 7")]}
    print(agent.invoke(said, config)["messages"][-1].text)
