"""Decides the deferred tool calls of an agent of Pydantic AI in the inbox: approvals, and questions to the user.

Tried with pydantic-ai-slim 2.68.0. Where the process stays alive, a capability is enough:

    agent = Agent(model, capabilities=[Asking()])

Where it may die while its person thinks, give `run` a store, and end the agent's `output_type` with
`DeferredToolRequests`: a process that runs again gets the same questions and their answers.

    result = await run(agent, "Refund order 7", conversation_id="order-7", store=store)

In both, an approval is spent right before its tool runs, once, and the journal gets what came of it.
"""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Mapping, Optional, Sequence

import askbridge
from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationStore
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import (
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
)

from ._shared import about as described
from ._shared import denied, key, report, spread, why_not

#: The arguments of a tool that asks, which hold the question.
ASKS = ("question", "message", "prompt")


class Spending(AbstractCapability[Any]):
    """Asks what a run waits for, when it is told to, and spends each approval right before its tool runs."""

    def __init__(self, *, changes: bool = False, about: Optional[Mapping[str, Any]] = None) -> None:
        self.changes = changes
        self.about = about
        #: What was decided about the calls that are about to run, by their IDs.
        self.decisions: dict[str, askbridge.Decision] = {}

    @classmethod
    def get_serialization_name(cls) -> Optional[str]:
        return None

    async def answer(
        self,
        requests: DeferredToolRequests,
        conversation_id: str,
        messages: Sequence[ModelMessage],
        *,
        agent: Optional[str] = None,
        schemas: Mapping[str, Any] = {},
    ) -> DeferredToolResults:
        """Asks for all approvals and answers of some requests at once, and returns what was decided."""
        # Some models number their calls anew in each response. The time of the response is stored with it.
        response = next((one for one in reversed(messages) if isinstance(one, ModelResponse)), None)
        said = response.timestamp.isoformat() if response else len(messages)
        about = described(self.about, agent=agent, session=conversation_id)
        questions = [call for call in requests.calls if requests.kind(call.tool_call_id) == "question"]

        def named(call: ToolCallPart) -> str:
            return key("pydantic-ai", conversation_id, said, call.tool_call_id)

        async def permitted(call: ToolCallPart) -> Any:
            description = spread(requests.metadata.get(call.tool_call_id, {}), ASKS)
            asked = dict(about, key=named(call), description=description or None, changes=self.changes)
            if self.changes:
                asked["schema"] = schemas.get(call.tool_name)
            decision = await askbridge.permission_async(call.tool_name, call.args_as_dict(), **asked)
            if not decision:
                return ToolDenied(denied(decision))
            self.decisions[call.tool_call_id] = decision
            return ToolApproved(override_args=decision.arguments if decision.changed else None)

        async def answered(call: ToolCallPart) -> Any:
            asked = {name: about[name] for name in about if name != "grant"}
            try:
                return await askbridge.ask_async(**question(call), **asked, key=named(call))
            except askbridge.Rejected as rejected:
                return ToolFailed(f"The user gave no answer: {rejected.remark or rejected.reason}")

        approvals, answers = await asyncio.gather(
            asyncio.gather(*map(permitted, requests.approvals)), asyncio.gather(*map(answered, questions))
        )
        return requests.build_results(
            approvals={call.tool_call_id: one for call, one in zip(requests.approvals, approvals)},
            calls={call.tool_call_id: one for call, one in zip(questions, answers)},
        )

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        decision = self.decisions.pop(call.tool_call_id, None) if ctx.tool_call_approved else None
        if decision is None:
            return await handler(args)
        try:
            await decision.consume_async()
        except askbridge.Refused as refused:
            raise ToolFailed(why_not(refused)) from refused
        try:
            result = await handler(args)
        except (ApprovalRequired, CallDeferred):
            raise  # It waits, and has not come to its end.
        except Exception as error:
            await report(decision, False, str(error))
            raise
        await report(decision, True)
        return result


class Asking(Spending):
    """Asks while the run waits: for approvals, and the questions of `CallDeferred(kind="question")`.

    changes: the person may change the arguments of a call, as its schema allows.
    about: what all questions say: `agent`, `project`, `timeout`; for permissions also `grant`.
    """

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> Optional[DeferredToolResults]:
        schemas = {name: tool.parameters_json_schema for name, tool in ctx.tools.items()}
        agent = ctx.agent.name if ctx.agent else None
        return await self.answer(requests, str(ctx.conversation_id), ctx.messages, agent=agent, schemas=schemas)


def question(call: ToolCallPart) -> dict[str, Any]:
    """Returns what `askbridge.ask` is to ask for a question of the model: its text, and `options` that are texts."""
    arguments = call.args_as_dict()
    options = arguments.get("options")
    if isinstance(options, list) and options and all(isinstance(option, str) for option in options):
        arguments.pop("options")
        return {"message": spread(arguments, ASKS), "options": options}
    return {"message": spread(arguments, ASKS) or f"{call.tool_name} asks for an answer."}


async def run(
    agent: Agent[Any, Any],
    user_prompt: Any,
    *,
    conversation_id: str,
    store: ConversationStore,
    changes: bool = False,
    about: Optional[Mapping[str, Any]] = None,
    external: Optional[Callable[[ToolCallPart], Awaitable[Any]]] = None,
    **options: Any,
) -> AgentRunResult[Any]:
    """Runs an agent until it waits for nobody, and saves the conversation before each question and at the end.

    A conversation that is paused goes on where it is, and `user_prompt` counts as what it was paused with.

    external: returns the result of a call that is run elsewhere (`CallDeferred`). `options` go to `agent.run`.
    `changes` and `about` are as those of `Asking`.
    """
    spending = Spending(changes=changes, about=about)
    options["capabilities"] = [*(options.get("capabilities") or ()), spending]
    conversation = await store.load(conversation_id) or Conversation(conversation_id=conversation_id)
    prompt, results = user_prompt, None
    while True:
        if requests := conversation.deferred_tool_requests:
            results = await spending.answer(requests, conversation_id, conversation.messages, agent=agent.name)
            results.calls.update(await _elsewhere(requests, external))
            prompt = None
        result = await agent.run(prompt, conversation=conversation, deferred_tool_results=results, **options)
        await store.save(result)
        conversation = result.conversation
        if conversation.deferred_tool_requests is None:
            return result


async def _elsewhere(
    requests: DeferredToolRequests, external: Optional[Callable[[ToolCallPart], Awaitable[Any]]]
) -> dict[str, Any]:
    calls = [call for call in requests.calls if requests.kind(call.tool_call_id) == "external"]
    if calls and external is None:
        raise ValueError(f"{', '.join(call.tool_name for call in calls)}: a call runs elsewhere, so pass `external`")
    return {call.tool_call_id: await external(call) for call in calls if external}
