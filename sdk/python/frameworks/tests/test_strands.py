"""The adapter of Strands, against the real one."""

from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any, AsyncGenerator

import askbridge
from askbridge.adapters.strands import Asking
from person import ALLOW, Case, arguments, one, text
from strands import Agent, ToolContext, tool
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager
from strands.vended_interventions.hitl import HumanInTheLoop


class Stub(Model):
    """Makes some calls, and then says what came of them."""

    def __init__(self, *calls: Any) -> None:
        self.calls = calls

    def get_config(self) -> Any:
        return {}

    def update_config(self, **config: Any) -> None:
        pass

    def structured_output(self, *given: Any, **more: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *given: Any, **more: Any) -> AsyncGenerator[Any, None]:
        results = [part["toolResult"] for message in messages for part in message["content"] if "toolResult" in part]
        yield {"messageStart": {"role": "assistant"}}
        for place, (name, arguments) in enumerate(() if results else self.calls):
            start = {"toolUse": {"toolUseId": f"call-{place}", "name": name}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(arguments)}}}}
            yield {"contentBlockStop": {}}
        if results:
            said = " | ".join(result["content"][0]["text"] for result in results)
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": said}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if results else "tool_use"}}


ran: list[int] = []


@tool
def refund(order: int) -> str:
    """Refunds an order."""
    ran.append(order)
    return f"refunded {order}"


@tool(context=True)
def paint(tool_context: ToolContext) -> str:
    """Paints it."""
    colour = tool_context.interrupt("colour", reason={"question": "Which colour?", "of": "the door"})
    return f"painted {colour}"


ONE = ("refund", {"order": 7})


class Strands(Case, unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        super().setUp()
        ran.clear()

    def agent(self, *calls: Any, intervention: Any, **options: Any) -> Agent:
        return Agent(
            Stub(*calls),
            tools=[refund, paint],
            interventions=[intervention],
            callback_handler=None,
            name="shop",
            **options,
        )

    async def said(self, *calls: Any, asking: Asking, **options: Any) -> str:
        agent = self.agent(*calls, **{"intervention": asking, **options})
        return str(await asking.run(agent, "Refund them", name="order-7")).strip()

    async def test_an_approved_tool_runs(self) -> None:
        person = self.person(lambda record: ALLOW)
        asking = Asking("refund")
        self.assertEqual(await self.said(ONE, asking=asking), "refunded 7")
        asked = person.asked[0]["question"]
        self.assertEqual(
            (asked["purpose"], asked["agent"], arguments(person.asked[0])), ("permission", "shop", {"order": 7})
        )
        self.assertEqual((ran, asking.decisions, asking.running), ([7], {}, {}))

    async def test_the_model_hears_why_a_call_was_rejected(self) -> None:
        self.person(lambda record: "it was sent yesterday")
        said = await self.said(ONE, asking=Asking("refund"))
        self.assertEqual(said, "DENIED: The user rejected this tool call: it was sent yesterday")
        self.assertEqual(ran, [])

    async def test_calls_of_one_message_are_open_at_once(self) -> None:
        person = self.person(lambda record: None)

        def decide() -> None:
            for record in person.wait_for(2):
                self.inbox.reject(record, "no") if arguments(record) == {"order": 7} else self.inbox.answer(
                    record, ALLOW
                )

        with self.beside(decide):
            said = await self.said(ONE, ("refund", {"order": 8}), asking=Asking("refund"))
        self.assertEqual(said, "DENIED: The user rejected this tool call: no | refunded 8")

    async def test_changed_arguments_reach_the_tool(self) -> None:
        self.person(lambda record: {**ALLOW, "arguments": {"order": 8}})
        await self.said(ONE, asking=Asking("refund", changes=True))
        self.assertEqual(ran, [8])

    async def test_a_tool_that_asks_gets_the_answer(self) -> None:
        person = self.person(lambda record: one("blue"))
        self.assertEqual(await self.said(("paint", {}), asking=Asking()), "painted blue")
        self.assertEqual(text(person.asked[0]), "Which colour?\n\nof: the door")

    async def test_a_question_without_an_answer_is_raised(self) -> None:
        self.person(lambda record: "no")
        with self.assertRaises(askbridge.Rejected):
            await self.said(("paint", {}), asking=Asking())

    async def test_the_own_handler_of_strands(self) -> None:
        person = self.person(lambda record: ALLOW)
        self.assertEqual(await self.said(ONE, asking=Asking(), intervention=HumanInTheLoop()), "refunded 7")
        self.assertIn('Approve "refund"?', json.dumps(person.asked[0]["question"]).replace('\\"', '"'))

    async def test_a_conversation_that_died_goes_on(self) -> None:
        self.person(lambda record: ALLOW)
        asking = Asking("refund")
        begun = [{"role": "user", "content": [{"text": "Refund 7"}]}]
        agent = self.agent(ONE, intervention=asking, messages=begun)
        self.assertEqual(str(await asking.run(agent, "Refund 7", name="order-7")).strip(), "refunded 7")
        self.assertEqual(["text" in message["content"][0] for message in agent.messages], [True, False, False, True])

    async def test_the_same_call_of_a_lost_session_is_asked_again(self) -> None:
        person = self.person(lambda record: ALLOW)
        for _ in range(2):
            self.assertEqual(await self.said(ONE, asking=Asking("refund")), "refunded 7")
        self.assertEqual((ran, len(person.asked)), ([7, 7], 2))

    async def test_a_restored_pause_runs_its_tool_once(self) -> None:
        person = self.person(lambda record: None)
        stored = str(self.inbox.home / "sessions")

        def agent(asking: Asking) -> Agent:
            sessions = FileSessionManager("order-7", storage_dir=stored)
            return self.agent(ONE, intervention=asking, session_manager=sessions)

        first = Asking("refund")
        paused = agent(first)
        # It ends where it waits: that is a process that was killed.
        waiting = asyncio.ensure_future(first.run(paused, "Refund 7", name="order-7"))
        [record] = await asyncio.to_thread(person.wait_for, 1)
        waiting.cancel()
        self.inbox.answer(record, ALLOW)
        said = []
        for _ in range(2):
            # The second one stands for a process that died before the result was stored.
            asking = Asking("refund")
            restored = self.agent(ONE, intervention=asking)
            restored.load_snapshot(agent(asking).take_snapshot(preset="session"))
            said.append(str(await asking.run(restored, "Refund 7", name="order-7")).strip())
        self.assertEqual(said[0], "refunded 7")
        self.assertIn("approved and begun before", said[1])
        self.assertEqual((ran, len(person.asked)), ([7], 1))

    async def test_a_process_that_is_killed_and_runs_again_asks_once(self) -> None:
        self.assertEqual(self.run_twice("with_strands.py", ALLOW), "refunded order 7\n")


if __name__ == "__main__":
    unittest.main()
