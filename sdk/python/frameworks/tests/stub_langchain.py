"""A model of LangChain without a network: it makes some calls, and then says what came of them."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult


def call(name: str, id: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "id": id, "args": arguments, "type": "tool_call"}


class Stub(BaseChatModel):
    calls: list[Any]

    @property
    def _llm_type(self) -> str:
        return "stub"

    def bind_tools(self, tools: Any, **given: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *given: Any, **more: Any) -> ChatResult:
        said = [message.text for message in messages if isinstance(message, ToolMessage)]
        message = AIMessage(content=" | ".join(said), tool_calls=[] if said else self.calls)
        return ChatResult(generations=[ChatGeneration(message=message)])
