"""The adapter of LangChain, against the real one."""

from __future__ import annotations

import unittest
from typing import Any

import askbridge
from askbridge.adapters.langchain import Permissions, arun, run
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from person import ALLOW, Case, arguments, one, text
from stub_langchain import Stub, call

THREAD = {"configurable": {"thread_id": "42"}}
SAID = {"messages": [("user", "Refund them")]}


class Shop(Case):
    def agent(self, calls: list[Any], *middleware: Any) -> Any:
        self.ran: list[int] = []

        @tool
        def refund(order: int) -> str:
            """Refunds an order."""
            self.ran.append(order)
            return f"refunded {order}"

        @tool
        def ask_user(question: str) -> str:
            """Asks the user."""
            raise AssertionError("the user is asked in its place")

        tools = [refund, ask_user]
        return create_agent(Stub(calls=calls), tools, middleware=middleware, checkpointer=InMemorySaver(), name="shop")

    def decide_both(self, person: Any) -> None:
        for record in person.wait_for(2):
            self.inbox.reject(record, "no") if arguments(record) == {"order": 7} else self.inbox.answer(record, ALLOW)


ONE = [call("refund", "call-1", order=7)]
BOTH = [*ONE, call("refund", "call-2", order=8)]


class Middleware(Shop):
    def test_an_approved_tool_runs(self) -> None:
        person = self.person(lambda record: ALLOW)
        result = self.agent(ONE, Permissions("refund")).invoke(SAID, THREAD)
        self.assertEqual((result["messages"][-1].text, self.ran), ("refunded 7", [7]))
        asked = person.asked[0]["question"]
        self.assertEqual((asked["purpose"], arguments(person.asked[0])), ("permission", {"order": 7}))

    def test_the_model_hears_why_a_call_was_rejected(self) -> None:
        self.person(lambda record: "it was sent yesterday")
        result = self.agent(ONE, Permissions("refund")).invoke(SAID, THREAD)
        self.assertEqual(result["messages"][-1].text, "The user rejected this tool call: it was sent yesterday")
        self.assertEqual((result["messages"][-2].status, self.ran), ("error", []))

    def test_calls_of_one_message_are_open_at_once(self) -> None:
        person = self.person(lambda record: None)
        with self.beside(lambda: self.decide_both(person)):
            result = self.agent(BOTH, Permissions("refund")).invoke(SAID, THREAD)
        self.assertEqual(result["messages"][-1].text, "The user rejected this tool call: no | refunded 8")

    def test_changed_arguments_reach_the_tool(self) -> None:
        self.person(lambda record: {**ALLOW, "arguments": {"order": 8}})
        self.agent(ONE, Permissions("refund", changes=True)).invoke(SAID, THREAD)
        self.assertEqual(self.ran, [8])

    def test_what_ran_from_an_old_checkpoint_does_not_run_again(self) -> None:
        person = self.person(lambda record: ALLOW)
        agent = self.agent(ONE, Permissions("refund"))
        agent.invoke(SAID, THREAD)
        old = next(state.config for state in agent.get_state_history(THREAD) if state.next == ("tools",))
        result = agent.invoke(None, old)
        self.assertIn("approved and begun before", result["messages"][-1].text)
        self.assertEqual((self.ran, len(person.asked)), ([7], 1))

    def test_an_agent_without_a_thread_asks(self) -> None:
        person = self.person(lambda record: ALLOW)
        agent = self.agent(ONE, Permissions("refund"))
        agent.checkpointer = None
        agent.invoke(SAID)
        self.assertEqual((self.ran, len(person.asked)), ([7], 1))

    def test_a_process_that_is_killed_and_runs_again_asks_once(self) -> None:
        self.assertEqual(self.run_twice("with_langchain.py", ALLOW), "refunded order 7\n")


class MiddlewareOfCoroutines(Shop, unittest.IsolatedAsyncioTestCase):
    async def test_calls_of_one_message_are_open_at_once(self) -> None:
        person = self.person(lambda record: None)
        with self.beside(lambda: self.decide_both(person)):
            result = await self.agent(BOTH, Permissions("refund")).ainvoke(SAID, THREAD)
        self.assertEqual(result["messages"][-1].text, "The user rejected this tool call: no | refunded 8")


class HumanInTheLoop(Shop):
    def both_modes(self, calls: list[Any], on: Any) -> Any:
        for mode in ("batched", "per_call"):
            with self.subTest(mode):
                config = {"configurable": {"thread_id": mode}}
                yield self.agent(calls, HumanInTheLoopMiddleware(on, interrupt_mode=mode)), config

    def test_each_call_is_decided(self) -> None:
        for agent, config in self.both_modes(BOTH, {"refund": True}):
            person = self.person(lambda record: None)
            with self.beside(lambda: self.decide_both(person)):
                result = run(agent, SAID, config)
            self.assertEqual(
                result["messages"][-1].text, "User rejected the tool call for `refund` with reason: no | refunded 8"
            )

    def test_changed_arguments_reach_the_tool(self) -> None:
        self.person(lambda record: {**ALLOW, "arguments": {"order": 9}})
        for agent, config in self.both_modes(ONE, {"refund": True}):
            run(agent, SAID, config)
            self.assertEqual(self.ran, [9])

    def test_a_call_that_cannot_be_changed(self) -> None:
        self.person(lambda record: ALLOW)
        for agent, config in self.both_modes(ONE, {"refund": {"allowed_decisions": ["approve", "reject"]}}):
            run(agent, SAID, config)
            self.assertEqual(self.ran, [7])

    def test_the_words_of_the_person_are_the_result(self) -> None:
        person = self.person(lambda record: one("blue"))
        calls = [call("ask_user", "call-1", question="Which colour?")]
        on = {"ask_user": {"allowed_decisions": ["respond"], "description": "The agent asks"}}
        for agent, config in self.both_modes(calls, on):
            self.assertEqual(run(agent, SAID, config)["messages"][-1].text, "blue")
        self.assertIn("Which colour?", text(person.asked[0]))

    def test_a_rejection_that_the_agent_does_not_allow_is_raised(self) -> None:
        self.person(lambda record: "no")
        for agent, config in self.both_modes(ONE, {"refund": {"allowed_decisions": ["approve"]}}):
            with self.assertRaises(askbridge.Rejected):
                run(agent, SAID, config)
            self.assertEqual(self.ran, [])


class HumanInTheLoopOfCoroutines(Shop, unittest.IsolatedAsyncioTestCase):
    async def test_each_call_is_decided(self) -> None:
        person = self.person(lambda record: None)
        agent = self.agent(BOTH, HumanInTheLoopMiddleware({"refund": True}, interrupt_mode="per_call"))
        with self.beside(lambda: self.decide_both(person)):
            result = await arun(agent, SAID, THREAD)
        self.assertIn("refunded 8", result["messages"][-1].text)


if __name__ == "__main__":
    unittest.main()
