"""Answers the `@human_feedback` of a flow of CrewAI from the inbox, and asks before tools of a crew run.

Tried with crewai 1.15.30. Pause in each method, and let `run` go on with the answers:

    class Review(Flow):
        @start()
        @human_feedback(message="Publish it?", emit=["approved", "rejected"], llm=AS_CHOSEN, provider=PAUSE)
        def draft(self): ...

    result = run(Review, flow_id="text-1")

`llm=AS_CHOSEN` takes the outcome that the person chose. CrewAI itself gives each answer to a model, also one that is
the name of an outcome, and takes what the model says. A process that dies while its person thinks, and runs again, gets
the same questions and their answers: CrewAI keeps the flow in its SQLite, or in the `persistence` of yours.

    with Permissions("refund"):
        crew.kickoff()

asks before each call of these tools, while the crew waits.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, get_args

import askbridge
from crewai.flow.async_feedback import HumanFeedbackPending, PendingFeedbackContext
from crewai.flow.flow import Flow
from crewai.flow.persistence import FlowPersistence, SQLiteFlowPersistence
from crewai.hooks.tool_hooks import (
    ToolCallHookContext,
    register_after_tool_call_hook,
    register_before_tool_call_hook,
    unregister_after_tool_call_hook,
    unregister_before_tool_call_hook,
)
from crewai.llms.base_llm import BaseLLM
from crewai.utilities.i18n import I18N_DEFAULT

from ._shared import about as described
from ._shared import denied, key, plain, report_now


class Pause:
    """Ends the run where it asks. The question is asked once CrewAI has kept the flow."""

    def request_feedback(self, context: PendingFeedbackContext, flow: Flow[Any]) -> str:
        raise HumanFeedbackPending(context=context)


class AsChosen(BaseLLM):
    """Stands in for the model that reads an outcome out of an answer: the outcome is the answer's first line."""

    def __init__(self) -> None:
        super().__init__(model="askbridge/as-chosen")

    def call(self, messages: Any, *given: Any, response_model: Any = None, **more: Any) -> str:
        outcomes = get_args(response_model.model_fields["outcome"].annotation)
        asked = I18N_DEFAULT.slice("human_feedback_collapse").format(feedback="\0", outcomes=", ".join(outcomes))
        before, after = asked.split("\0")
        chosen = messages[0]["content"].removeprefix(before).removesuffix(after).split("\n")[0]
        if chosen not in outcomes:
            raise ValueError(f"{chosen!r} is none of {', '.join(outcomes)}")
        return str(response_model(outcome=chosen).model_dump_json())


PAUSE = Pause()
AS_CHOSEN = AsChosen()


def question(context: PendingFeedbackContext) -> dict[str, Any]:
    """Returns what `askbridge.start` gets: the message, what is to be judged, and the outcomes, if there are some."""
    message = f"{context.message}\n\n{plain(context.method_output)}"
    comment = {"name": "comment", "label": "Comment", "kind": "text", "multiline": True}
    if not context.emit:
        return {"message": message, "fields": [{**comment, "label": "Feedback"}]}
    options = [{"value": outcome, "label": outcome} for outcome in context.emit]
    return {
        "message": message,
        "fields": [
            {"name": "outcome", "label": "Outcome", "kind": "choice", "required": True, "options": options},
            comment,
        ],
    }


def run(
    flow: type[Flow[Any]],
    *,
    flow_id: str,
    inputs: Optional[Mapping[str, Any]] = None,
    persistence: Optional[FlowPersistence] = None,
    about: Optional[Mapping[str, Any]] = None,
) -> Any:
    """Runs a flow until it waits for nobody, and returns what `kickoff` returns.

    A flow that is paused goes on where it is, and `inputs` count as what it began with. A person who rejects raises
    `askbridge.Rejected`, and leaves the flow paused: to judge is to choose one of its outcomes.
    """
    persistence = persistence or SQLiteFlowPersistence()
    result = None
    if persistence.load_pending_feedback(flow_id) is None:
        result = flow(persistence=persistence).kickoff(inputs={**(inputs or {}), "id": flow_id})
    while pending := persistence.load_pending_feedback(flow_id):
        _, context = pending
        asked = described(about, agent=flow.__name__, session=flow_id)
        named = key("crewai", flow_id, context.method_name, context.requested_at.isoformat())
        values = askbridge.start(**question(context), **asked, key=named).wait()
        resumed = flow.from_pending(flow_id, persistence)
        if values.get("outcome") and resumed._pending_feedback_context:
            # CrewAI makes a model of what it kept, and cannot make this one.
            resumed._pending_feedback_context.llm = AS_CHOSEN  # type: ignore[assignment]
        result = resumed.resume("\n".join(filter(None, [values.get("outcome"), values.get("comment")])))
    return result


class Permissions:
    """Asks before each call of these tools, of all crews and agents of this process, while it is entered.

    about: what all permissions say: `agent`, `project`, `session`, `timeout`.
    """

    def __init__(self, *tools: str, about: Optional[Mapping[str, Any]] = None) -> None:
        self.tools = frozenset(tools)
        self.about = about
        #: What was decided about the calls that run, or why they do not, by the IDs of their inputs, which live as long.
        self.calls: dict[int, tuple[Any, Any]] = {}

    def __enter__(self) -> Permissions:
        register_before_tool_call_hook(self.before)
        register_after_tool_call_hook(self.after)
        return self

    def __exit__(self, *error: object) -> None:
        unregister_before_tool_call_hook(self.before)
        unregister_after_tool_call_hook(self.after)

    def before(self, context: ToolCallHookContext) -> Optional[bool]:
        """Returns False where the call must not run."""
        if context.tool_name not in self.tools:
            return None
        try:
            asked = described(self.about, agent=getattr(context.agent, "role", None))
            decision = askbridge.permission(context.tool_name, dict(context.tool_input), **asked)
            if decision:
                decision.consume()
            outcome: Any = decision if decision else denied(decision)
        except Exception as error:
            # CrewAI runs a tool whose hook fails.
            outcome = f"This tool call was not allowed, since nobody could be asked: {error}"
        self.calls[id(context.tool_input)] = (context.tool_input, outcome)
        return None if isinstance(outcome, askbridge.Decision) else False

    def after(self, context: ToolCallHookContext) -> Optional[str]:
        """Returns what the model hears in place of the result."""
        _, outcome = self.calls.pop(id(context.tool_input), (None, None))
        if isinstance(outcome, askbridge.Decision):
            report_now(outcome, True)
            return None
        return outcome if isinstance(outcome, str) else None
