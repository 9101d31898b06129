"""The adapter of Google's ADK, against the real one."""

from __future__ import annotations

import unittest
from typing import Any, AsyncGenerator

import askbridge
from askbridge.adapters.google_adk import Asking
from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.events import RequestInput
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import request_input
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.adk.workflow import START, Workflow
from google.genai import types
from person import ALLOW, Case, arguments, one, text

SAID = types.Content(role="user", parts=[types.Part(text="Refund them")])


class Stub(BaseLlm):
    """Makes some calls, and then says what came of them."""

    model: str = "stub"
    calls: list[Any]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in llm_request.contents for part in content.parts or []]
        said = [str(part.function_response.response) for part in parts if part.function_response]
        answer = (
            [types.Part(text=" | ".join(said))]
            if said
            else [types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in self.calls]
        )
        yield LlmResponse(content=types.Content(role="model", parts=answer))


class GoogleAdk(Case, unittest.IsolatedAsyncioTestCase):
    resumable: Any = None

    async def shop(self, *calls: Any, sessions: Any = None) -> Runner:
        self.ran: list[Any] = []
        self.asking = Asking()

        def refund(order: int) -> str:
            """Refunds an order."""
            self.ran.append(order)
            return f"refunded {order}"

        def book(days: int, tool_context: ToolContext) -> str:
            """Books days off."""
            if tool_context.tool_confirmation is None:
                tool_context.request_confirmation(hint="How many days?", payload={"approved_days": days})
                return "waits"
            self.ran.append(tool_context.tool_confirmation.payload)
            return "booked"

        agent = LlmAgent(
            name="shop", model=Stub(calls=list(calls)), tools=[FunctionTool(refund, require_confirmation=True), book]
        )
        return await self.runner(agent, sessions)

    async def runner(self, agent: Any, sessions: Any = None) -> Runner:
        sessions = sessions or InMemorySessionService()
        app = App(name="shop", root_agent=agent, plugins=[self.asking], resumability_config=self.resumable)
        if not await sessions.get_session(app_name="shop", user_id="maya", session_id="order-7"):
            await sessions.create_session(app_name="shop", user_id="maya", session_id="order-7")
        return Runner(app=app, session_service=sessions)

    async def said(self, runner: Runner) -> str:
        said = ""
        async for event in self.asking.run(runner, user_id="maya", session_id="order-7", new_message=SAID):
            parts = event.content.parts if event.content else []
            said = "".join(part.text or "" for part in parts or []) or said
        return said

    async def test_an_approved_tool_runs(self) -> None:
        person = self.person(lambda record: ALLOW)
        self.assertEqual(await self.said(await self.shop(("refund", {"order": 7}))), "{'result': 'refunded 7'}")
        asked = person.asked[0]["question"]
        self.assertEqual(
            (asked["purpose"], asked["agent"], arguments(person.asked[0])), ("permission", "shop", {"order": 7})
        )
        self.assertEqual((self.ran, self.asking.decisions), ([7], {}))

    async def test_the_model_hears_why_a_call_was_rejected(self) -> None:
        self.person(lambda record: "it was sent yesterday")
        said = await self.said(await self.shop(("refund", {"order": 7})))
        self.assertEqual(said, "{'error': 'The user rejected this tool call: it was sent yesterday'}")
        self.assertEqual(self.ran, [])

    async def test_calls_of_one_message_are_open_at_once(self) -> None:
        person = self.person(lambda record: None)

        def decide() -> None:
            for record in person.wait_for(2):
                self.inbox.reject(record, "no") if arguments(record) == {"order": 7} else self.inbox.answer(
                    record, ALLOW
                )

        with self.beside(decide):
            said = await self.said(await self.shop(("refund", {"order": 7}), ("refund", {"order": 8})))
        self.assertEqual(said, "{'error': 'The user rejected this tool call: no'} | {'result': 'refunded 8'}")

    async def test_the_payload_of_a_confirmation_is_filled_in(self) -> None:
        person = self.person(
            lambda record: ALLOW if record["question"]["purpose"] == "permission" else {"approved_days": 2}
        )
        await self.said(await self.shop(("book", {"days": 5})))
        self.assertEqual(self.ran, [{"approved_days": 2}])
        self.assertEqual([text(record) for record in person.asked][1], "How many days?")

    async def test_a_session_that_died_goes_on_and_runs_its_tool_once(self) -> None:
        person = self.person(lambda record: ALLOW)
        self.resumable = ResumabilityConfig(is_resumable=True)
        runner = await self.shop(("refund", {"order": 7}))
        self.assertEqual(await self.said(runner), "{'result': 'refunded 7'}")
        session = await runner.session_service.get_session(app_name="shop", user_id="maya", session_id="order-7")
        answer = next(place for place, event in enumerate(session.events) if event.author == "user" and place > 0)
        # The process died after the tool ran, before its result was stored, or after that.
        for stored, expected in ((answer + 1, "approved and begun before"), (answer + 2, "{'result': 'refunded 7'}")):
            again = InMemorySessionService()
            copy = await again.create_session(app_name="shop", user_id="maya", session_id="order-7")
            for event in session.events[:stored]:
                await again.append_event(copy, event)
            said = await self.said(await self.shop(("refund", {"order": 7}), sessions=again))
            self.assertIn(expected, said)
            self.assertEqual((self.ran, len(person.asked)), ([], 1))

    async def test_a_workflow_gets_the_text_that_was_typed(self) -> None:
        typed = ["blue", "1e3", "true"]
        self.person(lambda record: one(typed[len(got)]))
        got: list[Any] = []
        for _ in typed:
            got += await self.workflow(None)
        self.assertEqual(got, typed)

    async def test_a_workflow_gets_what_fits_its_schema(self) -> None:
        person = self.person(lambda record: {"value": 3})
        self.assertEqual(await self.workflow(int), [3])
        self.assertEqual([text(record) for record in person.asked], ["How many?"])

    async def test_a_question_without_an_answer_is_raised(self) -> None:
        self.person(lambda record: "no")
        with self.assertRaises(askbridge.Rejected):
            await self.workflow(None)

    async def test_the_model_may_ask_itself(self) -> None:
        person = self.person(lambda record: one("1e3"))
        self.asking = Asking()
        asks = ("adk_request_input", {"message": "Which size?"})
        agent = LlmAgent(name="shop", model=Stub(calls=[asks]), tools=[request_input])
        self.assertEqual(await self.said(await self.runner(agent)), "{'result': '1e3'}")
        self.assertEqual(text(person.asked[0]), "Which size?")

    async def test_a_tool_of_a_workflow_is_a_permission(self) -> None:
        self.person(lambda record: ALLOW if arguments(record) == {"order": 7} else "no")
        self.ran = []
        for order in (7, 8):
            self.asking = Asking()

            def begin(node_input: Any) -> Any:
                return {"order": order}

            def refund(order: int) -> str:
                self.ran.append(order)
                return f"refunded {order}"

            tool = FunctionTool(refund, require_confirmation=True)
            await self.said(await self.runner(Workflow(name="shop", edges=[(START, begin), (begin, tool)])))
        self.assertEqual(self.ran, [7])

    async def workflow(self, schema: Any) -> list[Any]:
        """What the next node gets where a node asks."""
        got: list[Any] = []
        self.asking = Asking()

        async def ask(node_input: Any) -> AsyncGenerator[Any, None]:
            yield RequestInput(message="How many?", response_schema=schema)

        def paint(node_input: Any) -> str:
            got.append(node_input)
            return "painted"

        await self.said(await self.runner(Workflow(name="painter", edges=[(START, ask), (ask, paint)])))
        return got

    async def test_a_process_that_is_killed_and_runs_again_asks_once(self) -> None:
        self.assertEqual(self.run_twice("with_google_adk.py", ALLOW), "refunded order 7\n")


if __name__ == "__main__":
    unittest.main()
