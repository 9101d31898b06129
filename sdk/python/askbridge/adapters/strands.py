"""Answers the interrupts of an agent of Strands in the inbox, and asks before its tools run.

Tried with strands-agents 1.62.0:

    asking = Asking("refund", "delete")                         # the tools to ask for
    agent = Agent(tools=[...], interventions=[asking], session_manager=sessions)
    result = await asking.run(agent, "Refund order 7", name="order-7")

An approval is spent right before its tool runs, once. With a session manager that outlives the process, one that dies
while its person thinks, and runs again, gets the same questions and their answers.
"""

from __future__ import annotations

import uuid
from typing import Any, Callable, Mapping, Optional

import askbridge
from strands import Agent
from strands.agent import AgentResult
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.interrupt import Interrupt
from strands.interventions import Deny, InterventionHandler, Proceed, Transform

from ._shared import about as described
from ._shared import denied, key, plain, report, spread, why_not

#: The members of an interrupt's reason that ask.
ASKS = ("question", "message", "prompt", "reason")
#: Where the state of an agent, which its session keeps, has a name of its own.
RUN = "askbridge:run"
#: The interrupts of the framework's own `HumanInTheLoop`, whose reason is a text such as `Approve "refund"?`.
OWN = "strands:human-in-the-loop"


def question(interrupt: Interrupt) -> dict[str, Any]:
    """Returns what `askbridge.ask` is to ask for an interrupt of a tool or a hook: its reason, or else its name."""
    reason = interrupt.reason
    message = spread(reason, ASKS) if isinstance(reason, Mapping) else "" if reason is None else plain(reason)
    return {"message": message or interrupt.name}


def is_unfinished(agent: Agent) -> bool:
    """Says whether the model has not yet answered what is there, as after the end of a process."""
    last = agent.messages[-1] if agent.messages else None
    return last is not None and (last["role"] == "user" or any("toolUse" in part for part in last["content"]))


class Asking(InterventionHandler):
    """Interrupts the agent before each call of these tools, and answers all interrupts of its `run`.

    changes: the person may change the arguments of a call, as its schema allows.
    question: what `askbridge.ask` gets for an interrupt of a tool or a hook, such as one with `options` or a `schema`.
    about: what all questions say: `agent`, `project`, `timeout`; for permissions also `grant`.
    """

    name = "askbridge"

    def __init__(
        self,
        *tools: str,
        changes: bool = False,
        question: Callable[[Interrupt], Mapping[str, Any]] = question,
        about: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.tools = frozenset(tools)
        self.changes = changes
        self.question = question
        self.about = about
        #: What was decided, by the IDs of the permissions, and about the calls that run, by theirs.
        self.decisions: dict[str, askbridge.Decision] = {}
        self.running: dict[str, askbridge.Decision] = {}

    async def run(self, agent: Agent, prompt: Any, *, name: str, **options: Any) -> AgentResult:
        """Runs an agent until it waits for nobody.

        An agent that its session manager restored in the middle of its work goes on, and `prompt` counts as what it
        began with. `name` names the conversation: the same one in each process. `options` go to `agent.invoke_async`.
        """
        state = agent.take_snapshot(include=["interrupt_state"]).data["interrupt_state"]
        open = [Interrupt(**one) for one in state["interrupts"].values()] if state["activated"] else []
        if not agent.state.get(RUN):
            agent.state.set(RUN, str(uuid.uuid4()))
        if is_unfinished(agent):
            prompt = []  # It adds no message.
        while True:
            if open:
                prompt = await self._answers(agent, open, name)
            result = await agent.invoke_async(prompt, **options)
            open = list(result.interrupts or ()) if result.stop_reason == "interrupt" else []
            if not open:
                return result

    async def before_tool_call(self, event: BeforeToolCallEvent, **kwargs: Any) -> Any:
        call = event.tool_use
        if call["name"] not in self.tools:
            return Proceed()
        reason = {"tool": call["name"], "arguments": call["input"]}
        if self.changes and event.selected_tool:
            reason["schema"] = event.selected_tool.tool_spec["inputSchema"].get("json")
        # The first time, this ends the run. After the answer it comes here again, and gets it.
        decision = self.decisions.pop(event.interrupt(self.name, reason=reason)["decision"], None)
        if decision is None:
            return Deny(reason="It was answered elsewhere: run the agent by `Asking.run`.")
        if not decision:
            return Deny(reason=denied(decision))
        try:
            arguments = await decision.consume_async()
        except askbridge.Refused as refused:
            return Deny(reason=why_not(refused))
        self.running[call["toolUseId"]] = decision
        if decision.changed:
            changed = {**call, "input": arguments}
            return Transform(apply=lambda event: setattr(event, "tool_use", changed))
        return Proceed()

    async def after_tool_call(self, event: AfterToolCallEvent, **kwargs: Any) -> Any:
        if decision := self.running.pop(event.tool_use["toolUseId"], None):
            await report(decision, event.result.get("status") != "error")
        return Proceed()

    async def _answers(self, agent: Agent, open: list[Interrupt], name: str) -> list[dict[str, Any]]:
        """Asks all at once, and returns the answers."""
        about = described(self.about, agent=agent.name, session=name)
        # Some models number their calls anew: what is asked is of this agent, at this place.
        run = agent.state.get(RUN)
        begun = []
        for one in open:
            begun.append(
                await self._begin(one, {**about, "key": key("strands", name, run, len(agent.messages), one.id)})
            )
        answers = []
        for interrupt, pending in zip(open, begun):
            outcome = await pending.wait_async()
            if isinstance(outcome, askbridge.Decision):
                self.decisions[outcome.id] = outcome
                outcome = outcome.allowed if interrupt.name == OWN else {"decision": outcome.id}
            if outcome is None:
                raise ValueError(f"{interrupt.name}: Strands takes null for no answer: use a schema without it")
            answers.append({"interruptResponse": {"interruptId": interrupt.id, "response": outcome}})
        return answers

    async def _begin(self, interrupt: Interrupt, asked: dict[str, Any]) -> askbridge.Pending:
        reason = interrupt.reason
        if interrupt.name == OWN:
            return await askbridge.start_permission_async(title=str(reason), **asked)
        if interrupt.name == self.name and isinstance(reason, dict) and "tool" in reason:
            if self.changes:
                asked.update(changes=True, schema=reason.get("schema"))
            return await askbridge.start_permission_async(reason["tool"], reason["arguments"], **asked)
        asked.pop("grant", None)
        return await askbridge.start_async(**{**asked, **self.question(interrupt)})
