"""An agent of Strands that asks before it refunds. Kill it while it waits, and run it again: it goes on where it was.

pip install strands-agents==1.62.0
python with_strands.py                      # decide by `askbridge open`, or `askbridge next`
"""

import asyncio
from typing import Any

from askbridge.adapters.strands import Asking
from strands import Agent, tool
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager


class Stub(Model):
    """Stands in for a model: leave it out, and the agent uses a real one."""

    def get_config(self) -> Any:
        return {}

    def update_config(self, **config: Any) -> None:
        pass

    def structured_output(self, *given: Any, **more: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *given: Any, **more: Any) -> Any:
        result = messages[-1]["content"][0].get("toolResult")
        block: Any = {"toolUse": {"toolUseId": "call-1", "name": "refund"}}
        delta: Any = {"toolUse": {"input": '{"order": 7}'}}
        if result:
            block, delta = {}, {"text": result["content"][0]["text"]}
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": block}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if result else "tool_use"}}


@tool
def refund(order: int) -> str:
    """Refunds an order."""
    return f"refunded order {order}"


asking = Asking("refund")
sessions = FileSessionManager("order-7", storage_dir="with_strands.sessions")
agent = Agent(Stub(), tools=[refund], interventions=[asking], session_manager=sessions, callback_handler=None)
print(asyncio.run(asking.run(agent, "Refund order 7", name="order-7")), end="")
