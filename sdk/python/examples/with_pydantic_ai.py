"""An agent of Pydantic AI that asks before it refunds. Kill it while it waits, and run it again: it goes on.

pip install pydantic-ai-slim==2.68.0
python with_pydantic_ai.py                  # decide by `askbridge open`, or `askbridge next`
"""

import asyncio
import pickle
from pathlib import Path
from typing import Union

from askbridge.adapters.pydantic_ai import run
from pydantic_ai import Agent
from pydantic_ai.conversation_store import InMemoryConversationStore
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import DeferredToolRequests


class FileStore(InMemoryConversationStore):
    """Keeps all conversations in a file: enough for an example. Use a database for more."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        if path.exists():
            self.__dict__.update(pickle.loads(path.read_bytes()), path=path)

    async def write_record(self, record, **given):  # type: ignore[no-untyped-def]
        await super().write_record(record, **given)
        self.path.write_bytes(pickle.dumps({"_records": self._records, "_entries": self._entries}))


def stub(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Stands in for a model: put the name of a real one in its place, such as "openai:gpt-5.2"."""
    for part in messages[-1].parts:
        if isinstance(part, ToolReturnPart):
            return ModelResponse(parts=[TextPart(part.model_response_str())])
    return ModelResponse(parts=[ToolCallPart("refund", {"order": 7})])


agent = Agent(FunctionModel(stub), name="shop", output_type=Union[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def refund(order: int) -> str:
    return f"refunded order {order}"


store = FileStore(Path("with_pydantic_ai.store"))
print(asyncio.run(run(agent, "Refund order 7", conversation_id="order-7", store=store)).output)
