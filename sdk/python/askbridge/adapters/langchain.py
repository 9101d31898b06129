"""Lets the user decide about the tool calls of an agent of LangChain, in the inbox.

Tried with langchain 1.5.2. There are two ways. A middleware asks while the agent waits, and spends each approval right
before its tool runs, once:

    agent = create_agent(model, tools, middleware=[Permissions("refund", "delete")], checkpointer=checkpointer)

Or `run` answers the interrupts of LangChain's own `HumanInTheLoopMiddleware`, in both modes, and resumes the agent:

    result = run(agent, {"messages": [...]}, {"configurable": {"thread_id": "42"}})

With a checkpointer that outlives the process, one that dies and runs again gets the same questions and their answers.
"""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Iterable, Mapping, Optional, Union

import askbridge
from langchain.agents.middleware.types import AgentMiddleware, ToolCallRequest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.types import Command, Interrupt

from . import langgraph
from ._shared import about as described
from ._shared import denied, key, plain, report, report_now, spread, why_not

Result = Union[ToolMessage, "Command[Any]"]


class Permissions(AgentMiddleware[Any, Any, Any]):
    """Asks before each call of these tools.

    changes: the person may change the arguments, as the schema of the tool allows.
    about: what all permissions say: `agent`, `project`, `timeout`, `grant`.
    """

    def __init__(self, *tools: str, changes: bool = False, about: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__()
        self.guarded = frozenset(tools)
        self.changes = changes
        self.about = about

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        if request.tool_call["name"] not in self.guarded:
            return handler(request)
        decision = askbridge.permission(**self._asked(request))
        if not decision:
            return _instead(request, denied(decision))
        try:
            arguments = decision.consume()
        except askbridge.Refused as refused:
            return _instead(request, why_not(refused))
        try:
            result = handler(_with(request, arguments))
        except Exception as error:
            report_now(decision, False, str(error))
            raise
        report_now(decision, _succeeded(result))
        return result

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        if request.tool_call["name"] not in self.guarded:
            return await handler(request)
        decision = await askbridge.permission_async(**self._asked(request))
        if not decision:
            return _instead(request, denied(decision))
        try:
            arguments = await decision.consume_async()
        except askbridge.Refused as refused:
            return _instead(request, why_not(refused))
        try:
            result = await handler(_with(request, arguments))
        except Exception as error:
            await report(decision, False, str(error))
            raise
        await report(decision, _succeeded(result))
        return result

    def _asked(self, request: ToolCallRequest) -> dict[str, Any]:
        call = request.tool_call
        configurable = request.runtime.config.get("configurable", {})
        thread = configurable.get("thread_id")
        asked = described(self.about, session=thread and str(thread))
        if self.changes:
            asked.update(changes=True, schema=_schema(request.tool))
        if thread is not None and call["id"]:
            # Models number their calls anew in each message.
            calls = [one for one in request.state["messages"] if isinstance(one, AIMessage) and call in one.tool_calls]
            asked["key"] = key("langchain", thread, calls[-1].id if calls else "", call["id"])
        return {"tool": call["name"], "arguments": call["args"], **asked}


def run(
    agent: Any, input: Any, config: Mapping[str, Any], *, about: Optional[Mapping[str, Any]] = None, **invoke: Any
) -> Any:
    """Runs an agent until it waits for nobody, as `run` for LangGraph does, and decides about its calls."""
    return langgraph.drive(agent, input, config, langgraph.Thread(agent, config, plan, about), invoke)


async def arun(
    agent: Any, input: Any, config: Mapping[str, Any], *, about: Optional[Mapping[str, Any]] = None, **invoke: Any
) -> Any:
    """Does what `run` does, by `agent.ainvoke`."""
    return await langgraph.adrive(agent, input, config, langgraph.Thread(agent, config, plan, about), invoke)


def plan(interrupt: Interrupt) -> langgraph.Plan:
    """Returns the permissions of an interrupt of `HumanInTheLoopMiddleware`, or the question of another one."""
    value = interrupt.value
    if isinstance(value, Mapping) and value.get("type") == "tool_approval":
        review = _Review(value, *_per_call(interrupt.response_schema))
        return langgraph.Plan([review.asked()], lambda outcomes: review.decision(outcomes[0]))
    if isinstance(value, Mapping) and "action_requests" in value and "review_configs" in value:
        reviews = [
            _Review(action, config["allowed_decisions"])
            for action, config in zip(value["action_requests"], value["review_configs"])
        ]
        return langgraph.Plan(
            [review.asked() for review in reviews],
            lambda outcomes: {"decisions": [one.decision(outcome) for one, outcome in zip(reviews, outcomes)]},
        )
    return langgraph.planner(langgraph.question, None)(interrupt)


class _Review:
    """A call that `HumanInTheLoopMiddleware` wants to have decided."""

    def __init__(self, action: Mapping[str, Any], allowed: Iterable[str], schema: Any = None) -> None:
        self.name, self.arguments = action["name"], action["args"]
        # The middleware's own text repeats the tool and its arguments.
        self.description = str(action.get("description", "")).split(f"\n\nTool: {self.name}\nArgs: ")[0]
        self.allowed = set(allowed)
        self.schema = schema

    def asked(self) -> langgraph.Question:
        """Returns a permission, or a question where the person's words are the result of the tool."""
        if not self.allowed & {"approve", "edit"}:
            return False, {"message": spread({"question": self.description, **self.arguments}, ["question"])}
        asked = {"tool": self.name, "arguments": self.arguments, "description": self.description}
        return True, {**asked, **({"changes": True, "schema": self.schema} if "edit" in self.allowed else {})}

    def decision(self, outcome: Any) -> dict[str, Any]:
        """Returns the decision in the words of the middleware."""
        if isinstance(outcome, askbridge.Decision) and outcome.allowed:
            if outcome.changed or "approve" not in self.allowed:
                return {"type": "edit", "edited_action": {"name": self.name, "args": outcome.arguments}}
            return {"type": "approve"}
        if not isinstance(outcome, (askbridge.Decision, askbridge.Rejected)):
            return {"type": "respond", "message": plain(outcome)}
        if "reject" not in self.allowed:
            if isinstance(outcome, askbridge.Rejected):
                raise outcome
            raise askbridge.Rejected(denied(outcome), reason=outcome.reason or "", remark=outcome.remark, by=outcome.by)
        why = outcome.remark or (None if outcome.reason == "user" else f"nobody allowed it ({outcome.reason})")
        return {"type": "reject", **({"message": why} if why else {})}


def _per_call(response_schema: Any) -> tuple[list[str], Any]:
    """Returns the decisions that an answer may have, and the schema of changed arguments."""
    schema: Mapping[str, Any] = response_schema
    definitions: Mapping[str, Mapping[str, Any]] = schema.get("$defs", {})

    def resolved(one: Mapping[str, Any]) -> Mapping[str, Any]:
        return definitions.get(str(one.get("$ref", "")).rsplit("/", 1)[-1], one)

    members = [resolved(one) for one in schema.get("oneOf") or schema.get("anyOf") or [schema]]
    by_type = {str(one["properties"]["type"]["const"]): one["properties"] for one in members}
    if "edit" not in by_type:
        return list(by_type), None
    arguments = resolved(resolved(by_type["edit"]["edited_action"])["properties"]["args"])
    return list(by_type), {**arguments, **({"$defs": definitions} if "$ref" in str(arguments) else {})}


def _schema(tool: Any) -> Any:
    """Returns the JSON Schema of the arguments that a model may give, if there is one."""
    schema: Any = tool.tool_call_schema if tool else None
    return schema.model_json_schema() if hasattr(schema, "model_json_schema") else schema


def _with(request: ToolCallRequest, arguments: Optional[Mapping[str, Any]]) -> ToolCallRequest:
    if arguments is None or arguments == request.tool_call["args"]:
        return request
    return request.override(tool_call={**request.tool_call, "args": dict(arguments)})


def _instead(request: ToolCallRequest, said: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(content=said, name=call["name"], tool_call_id=call["id"], status="error")


def _succeeded(result: Result) -> bool:
    return not (isinstance(result, ToolMessage) and result.status == "error")
