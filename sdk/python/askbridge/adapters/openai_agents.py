"""Decides the interruptions of a run of the OpenAI Agents SDK in the inbox, and resumes the run.

Tried with openai-agents 0.24.0:

    result = await run(agent, "Refund order 7", name="order-7", state=Path("order-7.json"))

The state of a run that waits is in that file: a process that dies while its person thinks, and runs again, goes on from
there with the same questions and their answers. A stored state runs an approved tool each time that it is resumed, so
let the tool spend its approval: `@function_tool(needs_approval=True, tool_input_guardrails=[spend])`.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import os
import uuid
from pathlib import Path
from typing import Any, Mapping, Optional

import askbridge
from agents import Agent, Runner, RunResult, RunState, ToolGuardrailFunctionOutput, ToolInputGuardrailData
from agents import tool_input_guardrail
from agents.items import ToolApprovalItem

from ._shared import about as described
from ._shared import denied, key, why_not

#: What was decided about the calls that are about to run, by their IDs.
_DECISIONS: contextvars.ContextVar[dict[str, askbridge.Decision]] = contextvars.ContextVar("askbridge_decisions")


async def run(
    agent: Agent[Any],
    input: Any,
    *,
    name: str,
    state: Optional[Path] = None,
    about: Optional[Mapping[str, Any]] = None,
    **options: Any,
) -> RunResult:
    """Runs an agent until it waits for nobody.

    A run whose state is in the file goes on from there, and `input` counts as what it began with. At the end, the
    file is removed. Do not let others write it: the SDK takes it for what the run did.

    name: names the run for the person.
    about: what all questions say: `agent`, `project`, `timeout`, `grant`. `options` go to `Runner.run`.
    """
    path = None if state is None else Path(state)
    given = input
    # Some models number their calls anew: a call is of this run, at this pause.
    this, pauses = str(uuid.uuid4()), 0
    if path and path.exists():
        stored = json.loads(path.read_text())
        this, pauses = stored["run"], stored["pauses"]
        given = await RunState.from_string(agent, stored["state"], context_override=options.pop("context", None))
        await decide(given, name=name, about=about, place=(this, pauses))
    while True:
        result = await Runner.run(agent, given, **options)
        if not result.interruptions:
            if path:
                path.unlink(missing_ok=True)
            return result
        options.pop("context", None)  # The state has it.
        given = result.to_state()
        pauses += 1
        if path:
            _write(path, json.dumps({"run": this, "pauses": pauses, "state": given.to_string()}))
        await decide(given, name=name, about=about, place=(this, pauses))


async def decide(
    state: RunState[Any, Any], *, name: str, about: Optional[Mapping[str, Any]] = None, place: tuple[Any, ...] = ()
) -> None:
    """Asks for all approvals that a state waits for at once, and approves or rejects each in the state.

    name: names this run. place: what else tells this pause from others, if the model numbers its calls anew.
    """
    interruptions = state.get_interruptions()
    decisions = await asyncio.gather(*(_permission(one, name, place, about) for one in interruptions))
    _DECISIONS.set({})
    for interruption, decision in zip(interruptions, decisions):
        if decision:
            _DECISIONS.get()[str(interruption.call_id)] = decision
            state.approve(interruption)
        else:
            state.reject(interruption, rejection_message=denied(decision))


@tool_input_guardrail(name="askbridge_spend")
async def spend(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    """Spends the approval of a call right before its tool runs. A spent one is refused, and the model hears so."""
    decision = _DECISIONS.get({}).pop(data.context.tool_call_id, None)
    if decision is not None:
        try:
            await decision.consume_async()
        except askbridge.Refused as refused:
            return ToolGuardrailFunctionOutput.reject_content(why_not(refused))
    return ToolGuardrailFunctionOutput.allow()


async def _permission(
    one: ToolApprovalItem, name: str, place: tuple[Any, ...], about: Optional[Mapping[str, Any]]
) -> askbridge.Decision:
    asked = described(about, agent=one.agent.name, session=name)
    return await askbridge.permission_async(
        one.qualified_name, **_action(one), **asked, key=key("openai-agents", name, *place, one.call_id)
    )


def _action(one: ToolApprovalItem) -> dict[str, Any]:
    """Returns what a call would do: its command if it is one of a shell, and else its arguments."""
    raw = one.raw_item if isinstance(one.raw_item, dict) else one.raw_item.model_dump(exclude_none=True)
    commands = (raw.get("action") or {}).get("commands")
    if commands:
        return {"command": "\n".join(commands), "kind": "execute"}
    try:
        arguments = json.loads(one.arguments or "{}")
    except ValueError:
        arguments = one.arguments
    if isinstance(arguments, dict) and (arguments or not raw.get("operation")):
        return {"arguments": arguments}
    return {"arguments": {"input": raw.get("operation") or arguments}}


def _write(path: Path, text: str) -> None:
    """Writes a file that is whole at every moment, and that only this user reads."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.touch(mode=0o600)
    with beside.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
