"""What all adapters have in common: the key of a question, and an approval that is spent before its tool runs."""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Mapping, Optional
from urllib.parse import quote

import askbridge

LOG = logging.getLogger("askbridge")
LONGEST_KEY = 255

#: What a model is told about a call that was approved, begun, and cut short by the end of its process.
BEGUN = (
    "This call was approved and begun before, in a process that has ended. Whether it took effect is not known, and it "
    "was not run again. Check before you try it another time."
)


def key(*parts: object) -> str:
    """Returns the key of a question: the same parts are the same question, in every process."""
    named = "/".join(quote(str(part), safe=" :") for part in parts)
    return named if len(named) <= LONGEST_KEY else f"{parts[0]}/sha256:{hashlib.sha256(named.encode()).hexdigest()}"


def about(given: Optional[Mapping[str, Any]], **usual: Any) -> dict[str, Any]:
    """Returns what a program says about its questions, and beneath it what the framework knows."""
    return {**{name: value for name, value in usual.items() if value}, **(given or {})}


def denied(decision: Any) -> str:
    """Returns what a model is told about a call that was not allowed."""
    if decision.remark:
        return f"The user rejected this tool call: {decision.remark}"
    if decision.reason == "user":
        return "The user rejected this tool call."
    return f"Nobody allowed this tool call ({decision.reason})."


def why_not(refused: askbridge.Refused) -> str:
    """Returns what a model is told about an approval that does not count any more, or raises what is no such case."""
    if refused.name == "spent":
        return BEGUN
    if refused.name == "expired":
        return "The approval of this tool call has expired. It was not run."
    raise refused


async def report(decision: askbridge.Decision, succeeded: bool, note: Optional[str] = None) -> None:
    """Says in the journal what came of an approved call. What came of it counts, also where this cannot be said."""
    with _unimportant(decision):
        await decision.report_async(succeeded, note)


def report_now(decision: askbridge.Decision, succeeded: bool, note: Optional[str] = None) -> None:
    """Does what `report` does."""
    with _unimportant(decision):
        decision.report(succeeded, note)


@contextmanager
def _unimportant(decision: askbridge.Decision) -> Iterator[None]:
    try:
        yield
    except askbridge.AskbridgeError as error:
        LOG.warning("what came of %s is not in the journal: %s", decision.id, error)


def spread(value: Mapping[str, Any], first: Iterable[str]) -> str:
    """Returns members as text for a person: what asks first, then each other member under its name."""
    asks = [str(value[name]) for name in first if isinstance(value.get(name), str)]
    rest = [
        f"{name}: {plain(member)}" for name, member in value.items() if not (name in first and isinstance(member, str))
    ]
    return "\n\n".join([*asks, *rest])


def plain(value: Any) -> str:
    """Returns a value as text for a person."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
