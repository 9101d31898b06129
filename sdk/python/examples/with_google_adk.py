"""An agent of Google's ADK that asks before it refunds. Kill it while it waits, and run it again: it goes on.

pip install google-adk==2.13.0
python with_google_adk.py                   # decide by `askbridge open`, or `askbridge next`
"""

import asyncio
from typing import Any

from askbridge.adapters.google_adk import Asking
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.function_tool import FunctionTool
from google.genai import types


class Stub(BaseLlm):
    """Stands in for a model: put the name of a real one in its place, such as "gemini-3-flash"."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        response = llm_request.contents[-1].parts[-1].function_response
        part = types.Part(function_call=types.FunctionCall(name="refund", args={"order": 7}))
        if response:
            part = types.Part(text=str(response.response.get("result", response.response)))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def refund(order: int) -> str:
    """Refunds an order."""
    return f"refunded order {order}"


async def main() -> None:
    sessions = SqliteSessionService("with_google_adk.sqlite")
    who = {"user_id": "maya", "session_id": "order-7"}
    if not await sessions.get_session(app_name="shop", **who):
        await sessions.create_session(app_name="shop", **who)
    agent = LlmAgent(name="shop", model=Stub(model="stub"), tools=[FunctionTool(refund, require_confirmation=True)])
    asking = Asking()
    resumable = ResumabilityConfig(is_resumable=True)
    app = App(name="shop", root_agent=agent, plugins=[asking], resumability_config=resumable)
    runner = Runner(app=app, session_service=sessions)
    message = types.Content(role="user", parts=[types.Part(text="Refund order 7")])
    async for event in asking.run(runner, **who, new_message=message):
        if event.is_final_response() and event.content and event.content.parts and event.content.parts[0].text:
            print(event.content.parts[0].text)


asyncio.run(main())
