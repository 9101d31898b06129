"""The flows of a question: ask it, wait for its end, withdraw it."""

from __future__ import annotations

import time
import uuid
from typing import Any, Dict, Optional, Union

from ._crowd import CROWD
from ._error import AskbridgeError, StillOpen, TimedOut
from ._flow import Flow, Pause, run, run_async
from ._form import Json, has_secret, names_in, settlement_in, value_of
from ._http import Call
from ._inbox import Inbox
from ._line import Line, path_of
from ._permission import Decision, is_permission

QUESTIONS = "/v1/questions"
#: For how many seconds one request waits for the end of a question.
TURN = 60.0
#: For how many seconds nothing is asked of an inbox that said that it ends.
PAUSE = 0.25


class Pending:
    """A question that stays open beyond this program, until it is answered, rejected or withdrawn, or its time is over."""

    def __init__(self, id: str, inbox: Inbox) -> None:
        #: The ID of the question. `askbridge.wait(id)` waits for it from any program.
        self.id = id
        self._inbox = inbox

    def __repr__(self) -> str:
        return f"<Pending {self.id}>"

    def wait(self, timeout: Optional[float] = None) -> Any:
        """Waits until it is over, as `askbridge.wait` does."""
        return run(waited(self._inbox, self.id, timeout))

    async def wait_async(self, timeout: Optional[float] = None) -> Any:
        """Does what `wait` does."""
        return await run_async(waited(self._inbox, self.id, timeout))

    def cancel(self) -> None:
        """Withdraws it, as `askbridge.cancel` does."""
        run(withdrawn(Line(self._inbox), self.id))

    async def cancel_async(self) -> None:
        """Does what `cancel` does."""
        await run_async(withdrawn(Line(self._inbox), self.id))


def asked(inbox: Inbox, body: Json, key: Optional[str]) -> "Flow[Any]":
    """Asks a question, and returns the answer."""
    if key is not None:
        refuse_secret(body)
        record = yield from _kept(inbox, body, key)
        return ended(record, inbox)
    # Without a key, nobody could find the question again: it ends with the connection.
    settlement = yield from _held(inbox, body)
    return value_of(settlement, names_in(body.get("fields")))


def permitted(inbox: Inbox, body: Json, key: Optional[str]) -> "Flow[Decision]":
    """Asks for a permission, and returns what was decided."""
    record = yield from _kept(inbox, body, key)
    return Decision(record, settlement_in(record) or {}, inbox)


def begun(inbox: Inbox, body: Json, key: Optional[str]) -> "Flow[Pending]":
    """Asks a question, and does not wait."""
    refuse_secret(body)
    # The request may have to be sent again.
    record = yield from _begin(Line(inbox), body, key or str(uuid.uuid4()))
    return Pending(record["id"], inbox)


def waited(inbox: Inbox, id: str, timeout: Optional[float]) -> "Flow[Any]":
    """Waits until a question is over, and returns the answer, or what was decided."""
    record = yield from _over(Line(inbox), id, timeout)
    return ended(record, inbox)


def withdrawn(line: Line, id: str) -> "Flow[None]":
    """Withdraws a question."""
    yield from line.request(Call("DELETE", path_of(id)))


def ended(record: Json, inbox: Inbox) -> Any:
    """Returns the answer of a question that is over, or what was decided about a permission."""
    settlement = settlement_in(record) or {}
    if is_permission(record):
        return Decision(record, settlement, inbox)
    question = record.get("question") or {}
    return value_of(settlement, names_in(question.get("fields")), record.get("id"))


def refuse_secret(body: Json) -> None:
    """Refuses to keep what nothing may keep."""
    if has_secret(body):
        raise ValueError("a secret cannot be kept beyond this program: ask for it by `ask`, without a key")


def _held(inbox: Inbox, body: Json) -> "Flow[Json]":
    """Asks a question that its connection holds. If the inbox is started again meanwhile, it is asked again."""
    timeout: Optional[int] = body.get("timeoutMs")
    end = None if timeout is None else time.monotonic() + timeout / 1000

    def call() -> Call:
        if end is None:
            return Call("POST", QUESTIONS, body)
        left = round((end - time.monotonic()) * 1000)
        if left <= 0:
            raise TimedOut("the question was not answered in time", reason="timeout")
        return Call("POST", QUESTIONS, {**body, "timeoutMs": left})

    line = Line(inbox)
    while True:
        settlement: Json = yield from line.request(call, end)
        if not _is_end_of_inbox(settlement):
            return settlement
        yield Pause(PAUSE)


def _is_end_of_inbox(settlement: Json) -> bool:
    """Says whether a question that its connection held ended because the inbox did."""
    outcome, by = settlement.get("outcome") or {}, settlement.get("by") or {}
    return bool(outcome.get("reason") == "shutdown" and by.get("responder") == "bridge")


def _kept(inbox: Inbox, body: Json, key: Optional[str]) -> "Flow[Json]":
    """Asks a question that no connection holds, and waits until it is over. Without a key, it ends with this call."""
    line = Line(inbox)
    name = key or str(uuid.uuid4())
    asking: Dict[str, Any] = {"id": None, "is_sent": False}
    try:
        record: Json = yield from _begin(line, body, name, asking)
        if settlement_in(record) is None:
            record = yield from _over(line, record["id"], None)
        return record
    except (AskbridgeError, GeneratorExit):
        raise
    except BaseException:
        if key is None and asking["is_sent"]:
            yield from _clean_up(line.hurried(), body, name, asking["id"])
        raise


def _clean_up(line: Line, body: Json, key: str, id: Optional[str]) -> "Flow[None]":
    """Withdraws the question of a call that was interrupted, if the inbox is there."""
    try:
        if id is None:
            # It is not known whether the inbox has the question: then it names it now.
            record = yield from _begin(line, body, key)
            id = record["id"]
        yield from withdrawn(line, id)
    except Exception:
        # What interrupted the call counts.
        return


def _begin(line: Line, body: Json, key: str, asking: Optional[Dict[str, Any]] = None) -> "Flow[Json]":
    def call() -> Call:
        if asking is not None:
            asking["is_sent"] = True
        return Call("POST", QUESTIONS, {**body, "wait": False}, key)

    record: Json = yield from line.request(call)
    if asking is not None:
        asking["id"] = record["id"]
    return record


def _over(line: Line, id: str, timeout: Optional[float]) -> "Flow[Json]":
    """Waits until a question is over, and returns its record."""
    end = None if timeout is None else time.monotonic() + timeout

    def left(most: float) -> float:
        return most if end is None else min(most, max(0.0, end - time.monotonic()))

    while True:
        begun = time.monotonic()
        with CROWD.place() as place:
            pause = place.pause()
            if pause is not None:
                yield Pause(left(pause))
            record: Json = yield from line.request(lambda: _look(id, left(TURN) if pause is None else 0.0), end)
        if settlement_in(record) is not None:
            return record
        now = time.monotonic()
        if end is not None and now >= end:
            raise StillOpen(f"question {id} is still open after {timeout:g} s: wait for it again, or cancel it")
        if now - begun < PAUSE:
            # The inbox says so because it ends.
            yield Pause(PAUSE)


def _look(id: str, wait: float) -> Call:
    return Call("GET", path_of(id) + f"?wait={round(wait * 1000)}ms")


def id_of(question: Union[str, Pending]) -> str:
    """Returns the ID of a question."""
    return question.id if isinstance(question, Pending) else question


def inbox_of(question: Union[str, Pending]) -> Optional[Inbox]:
    """Returns the inbox that a question was asked at, if that is known."""
    return question._inbox if isinstance(question, Pending) else None
