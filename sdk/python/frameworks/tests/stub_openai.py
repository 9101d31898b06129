"""A model of the OpenAI Agents SDK without a network: it makes some calls, and then says what came of them."""

from __future__ import annotations

import json
from typing import Any

from agents import Model, ModelResponse, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

set_tracing_disabled(True)


def call(name: str, id: str, **arguments: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(type="function_call", call_id=id, name=name, arguments=json.dumps(arguments))


class Stub(Model):
    def __init__(self, *calls: Any) -> None:
        self.calls = calls

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> ModelResponse:
        said = [one for one in input if isinstance(one, dict) and str(one.get("type", "")).endswith("_output")]
        output: list[Any] = list(self.calls)
        if said:
            text = " | ".join(str(one["output"]) for one in said)
            part = ResponseOutputText(type="output_text", text=text, annotations=[])
            output = [
                ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError
