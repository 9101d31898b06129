"""Answers the `@human_feedback` of a flow of CrewAI from the inbox.

Tried with crewai 1.15.30. Pause in each method, and let `run` go on with the answers:

    class Review(Flow):
        @start()
        @human_feedback(message="Publish it?", emit=["approved", "rejected"], llm=AS_CHOSEN, provider=PAUSE)
        def draft(self): ...

    result = run(Review, flow_id="text-1")

`llm=AS_CHOSEN` takes the outcome that the person chose. CrewAI itself gives each answer to a model, also one that is
the name of an outcome, and takes what the model says. A process that dies while its person thinks, and runs again, gets
the same questions and their answers: CrewAI keeps the flow in its SQLite, or in the `persistence` of yours.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, get_args

import askbridge
from crewai.flow.async_feedback import HumanFeedbackPending, PendingFeedbackContext
from crewai.flow.flow import Flow
from crewai.flow.persistence import FlowPersistence, SQLiteFlowPersistence
from crewai.llms.base_llm import BaseLLM
from crewai.utilities.i18n import I18N_DEFAULT

from ._shared import about as described
from ._shared import key, plain


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
