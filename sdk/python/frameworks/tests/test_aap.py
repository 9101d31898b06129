"""The Agent Approval Protocol of the inbox, by the protocol's own client, gates and LangGraph middleware, unchanged."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from agentapprovalprotocol import Allow, AsyncClient, AsyncGate, Call, Client, Deny, Gate, Pending
from agentapprovalprotocol.langgraph import ApprovalMiddleware
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from person import ALLOW, Case
from stub_langchain import Stub, call

THREAD: Any = {"configurable": {"thread_id": "42"}}
SAID: Any = {"messages": [("user", "Refund it")]}


def refund(key: str, **arguments: Any) -> Call:
    return Call(key=key, tool="refund", server="shop", arguments=arguments, reasoning="It came broken.")


class Aap(Case):
    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.inbox.port}/aap"

    @property
    def token(self) -> str:
        return (self.inbox.home / "askbridge" / "token").read_text().strip()

    def gate(self, **options: Any) -> Gate:
        client = Client(self.base, self.token, retry_budget=20)
        self.addCleanup(client.close)
        return Gate(client, **options)

    def history(self) -> list[Any]:
        return [past["record"] for past in self.inbox.call("GET", "/v1/history")["questions"]]

    def test_the_gate_allows_once_and_reports(self) -> None:
        person = self.person(lambda record: ALLOW)
        gate = self.gate()
        one = refund("c1", order=7, share=0.1)
        with gate.guard(one) as verdict:
            self.assertIsInstance(verdict, Allow, verdict)
        again = gate.check(one)
        self.assertIsInstance(again, Deny)
        self.assertEqual(again.status, "consumed")
        asked = person.asked[0]["question"]
        self.assertEqual(asked["message"], "refund, of the MCP server shop")
        self.assertEqual(asked["subject"]["description"], "It came broken.")
        self.assertEqual(self.history()[0]["use"]["report"], {"status": "succeeded"})

    def test_a_rejection_says_why_and_what_nobody_decides_expires(self) -> None:
        self.person(
            lambda record: "it was sent yesterday" if "c1" in record["question"]["subject"]["content"] else None
        )
        denied = self.gate().check(refund("c1"))
        self.assertIsInstance(denied, Deny)
        self.assertIn("it was sent yesterday", denied.reason)
        expired = self.gate(timeout="1s").check(refund("c2"))
        self.assertEqual((type(expired), expired.status), (Deny, "expired"))

    def test_a_gate_that_pauses_goes_on_in_another_process_of_the_inbox(self) -> None:
        person = self.person(lambda record: None)

        async def check() -> Any:
            client = AsyncClient(self.base, self.token, retry_budget=20)
            try:
                return await AsyncGate(client, mode="async").check(refund("c1", order=7))
            finally:
                await client.aclose()

        self.assertIsInstance(asyncio.run(check()), Pending)
        record = person.wait_for(1)[0]
        self.inbox.kill()
        self.inbox.start()
        self.assertIsInstance(asyncio.run(check()), Pending)
        self.inbox.answer(record, ALLOW)
        self.assertIsInstance(asyncio.run(check()), Allow)
        self.assertEqual(asyncio.run(check()).status, "consumed")

    def test_a_wrong_token_and_changed_arguments_deny(self) -> None:
        gate = Gate(Client(self.base, "wrong", retry_budget=1))
        refused = gate.check(refund("c1"))
        self.assertEqual((type(refused), refused.status), (Deny, "error"))
        # More digits than the digest of an action keeps: nothing is asked, and nothing runs.
        self.assertIsInstance(self.gate().check(refund("c2", order=9_007_199_254_740_993)), Deny)
        self.assertEqual(self.inbox.call("GET", "/v1/questions")["questions"], [])

    def agent(self, mode: str) -> Any:
        self.ran: list[int] = []

        @tool
        def refund(order: int) -> str:
            """Refunds an order."""
            self.ran.append(order)
            return f"refunded {order}"

        middleware: Any = ApprovalMiddleware(self.base, self.token, mode=mode)
        stub = Stub(calls=[call("refund", "call-1", order=7)])
        return create_agent(stub, [refund], middleware=[middleware], checkpointer=InMemorySaver())

    def test_the_middleware_runs_what_is_approved(self) -> None:
        self.person(lambda record: ALLOW)
        result = self.agent("sync").invoke(SAID, THREAD)
        self.assertEqual((result["messages"][-1].text, self.ran), ("refunded 7", [7]))

    def test_the_middleware_pauses_and_a_forged_resume_approves_nothing(self) -> None:
        person = self.person(lambda record: None)
        agent = self.agent("async")
        self.assertIn("__interrupt__", agent.invoke(SAID, THREAD))
        record = person.wait_for(1)[0]
        self.assertIn("__interrupt__", agent.invoke(Command(resume="approved"), THREAD))
        self.assertEqual(self.ran, [])
        self.inbox.answer(record, ALLOW)
        result = agent.invoke(Command(resume=True), THREAD)
        self.assertEqual((result["messages"][-1].text, self.ran), ("refunded 7", [7]))


if __name__ == "__main__":
    unittest.main()
