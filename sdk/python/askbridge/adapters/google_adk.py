"""Answers what an agent of Google's ADK waits for in the inbox: confirmations of tools, and requests of input.

Tried with google-adk 2.13.0. The plugin runs the agent, goes on with each answer, and spends an approval right before
its tool runs, once:

    asking = Asking()
    runner = Runner(app=App(name="shop", root_agent=agent, plugins=[asking]), session_service=sessions)
    async for event in asking.run(runner, user_id="maya", session_id="order-7", new_message=message):
        ...

With sessions that outlive the process, one that dies and runs again gets the same questions and their answers.
"""

from __future__ import annotations

import json
from typing import Any, AsyncGenerator, Mapping, Optional, Sequence

import askbridge
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from ._shared import about as described
from ._shared import denied, key, report, spread, why_not

CONFIRMATION = "adk_request_confirmation"
INPUT = "adk_request_input"
#: What the ADK says where the tool gave no hint: it repeats the call.
NO_HINT = "Please approve or reject the tool call"


class Wait:
    """A call that waits for a person."""

    def __init__(self, call: types.FunctionCall, event: Event) -> None:
        self.id, self.name, self.author = str(call.id), str(call.name), event.author
        #: IDs of workflows are the same in each session and each round. That of the event is not, and is stored.
        self.event_id = event.id
        args = call.args or {}
        self.is_of_workflow = "interruptId" in args
        self.hint = str((args.get("toolConfirmation") or {}).get("hint") or args.get("message") or "")
        self.payload = (args.get("toolConfirmation") or {}).get("payload")
        self.schema = args.get("response_schema")
        self.shown = args.get("payload")
        original = args.get("originalFunctionCall")
        if original is None and isinstance(self.shown, dict) and self.id.startswith("wf_tool_confirmation:"):
            original = {"name": self.shown.get("tool_name"), "args": self.shown.get("args")}
            self.payload = self.shown.get("confirmation_payload")
        self.original: Optional[dict[str, Any]] = original
        self.tool_call_id = str((original or {}).get("id") or self.id)

    async def begin(self, asked: dict[str, Any]) -> askbridge.Pending:
        if self.original is not None:
            asked["description"] = None if self.hint.startswith(NO_HINT) else self.hint or None
            return await askbridge.start_permission_async(
                self.original["name"], self.original.get("args") or {}, **asked
            )
        asked.pop("grant", None)
        shown = self.shown if isinstance(self.shown, dict) else {} if self.shown is None else {"payload": self.shown}
        message = spread({"message": self.hint, **shown} if self.hint else shown, ["message"])
        return await askbridge.start_async(message or "The agent waits for an answer.", schema=self.schema, **asked)

    async def fill(self, asked: dict[str, Any]) -> Any:
        """Asks for the payload of an approved call, in the shape and with the values of the one that the tool gave."""
        asked.pop("grant", None)
        return await askbridge.ask_async(self.hint or "The tool waits for this.", schema=like(self.payload), **asked)

    def plain(self, answer: Any) -> Any:
        """Returns an answer as it is sent. A workflow takes a text for JSON if it can."""
        return json.dumps(answer) if self.is_of_workflow and isinstance(answer, str) else answer


def like(value: Any) -> dict[str, Any]:
    """Returns a JSON Schema of values such as this one, which is its default."""
    if isinstance(value, dict):
        members = {name: like(member) for name, member in value.items()}
        return {"type": "object", "properties": members, "required": list(members)}
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return {"type": name, "default": value}
    return {"default": value} if value is not None else {"type": "string"}


