"""A permission of a program: what it asks for, and what was decided."""

from __future__ import annotations

import os
import uuid
from typing import Any, Dict, Mapping, Optional, Sequence

from ._error import AskbridgeError
from ._flow import Flow, run, run_async
from ._form import LONGEST_TIME, Json, Path, checked_key, common
from ._http import Call
from ._inbox import Inbox
from ._line import Line, path_of


def permission_question(
    tool: Optional[str],
    arguments: Optional[Mapping[str, Any]],
    *,
    command: Optional[str],
    folder: Optional[Path],
    files: Optional[Sequence[Path]],
    server: Optional[str],
    kind: Optional[str],
    title: Optional[str],
    description: Optional[str],
    message: str,
    changes: bool,
    schema: Any,
    grant: Optional[float],
    agent: Optional[str],
    project: Optional[Path],
    session: Optional[str],
    timeout: Optional[float],
) -> Json:
    """Returns the body of a permission."""
    if schema is not None and not changes:
        raise ValueError("a schema of the arguments needs changes=True: without it, they cannot be changed")
    if grant is not None and not 0 < grant < LONGEST_TIME:
        raise ValueError(f"a grant is a number of seconds above 0, not {grant!r}")
    subject = {
        "kind": kind,
        "tool": tool,
        "server": server,
        "arguments": None if arguments is None else dict(arguments),
        "command": command,
        "folder": None if folder is None else os.fspath(folder),
        "files": None if files is None else [os.fspath(file) for file in files],
        "title": title,
        "description": description,
    }
    members: Dict[str, Any] = {
        "message": message or None,
        "changes": changes or None,
        "schema": schema,
        "grantMs": None if grant is None else max(1, round(grant * 1000)),
    }
    return {
        "purpose": "permission",
        "subject": _present(subject),
        **_present(members),
        **common(title=None, agent=agent, project=project, session=session, timeout=timeout),
    }


def is_permission(record: Json) -> bool:
    """Says whether a record is a permission that a program asked for."""
    question = record.get("question") or {}
    return question.get("purpose") == "permission" and "action" in question


class Decision:
    """What was decided about a permission. It is true where it was allowed."""

    def __init__(self, record: Json, settlement: Json, inbox: Inbox) -> None:
        outcome = settlement.get("outcome") or {}
        grant = settlement.get("grant") if outcome.get("status") == "answered" else None
        self._inbox = inbox
        #: The ID of the permission.
        self.id: str = record["id"]
        #: Whether it was allowed. Nothing but a grant allows anything.
        self.allowed = isinstance(grant, dict)
        grant = grant if isinstance(grant, dict) else {}
        action = (record.get("question") or {}).get("action") or {}
        #: The digest of the action that was decided about, with the arguments as they were decided.
        self.digest: Optional[str] = grant.get("digest") or action.get("digest")
        #: When an approval expires, by RFC 3339.
        self.expires: Optional[str] = grant.get("expires")
        #: Whether the arguments are others than those that were asked for.
        self.changed = "arguments" in grant
        asked = (action.get("request") or {}).get("arguments")
        #: The arguments as they were decided. `None` where there were none.
        self.arguments: Optional[Dict[str, Any]] = _copy(grant["arguments"] if self.changed else asked)
        #: Why it was rejected: `user`, `timeout`, `withdrawn`, `policy` and so on. `None` where it was allowed.
        self.reason: Optional[str] = None if self.allowed else str(outcome.get("reason") or "user")
        #: The person's own words about it.
        self.remark: Optional[str] = settlement.get("remark")
        #: Who decided: `responder`, and perhaps `name`.
        self.by: Dict[str, Any] = settlement.get("by") or {}

    def __bool__(self) -> bool:
        return self.allowed

    def __repr__(self) -> str:
        # Arguments can have secrets.
        return f"<Decision {self.id}: {'allowed' if self.allowed else f'rejected ({self.reason})'}>"

    def consume(self, key: Optional[str] = None) -> Optional[Dict[str, Any]]:
        """Spends the approval, and returns the arguments as they were decided. Call it right before you act.

        An approval is spent once: the second time, this raises `Refused` with the name `spent`, or `expired`, `stale` or
        `not_allowed`. With the same `key`, it is the same time again, such as after a crash.
        """
        return run(self._consumed(key))

    async def consume_async(self, key: Optional[str] = None) -> Optional[Dict[str, Any]]:
        """Does what `consume` does."""
        return await run_async(self._consumed(key))

    def report(self, succeeded: bool, note: Optional[str] = None) -> None:
        """Says what came of it, for the journal."""
        run(self._reported(succeeded, note))

    async def report_async(self, succeeded: bool, note: Optional[str] = None) -> None:
        """Does what `report` does."""
        await run_async(self._reported(succeeded, note))

    def _consumed(self, key: Optional[str]) -> "Flow[Optional[Dict[str, Any]]]":
        if self.digest is None:
            raise AskbridgeError(f"{self.id} has no digest of an action: it is no permission that a program asked for")
        # Each call is a time of its own, however often its request has to be sent.
        key = checked_key(key) or str(uuid.uuid4())
        call = Call("POST", path_of(self.id, "/consume"), {"digest": self.digest}, key)
        spent = yield from Line(self._inbox).request(call)
        changed = spent.get("arguments") if isinstance(spent, dict) else None
        return _copy(changed) if isinstance(changed, dict) else _copy(self.arguments)

    def _reported(self, succeeded: bool, note: Optional[str]) -> "Flow[None]":
        body = _present({"status": "succeeded" if succeeded else "failed", "note": note})
        yield from Line(self._inbox).request(Call("POST", path_of(self.id, "/outcome"), body))


def _present(members: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _copy(arguments: Optional[Mapping[str, Any]]) -> Optional[Dict[str, Any]]:
    return None if arguments is None else dict(arguments)
