"""The adapter of LangGraph, against the real one."""

from __future__ import annotations

import operator
import os
import signal
import sys
import unittest
from typing import Annotated, Any, TypedDict

import askbridge
from askbridge.adapters.langgraph import arun, run
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Send, interrupt
from person import PATIENCE, Case, one, text
from pydantic import BaseModel, field_validator

THREAD = {"configurable": {"thread_id": "42"}}


class State(TypedDict):
    answers: Annotated[list[Any], operator.add]


def graph(*nodes: Any, **compile: Any) -> Any:
    """A graph of parallel nodes."""
    builder = StateGraph(State)
    for node in nodes:
        builder.add_node(node.__name__, node)
        builder.add_edge(START, node.__name__)
    return builder.compile(checkpointer=InMemorySaver(), **compile)


class LangGraph(Case):
    def test_an_interrupt_is_asked_and_the_graph_goes_on(self) -> None:
        def name(state: State) -> Any:
            return {"answers": [interrupt("Which name?")]}

        person = self.person(lambda record: one("Maya"))
        self.assertEqual(run(graph(name), {"answers": []}, THREAD), {"answers": ["Maya"]})
        self.assertEqual([text(record) for record in person.asked], ["Which name?"])
        self.assertEqual(person.asked[0]["question"]["sessionId"], "42")

    def test_parallel_interrupts_are_open_at_once_and_each_gets_its_answer(self) -> None:
        def ask(state: Any) -> Any:
            return {"answers": [(state["of"], interrupt({"question": "How many?", "of": state["of"]}))]}

        builder = StateGraph(State)
        builder.add_node("ask", ask)
        builder.add_conditional_edges(START, lambda state: [Send("ask", {"of": of}) for of in ("bees", "ants", "cats")])
        many = builder.compile(checkpointer=InMemorySaver())
        person = self.person(lambda record: None)

        def answer_all() -> None:
            for record in reversed(person.wait_for(3)):
                self.inbox.answer(record, one(f"{text(record)[-4:]}!"))

        with self.beside(answer_all):
            answers = run(many, {"answers": []}, THREAD)["answers"]
        self.assertEqual(
            [list(answer) for answer in answers], [["bees", "bees!"], ["ants", "ants!"], ["cats", "cats!"]]
        )

    def test_two_interrupts_of_one_node_are_asked_in_turn(self) -> None:
        def twice(state: State) -> Any:
            return {"answers": [interrupt("First?"), interrupt("Second?")]}

        person = self.person(lambda record: one(text(record).lower()))
        self.assertEqual(run(graph(twice), {"answers": []}, THREAD)["answers"], ["first?", "second?"])
        self.assertEqual(len(person.asked), 2)

    def test_a_rejection_is_raised_and_the_thread_stays_where_it_is(self) -> None:
        def go(state: State) -> Any:
            return {"answers": [interrupt("Go?")]}

        person = self.person(lambda record: "not today")
        waits = graph(go)
        for _ in range(2):
            with self.assertRaises(askbridge.Rejected) as raised:
                run(waits, {"answers": []}, THREAD)
            self.assertEqual(raised.exception.remark, "not today")
        self.assertEqual(waits.get_state(THREAD).next, ("go",))
        self.assertEqual(len(person.asked), 1)
        gone_on = run(waits, None, THREAD, rejected=lambda interrupt, rejected: rejected.remark)
        self.assertEqual(gone_on, {"answers": ["not today"]})

    def test_a_process_that_is_killed_and_runs_again_asks_once(self) -> None:
        person = self.person(lambda record: None)
        program = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "with_langgraph.py")
        first = self.inbox.python(program)
        record = person.wait_for(1)[0]
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=PATIENCE)
        self.inbox.kill()
        self.inbox.start()
        person = self.person(lambda again: one("a short one") if again["id"] == record["id"] else None)
        second = self.inbox.python(program)
        said, _ = second.communicate(timeout=PATIENCE)
        self.assertEqual(second.returncode, 0)
        self.assertIn("a short one", said)
        self.assertEqual([again["id"] for again in person.asked], [record["id"]])

    def test_an_old_checkpoint_asks_anew(self) -> None:
        def go(state: State) -> Any:
            return {"answers": [interrupt("Go?")]}

        person = self.person(lambda record: one(f"answer {len(person.asked)}"))
        twice = graph(go)
        run(twice, {"answers": []}, THREAD)
        old = next(state.config for state in twice.get_state_history(THREAD) if state.next == ("go",))
        self.assertEqual(run(twice, None, old), {"answers": ["answer 2"]})

    def test_what_would_hide_an_interrupt_is_refused(self) -> None:
        def idle(state: State) -> Any:
            return {}

        with self.assertRaisesRegex(ValueError, "thread_id"):
            run(graph(idle), {"answers": []}, {})
        with self.assertRaisesRegex(ValueError, "stream_mode"):
            run(graph(idle), {"answers": []}, THREAD, stream_mode="updates")


class Asynchronous(Case, unittest.IsolatedAsyncioTestCase):
    async def test_parallel_interrupts_of_coroutines(self) -> None:
        async def left(state: State) -> Any:
            return {"answers": [interrupt("Left?")]}

        async def right(state: State) -> Any:
            return {"answers": [interrupt("Right?")]}

        self.person(lambda record: one(text(record)))
        self.assertEqual(await arun(graph(left, right), {"answers": []}, THREAD), {"answers": ["Left?", "Right?"]})


class Schemas(Case):
    def test_an_answer_fits_the_schema_of_its_interrupt(self) -> None:
        class Trip(BaseModel):
            days: int
            train: bool

        def plan(state: State) -> Any:
            return {"answers": [interrupt("Which trip?", response_schema=Trip)]}

        self.person(lambda record: {"days": 3, "train": True})
        self.assertEqual(run(graph(plan), {"answers": []}, THREAD), {"answers": [Trip(days=3, train=True)]})

    def test_what_the_graph_refuses_is_asked_again(self) -> None:
        class Even(BaseModel):
            number: int

            @field_validator("number")
            @classmethod
            def even(cls, number: int) -> int:
                if number % 2:
                    raise ValueError("it is odd")
                return number

        def pick(state: State) -> Any:
            return {"answers": [interrupt("Which number?", response_schema=Even)]}

        person = self.person(lambda record: {"number": 4 if "it is odd" in text(record) else 3})
        self.assertEqual(run(graph(pick), {"answers": []}, THREAD), {"answers": [Even(number=4)]})
        self.assertEqual(len(person.asked), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--failfast", *sys.argv[1:]])
