"""The adapter of CrewAI, against the real one."""

from __future__ import annotations

import unittest
from typing import Any

import askbridge
from askbridge.adapters.crewai import AS_CHOSEN, PAUSE, Permissions, run
from crewai import Agent, Crew, Task
from crewai.flow.flow import Flow, listen, start
from crewai.flow.human_feedback import human_feedback
from crewai.flow.persistence import SQLiteFlowPersistence
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from person import ALLOW, Case, arguments, text


class Review(Flow):
    @start()
    @human_feedback(message="Publish it?", emit=["rejected", "approved"], llm=AS_CHOSEN, provider=PAUSE)
    def draft(self) -> str:
        return "All about bees"

    @listen("approved")
    def publish(self) -> str:
        return f"published, {self.last_human_feedback.feedback!r}"

    @listen("rejected")
    @human_feedback(message="Why not?", provider=PAUSE)
    def ask_why(self) -> str:
        return "The text was rejected"

    @listen(ask_why)
    def drop(self) -> str:
        return f"dropped: {self.last_human_feedback.feedback}"


class CrewAi(Case):
    def run_flow(self, flow_id: str = "text-1") -> Any:
        store = SQLiteFlowPersistence(str(self.inbox.home / "flows.db"))
        return run(Review, flow_id=flow_id, persistence=store)

    def test_the_outcome_that_was_chosen_counts(self) -> None:
        person = self.person(lambda record: {"outcome": "approved"})
        self.assertEqual(self.run_flow(), "published, 'approved'")
        self.assertEqual(text(person.asked[0]), "Publish it?\n\nAll about bees")

    def test_a_comment_reaches_the_flow(self) -> None:
        self.person(lambda record: {"outcome": "approved", "comment": "not rejected"})
        self.assertEqual(self.run_flow(), "published, 'approved\\nnot rejected'")

    def test_two_questions_in_turn(self) -> None:
        def decide(record: dict[str, Any]) -> Any:
            return {"comment": "too long"} if "Why not?" in text(record) else {"outcome": "rejected"}

        person = self.person(decide)
        self.assertEqual(self.run_flow(), "dropped: too long")
        self.assertEqual(len(person.asked), 2)

    def test_a_rejection_leaves_the_flow_paused(self) -> None:
        person = self.person(lambda record: "ask me later")
        for _ in range(2):
            with self.assertRaises(askbridge.Rejected):
                self.run_flow()
        self.assertEqual(len(person.asked), 1)

    def test_a_process_that_is_killed_and_runs_again_asks_once(self) -> None:
        said = self.run_twice("with_crewai.py", {"outcome": "approved"})
        self.assertEqual(said.strip().split("\n")[-1], "published: All about bees")


class Stub(BaseLLM):
    """Makes a call, and then says what came of it."""

    def supports_function_calling(self) -> bool:
        return False

    def call(self, messages: Any, *given: Any, **more: Any) -> str:
        said = [one["content"] for one in messages if one["role"] == "assistant" and "Observation:" in one["content"]]
        if not said:
            return 'Thought: I refund it\nAction: refund\nAction Input: {"order": 7}'
        return f"Thought: I now can give a great answer\nFinal Answer: {said[-1].split('Observation:')[-1].strip()}"


class Tools(Case):
    def refund(self, **about: Any) -> str:
        self.ran: list[int] = []

        @tool("refund")
        def refund(order: int) -> str:
            """Refunds an order."""
            self.ran.append(order)
            return f"refunded {order}"

        clerk = Agent(role="clerk", goal="Refund", backstory="A clerk", llm=Stub(model="stub"), tools=[refund])
        task = Task(description="Refund 7", expected_output="What came of it", agent=clerk)
        with Permissions("refund", about=about):
            return str(Crew(agents=[clerk], tasks=[task]).kickoff())

    def test_an_approved_tool_runs(self) -> None:
        person = self.person(lambda record: ALLOW)
        self.assertIn("refunded 7", self.refund())
        self.assertEqual(
            (self.ran, person.asked[0]["question"]["agent"], arguments(person.asked[0])), ([7], "clerk", {"order": 7})
        )

    def test_the_model_hears_why_a_call_was_rejected(self) -> None:
        self.person(lambda record: "it was sent yesterday")
        self.assertIn("The user rejected this tool call: it was sent yesterday", self.refund())
        self.assertEqual(self.ran, [])

    def test_a_tool_does_not_run_where_nobody_can_be_asked(self) -> None:
        self.assertIn("nobody could be asked", self.refund(timeout=-1))
        self.assertEqual(self.ran, [])


if __name__ == "__main__":
    unittest.main()