class Asking(BasePlugin):
    """Asks what the runs of its `run` wait for.

    about: what all questions say: `agent`, `project`, `timeout`; for permissions also `grant`.
    """

    def __init__(self, *, about: Optional[Mapping[str, Any]] = None, name: str = "askbridge") -> None:
        super().__init__(name=name)
        self.about = about
        #: What was decided about the calls that are about to run, by their IDs.
        self.decisions: dict[str, askbridge.Decision] = {}

    async def run(
        self, runner: Runner, *, user_id: str, session_id: str, new_message: Optional[types.Content], **options: Any
    ) -> AsyncGenerator[Event, None]:
        """Runs until nobody is waited for, and yields the events of all runs.

        A session that waits goes on where it is, and `new_message` counts as what it waits with. What only the program
        can answer, such as a sign-in, ends the run: answer it by `runner.run_async`.
        """
        message = new_message
        while True:
            session = await runner.session_service.get_session(
                app_name=runner.app_name, user_id=user_id, session_id=session_id
            )
            events = session.events if session else []
            resumed: dict[str, Any] = {}
            if waits := waits_of(events):
                named = ("google-adk", runner.app_name, user_id, session_id)
                message = types.Content(role="user", parts=await self._answers(waits, named))
            elif message is None:
                return
            elif invocation := unfinished(runner, events):
                message, resumed = None, {"invocation_id": invocation}
            given = {"user_id": user_id, "session_id": session_id, "new_message": message, **resumed, **options}
            async for event in runner.run_async(**given):
                yield event
            message = None

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> Optional[dict[str, Any]]:
        """Spends an approval, and says why where there is none: the ADK itself has no words of the person."""
        decision = self.decisions.get(str(tool_context.function_call_id))
        if decision is None or tool_context.tool_confirmation is None:
            return None
        if not decision:
            return {"error": denied(decision)}
        try:
            await decision.consume_async()
        except askbridge.Refused as refused:
            del self.decisions[str(tool_context.function_call_id)]
            return {"error": why_not(refused)}
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> Optional[dict[str, Any]]:
        if decision := self.decisions.pop(str(tool_context.function_call_id), None):
            await report(decision, not (isinstance(result, dict) and "error" in result))
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> Optional[dict[str, Any]]:
        if decision := self.decisions.pop(str(tool_context.function_call_id), None):
            await report(decision, False, str(error))
        return None

    async def _answers(self, waits: list[Wait], named: tuple[str, ...]) -> list[types.Part]:
        """Asks all at once, and returns the answers."""
        begun = []
        for wait in waits:
            asked = described(self.about, agent=wait.author, session=named[-1])
            begun.append(await wait.begin({**asked, "key": key(*named, wait.event_id, wait.id)}))
        parts = []
        for wait, pending in zip(waits, begun):
            outcome = await pending.wait_async()
            response: Any = {"result": wait.plain(outcome)}
            if isinstance(outcome, askbridge.Decision):
                self.decisions[wait.tool_call_id] = outcome
                response = {"confirmed": outcome.allowed}
                if outcome and wait.payload is not None:
                    about = described(self.about, agent=wait.author, session=named[-1])
                    response["payload"] = await wait.fill(
                        {**about, "key": key(*named, wait.event_id, wait.id, "payload")}
                    )
            parts.append(
                types.Part(function_response=types.FunctionResponse(id=wait.id, name=wait.name, response=response))
            )
        return parts


def waits_of(events: Sequence[Event]) -> list[Wait]:
    """Returns what a session waits for: what has no answer, and confirmations whose tool has not run since."""
    open: dict[str, Wait] = {}
    #: The confirmations that are answered, by the calls that they are about.
    answered: dict[str, str] = {}
    for event in events:
        for call in event.get_function_calls():
            if call.id and call.id in (event.long_running_tool_ids or ()) and call.name in (CONFIRMATION, INPUT):
                open[call.id] = Wait(call, event)
        for response in event.get_function_responses():
            if event.author != "user":
                open.pop(answered.pop(str(response.id), ""), None)
            elif response.id in open and open[response.id].name == CONFIRMATION:
                answered[open[response.id].tool_call_id] = response.id
            elif response.id:
                open.pop(response.id, None)
    return list(open.values())


def unfinished(runner: Runner, events: Sequence[Event]) -> Optional[str]:
    """Returns the invocation that a process died in, if the app can resume it."""
    config = runner.resumability_config
    if not events or not config or not config.is_resumable:
        return None
    last = events[-1]
    return last.invocation_id if last.author == "user" or not last.is_final_response() else None
