"""The adapter of Pydantic AI, against the real one."""

from __future__ import annotations

import unittest
from typing import Any, Union

from askbridge.adapters.pydantic_ai import Asking, run
from person import ALLOW, Case, arguments, one, text
from pydantic_ai import Agent
from pydantic_ai.conversation_store import InMemoryConversationStore
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, RunContext


def model(*calls: ToolCallPart) -> FunctionModel:
    """A model that makes some calls at once, and then says what came of them."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        returned = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
        if len(returned) < len(calls):
            return ModelResponse(parts=list(calls[len(returned) :]))
        return ModelResponse(parts=[TextPart(" | ".join(part.model_response_str() for part in returned))])

    return FunctionModel(respond)


REFUND = ToolCallPart("refund", {"order": 7}, tool_call_id="call-1")


class PydanticAi(Case, unittest.IsolatedAsyncioTestCase):
    def agent(self, *calls: ToolCallPart, **options: Any) -> Agent[None, Union[str, DeferredToolRequests]]:
        agent = Agent(model(*calls), name="shop", output_type=[str, DeferredToolRequests], **options)
        self.ran: list[int] = []

        @agent.tool_plain(requires_approval=True)
        def refund(order: int) -> str:
            self.ran.append(order)
            return f"refunded {order}"

        @agent.tool
        def close(ctx: RunContext[None], order: int) -> str:
            if order > 100 and not ctx.tool_call_approved:
                raise ApprovalRequired(metadata={"reason": "a large order"})
            return f"closed {order}"

        @agent.tool_plain
        def ask_user(question: str) -> str:
            raise CallDeferred(kind="question")

        @agent.tool_plain
        def render(page: int) -> str:
            raise CallDeferred

        return agent

    async def test_an_approved_tool_runs(self) -> None:
        person = self.person(lambda record: ALLOW)
        result = await self.agent(REFUND, capabilities=[Asking()]).run("Refund 7")
        self.assertEqual(result.output, "refunded 7")
        asked = person.asked[0]["question"]
        self.assertEqual(
            (asked["purpose"], asked["agent"], arguments(person.asked[0])), ("permission", "shop", {"order": 7})
        )

    async def test_the_model_hears_why_a_call_was_rejected(self) -> None:
        self.person(lambda record: "it was sent yesterday")
        result = await self.agent(REFUND, capabilities=[Asking()]).run("Refund 7")
        self.assertEqual(result.output, "The user rejected this tool call: it was sent yesterday")
        self.assertEqual(self.ran, [])

    async def test_the_model_hears_that_nobody_decided(self) -> None:
        result = await self.agent(REFUND, capabilities=[Asking(about={"timeout": 0.2})]).run("Refund 7")
        self.assertEqual((result.output, self.ran), ("Nobody allowed this tool call (timeout).", []))

    async def test_an_approval_that_has_expired_runs_nothing(self) -> None:
        self.person(lambda record: ALLOW)
        result = await self.agent(REFUND, capabilities=[Asking(about={"grant": 0.001})]).run("Refund 7")
        self.assertIn("approval of this tool call has expired", result.output)
        self.assertEqual(self.ran, [])

    async def test_calls_of_one_step_are_open_at_once(self) -> None:
        calls = [REFUND, ToolCallPart("close", {"order": 700}, tool_call_id="call-2")]
        person = self.person(lambda record: None)

        def decide() -> None:
            for record in person.wait_for(2):
                self.inbox.reject(record, "no") if arguments(record) == {"order": 7} else self.inbox.answer(
                    record, ALLOW
                )

        with self.beside(decide):
            result = await self.agent(*calls, capabilities=[Asking()]).run("Do both")
        self.assertEqual(result.output, "The user rejected this tool call: no | closed 700")
        shown = [record["question"]["subject"].get("description") for record in person.asked]
        self.assertIn("reason: a large order", shown)

    async def test_changed_arguments_reach_the_tool(self) -> None:
        self.person(lambda record: {**ALLOW, "arguments": {"order": 8}})
        result = await self.agent(REFUND, capabilities=[Asking(changes=True)]).run("Refund 7")
        self.assertEqual((result.output, self.ran), ("refunded 8", [8]))

    async def test_a_question_of_the_model_is_answered(self) -> None:
        call = ToolCallPart("ask_user", {"question": "Which colour?"}, tool_call_id="call-1")
        person = self.person(lambda record: one("blue"))
        result = await self.agent(call, capabilities=[Asking()]).run("Paint it")
        self.assertEqual((result.output, text(person.asked[0])), ("blue", "Which colour?"))

    async def test_a_call_that_runs_elsewhere_is_for_the_program(self) -> None:
        call = ToolCallPart("render", {"page": 2}, tool_call_id="call-1")

        async def external(call: ToolCallPart) -> str:
            return f"rendered {call.args_as_dict()['page']}"

        store = InMemoryConversationStore()
        result = await run(self.agent(call), "Render", conversation_id="book", store=store, external=external)
        self.assertEqual(result.output, "rendered 2")
        with self.assertRaisesRegex(ValueError, "external"):
            await run(self.agent(call), "Render", conversation_id="other", store=store)

    async def test_the_same_call_of_a_lost_conversation_is_asked_again(self) -> None:
        person = self.person(lambda record: ALLOW)
        for _ in range(2):
            store = InMemoryConversationStore()
            result = await run(self.agent(REFUND), "Refund 7", conversation_id="order-7", store=store)
            self.assertEqual((result.output, self.ran), ("refunded 7", [7]))
        self.assertEqual(len(person.asked), 2)

    async def test_a_stored_approval_runs_its_tool_once(self) -> None:
        person = self.person(lambda record: ALLOW)
        paused = await self.agent(REFUND).run("Refund 7", conversation_id="order-7")
        stores = [InMemoryConversationStore(), InMemoryConversationStore()]
        for store in stores:
            await store.save(paused.conversation)
            paused.conversation.revision = None
        agent = self.agent(REFUND)
        first, second = [(await run(agent, "", conversation_id="order-7", store=store)).output for store in stores]
        self.assertEqual(first, "refunded 7")
        self.assertIn("approved and begun before", second)
        self.assertEqual((self.ran, len(person.asked)), ([7], 1))

    async def test_a_process_that_is_killed_and_runs_again_asks_once(self) -> None:
        self.assertEqual(self.run_twice("with_pydantic_ai.py", ALLOW), "refunded order 7\n")


if __name__ == "__main__":
    unittest.main()
