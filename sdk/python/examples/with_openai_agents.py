"""An agent of the OpenAI Agents SDK that asks before it refunds. Kill it while it waits, and run it again: it goes on.

pip install openai-agents==0.24.0
python with_openai_agents.py                # decide by `askbridge open`, or `askbridge next`
"""

import asyncio
from pathlib import Path
from typing import Any

from agents import Agent, Model, ModelResponse, Usage, function_tool, set_tracing_disabled
from askbridge.adapters.openai_agents import run, spend
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Stub(Model):
    """Stands in for a model: leave it out, and the agent uses a real one."""

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        output: Any = ResponseFunctionToolCall(
            type="function_call", call_id="1", name="refund", arguments='{"order": 7}'
        )
        if isinstance(input, list) and input[-1].get("type") == "function_call_output":
            text = ResponseOutputText(type="output_text", text=input[-1]["output"], annotations=[])
            output = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> Any:
        raise NotImplementedError


@function_tool(needs_approval=True, tool_input_guardrails=[spend])
async def refund(order: int) -> str:
    return f"refunded order {order}"


set_tracing_disabled(True)
agent = Agent(name="shop", model=Stub(), tools=[refund])
print(asyncio.run(run(agent, "Refund order 7", name="order-7", state=Path("with_openai_agents.json"))).final_output)
