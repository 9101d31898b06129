"""Answers the interrupts of a graph of LangGraph from the inbox, and resumes the graph with the answers.

Tried with langgraph 1.2.24. The graph needs a checkpointer, and the configuration a `thread_id`:

    result = run(graph, {"topic": "bees"}, {"configurable": {"thread_id": "42"}})

The interrupts of parallel nodes are asked at once. A process that dies while its person thinks, and runs again with a
checkpointer that outlives it, gets the same questions and their answers: each has a key of thread and interrupt.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

import askbridge
from langgraph.errors import is_invalid_resume
from langgraph.types import Command, Interrupt
from pydantic import ValidationError

from ._shared import about as described
from ._shared import key, plain, spread

#: The members of an interrupt's value that ask, as the documentation of LangGraph names them.
ASKS = ("question", "message", "instruction", "task")


def question(interrupt: Interrupt) -> dict[str, Any]:
    """Returns what `askbridge.ask` is to ask for an interrupt: its text, or its members, and its `response_schema`."""
    value = interrupt.value
    message = spread(value, ASKS) if isinstance(value, Mapping) else plain(value)
    asked: dict[str, Any] = {"message": message or "The graph waits for an answer."}
    if interrupt.response_schema is not None:
        asked["schema"] = interrupt.response_schema
    return asked


#: Whether it is a permission, and what `askbridge.start_permission`, or `askbridge.start`, gets.
Question = tuple[bool, Mapping[str, Any]]


@dataclass(frozen=True)
class Plan:
    """The questions of one interrupt, and the value that their outcomes make: answers, decisions and rejections."""

    questions: Sequence[Question]
    value: Callable[[list[Any]], Any]


def run(
    graph: Any,
    input: Any,
    config: Mapping[str, Any],
    *,
    question: Callable[[Interrupt], Mapping[str, Any]] = question,
    rejected: Optional[Callable[[Interrupt, askbridge.Rejected], Any]] = None,
    about: Optional[Mapping[str, Any]] = None,
    **invoke: Any,
) -> Any:
    """Runs a graph until it waits for nobody, and returns what `graph.invoke` returns.

    A thread that is not finished goes on where it is, and `input` counts as what it began with: so a program that died
    does the right thing when it runs again.

    question: what `askbridge.ask` gets for an interrupt, such as `{"message": "Sure?", "options": ["yes", "no"]}`.
    rejected: the value to resume with where the person gives no answer. Without it, `askbridge.Rejected` is raised, and
        the thread stays where it is.
    about: what all questions say: `agent`, `project`, `timeout`. All else, such as `context`, is for `graph.invoke`.
    """
    return drive(graph, input, config, Thread(graph, config, planner(question, rejected), about), invoke)


async def arun(
    graph: Any,
    input: Any,
    config: Mapping[str, Any],
    *,
    question: Callable[[Interrupt], Mapping[str, Any]] = question,
    rejected: Optional[Callable[[Interrupt, askbridge.Rejected], Any]] = None,
    about: Optional[Mapping[str, Any]] = None,
    **invoke: Any,
) -> Any:
    """Does what `run` does, by `graph.ainvoke`."""
    return await adrive(graph, input, config, Thread(graph, config, planner(question, rejected), about), invoke)


def planner(
    question: Callable[[Interrupt], Mapping[str, Any]],
    rejected: Optional[Callable[[Interrupt, askbridge.Rejected], Any]],
) -> Callable[[Interrupt], Plan]:
    """Returns what plans one question for each interrupt."""

    def plan(interrupt: Interrupt) -> Plan:
        def value(answers: list[Any]) -> Any:
            if isinstance(answers[0], askbridge.Rejected):
                if rejected is None:
                    raise answers[0]
                return rejected(interrupt, answers[0])
            return answers[0]

        return Plan([(False, question(interrupt))], value)

    return plan


class Thread:
    """A thread of a graph: how its interrupts are asked, and which answers the graph refused."""

    def __init__(
        self,
        graph: Any,
        config: Mapping[str, Any],
        plan: Callable[[Interrupt], Plan],
        about: Optional[Mapping[str, Any]],
    ) -> None:
        thread = config.get("configurable", {}).get("thread_id")
        if thread is None:
            raise ValueError('the configuration needs a thread: {"configurable": {"thread_id": "42"}}')
        self.name = str(thread)
        #: Whether the run begins at an old checkpoint: then what that one asked is asked again.
        self.is_fork = "checkpoint_id" in config["configurable"]
        now = {name: value for name, value in config["configurable"].items() if name != "checkpoint_id"}
        self.config = {**config, "configurable": now}
        self.plan = plan
        self.about = described(about, agent=getattr(graph, "name", None), session=self.name)
        #: Why the graph refused an answer, by the ID of its interrupt.
        self.refused: dict[str, list[str]] = {}

    def questions(self, interrupt: Interrupt) -> Iterator[Question]:
        """Yields the questions of an interrupt.

        The key is the same whenever the node runs again, and another one after the graph has refused an answer.
        """
        refusals = self.refused.get(interrupt.id, [])
        again = [f"again-{len(refusals)}"] if refusals else []
        for place, (is_permission, one) in enumerate(self.plan(interrupt).questions):
            named = key("langgraph", self.name, interrupt.id, *([place] if place else []), *again)
            asked = {**self.about, **one, "key": named}
            if refusals:
                asked["message"] = f"The graph refused the answer: {refusals[-1]}\n\n{one.get('message', '')}"
            if not is_permission:
                asked.pop("grant", None)
            yield is_permission, asked

    def batches(self, answers: Mapping[str, Any], open: Sequence[Interrupt]) -> Iterator[dict[str, Any]]:
        """Returns which answers to resume with at once.

        An answer with a schema goes alone: the graph may refuse it, and does not say which one it refused.
        """
        together = {one.id: answers[one.id] for one in open if one.response_schema is None}
        yield from ([together] if together else [])
        yield from ({one.id: answers[one.id]} for one in open if one.response_schema is not None)

    @contextmanager
    def refusals(self, answers: Mapping[str, Any]) -> Iterator[None]:
        """Remembers an answer that the graph refuses: its interrupt is still open, and is asked again."""
        try:
            yield
        except ValidationError as error:
            if not is_invalid_resume(error) or len(answers) != 1:
                raise
            why = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}".lstrip(": ") for one in error.errors())
            for interrupt in answers:
                self.refused.setdefault(interrupt, []).append(why)


def drive(graph: Any, input: Any, config: Mapping[str, Any], thread: Thread, invoke: Mapping[str, Any]) -> Any:
    """Runs a graph, asks what it asks, and resumes it, until it asks no more."""
    state = None if thread.is_fork else graph.get_state(config)
    if state and state.interrupts:
        result = state
    else:
        result = graph.invoke(None if state and state.next else input, config, **invoke)
    while open := interrupts_of(result):
        pending = [[_begin(*one) for one in thread.questions(interrupt)] for interrupt in open]
        answers = {
            interrupt.id: thread.plan(interrupt).value([_over(one) for one in some])
            for interrupt, some in zip(open, pending)
        }
        for batch in thread.batches(answers, open):
            with thread.refusals(batch):
                result = graph.invoke(Command(resume=batch), thread.config, **invoke)
    return result


async def adrive(graph: Any, input: Any, config: Mapping[str, Any], thread: Thread, invoke: Mapping[str, Any]) -> Any:
    """Does what `drive` does."""
    state = None if thread.is_fork else await graph.aget_state(config)
    if state and state.interrupts:
        result = state
    else:
        result = await graph.ainvoke(None if state and state.next else input, config, **invoke)
    while open := interrupts_of(result):
        pending = [[await _abegin(*one) for one in thread.questions(interrupt)] for interrupt in open]
        answers = {
            interrupt.id: thread.plan(interrupt).value([await _aover(one) for one in some])
            for interrupt, some in zip(open, pending)
        }
        for batch in thread.batches(answers, open):
            with thread.refusals(batch):
                result = await graph.ainvoke(Command(resume=batch), thread.config, **invoke)
    return result


def interrupts_of(result: Any) -> Sequence[Interrupt]:
    """Returns the open interrupts of what `invoke` or `get_state` returned."""
    if isinstance(result, list):
        raise ValueError("`stream_mode` hides what the graph waits for: leave it out")
    if isinstance(result, dict):
        return list(result.get("__interrupt__", ()))
    return list(getattr(result, "interrupts", ()))


def _begin(is_permission: bool, asked: Mapping[str, Any]) -> askbridge.Pending:
    return askbridge.start_permission(**asked) if is_permission else askbridge.start(**asked)


async def _abegin(is_permission: bool, asked: Mapping[str, Any]) -> askbridge.Pending:
    return await (askbridge.start_permission_async(**asked) if is_permission else askbridge.start_async(**asked))


def _over(pending: askbridge.Pending) -> Any:
    try:
        return pending.wait()
    except askbridge.Rejected as rejected:
        return rejected


async def _aover(pending: askbridge.Pending) -> Any:
    try:
        return await pending.wait_async()
    except askbridge.Rejected as rejected:
        return rejected
