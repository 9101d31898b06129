"""The way of one call to the inbox: repeats a request until there is a response, over restarts of the inbox.

Every request may be repeated: what it changes is named by a key or an ID, or ends with the connection.
"""

from __future__ import annotations

import random
import time
from typing import Any, Callable, Optional, Union
from urllib.parse import quote

from ._error import AskbridgeError, NoInbox, Refused, printable
from ._flow import Exchange, Flow, Locate, Pause
from ._http import SILENCE, Call, Lost, NotThere, Reply
from ._inbox import Inbox

#: Responses after which the same request may get another one.
BUSY = frozenset({408, 429, 502, 503, 504})
#: Names of problems of an inbox that has too much to do.
CROWDED = frozenset({"too_many_connections", "too_many_requests"})
#: Names of problems after which the inbox may be another one.
ELSEWHERE = frozenset({"wrong_token", "http_401", "inbox_ends", "not_kept"})
#: For how many seconds an inbox that was lost is looked for before another one is started.
RESTART = 5.0
#: For how many seconds one is tried to reach that was never reached.
FIRST_CONTACT = 10.0
#: For how many seconds an interrupted call may clean up.
HURRY = 3.0
#: How often an inbox may say that it keeps no questions. Another one that ends may keep them yet.
NOT_KEPT = 5
FIRST_PAUSE, LAST_PAUSE = 0.1, 2.0
LONGEST_PAUSE = 30.0


class Line:
    """Sends requests to an inbox, and finds it again."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._patience = inbox.patience
        self._silence = SILENCE
        self._may_start = True
        self._was_reached = False

    def hurried(self) -> "Line":
        """Returns a line for what must not take long, and is worth no new inbox."""
        line = Line(self._inbox)
        line._patience, line._silence, line._may_start = HURRY, HURRY, False
        return line

    def request(self, call: Union[Call, Callable[[], Call]], end: Optional[float] = None) -> "Flow[Any]":
        """Returns the JSON of the response. A function makes the request anew for each attempt.

        `end`: when the caller has no more time, by the monotonic clock.
        """
        trouble = _Trouble(self._patience, end)
        while True:
            may_start = trouble.lasts() >= RESTART or not self._was_reached
            try:
                access = yield Locate(self._inbox, self._may_start and may_start)
                request = call() if callable(call) else call
                reply: Reply = yield Exchange(access, request, self._silence)
            except (Lost, NoInbox) as error:
                # One that ended a connection may have too many.
                if isinstance(error, Lost) and not isinstance(error, NotThere):
                    self._was_reached = True
                else:
                    self._inbox.forget()
                # What was never there is looked for less long, and what nobody can start is not looked for again.
                is_vain = not self._was_reached and (isinstance(error, NoInbox) or trouble.lasts() > FIRST_CONTACT)
                if trouble.is_too_much() or is_vain:
                    raise _unreached(error, self._inbox) from error
                yield trouble.pause()
                continue
            self._was_reached = True
            if reply.status == 204 or (200 <= reply.status < 300 and isinstance(reply.body, dict)):
                return reply.body
            if not trouble.may_pass(reply, request.method):
                raise _refusal(reply)
            if _name(reply) in ELSEWHERE:
                self._inbox.forget(access)
            yield trouble.pause(reply.retry_after)


class _Trouble:
    """How long something goes wrong already."""

    def __init__(self, patience: float, end: Optional[float]) -> None:
        self._patience = patience
        self._end = float("inf") if end is None else end
        self._since: Optional[float] = None
        self._next = FIRST_PAUSE
        self._wrong_tokens = self._not_kept = 0

    def lasts(self) -> float:
        return 0.0 if self._since is None else time.monotonic() - self._since

    def is_too_much(self) -> bool:
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        return self.lasts() > self._patience or now >= self._end

    def may_pass(self, reply: Reply, method: str) -> bool:
        """Says whether the same request may get another response."""
        name = _name(reply)
        self._wrong_tokens += reply.status == 401
        # One that is waited for is kept: the journal has a moment of trouble.
        self._not_kept += name == "not_kept" and method == "POST"
        if reply.status == 401:
            # The inbox may have been started again, with another token.
            return self._wrong_tokens == 1
        if method == "GET" and name in CROWDED:
            # The inbox is there, and a person may take hours: whoever waits has the time.
            return time.monotonic() < self._end
        return reply.status in BUSY and self._not_kept <= NOT_KEPT and not self.is_too_much()

    def pause(self, least: Optional[float] = None) -> Pause:
        # No two programs keep step.
        pause = self._next * random.uniform(0.75, 1.25)
        self._next = min(2 * self._next, LAST_PAUSE)
        left = max(0.0, self._end - time.monotonic())
        return Pause(min(max(pause, least or 0.0), LONGEST_PAUSE, left))


def path_of(id: str, verb: str = "") -> str:
    """Returns the path of a question."""
    if not isinstance(id, str) or not id:
        raise ValueError(f"{id!r} is no ID of a question")
    return f"/v1/questions/{quote(id, safe='')}{verb}"


def _unreached(error: Exception, inbox: Inbox) -> NoInbox:
    if isinstance(error, NoInbox):
        return error
    where = inbox.url or "this user's inbox"
    return NoInbox(f"{where} is not reached: {error}; `askbridge status` says what runs")


def _name(reply: Reply) -> str:
    problem = reply.body if isinstance(reply.body, dict) else {}
    return str(problem.get("name") or ("redirected" if 300 <= reply.status < 400 else f"http_{reply.status}"))


def _refusal(reply: Reply) -> AskbridgeError:
    if reply.status < 300:
        return NoInbox("something else than askbridge answers at the address of the inbox")
    problem = reply.body if isinstance(reply.body, dict) else {}
    name, detail = _name(reply), str(problem.get("detail") or problem.get("title") or "")
    listed = problem.get("errors")
    errors = [error for error in listed if isinstance(error, dict)] if isinstance(listed, list) else []
    mistakes = [error for error in errors if str(error.get("message")) not in detail]
    parts = [detail] + [f"{error.get('field')} {error.get('message')}" for error in mistakes]
    said = printable("; ".join(part for part in parts if part)) or "it says no more"
    return Refused(
        f"the inbox refuses it ({reply.status} {name}): {said}",
        status=reply.status,
        name=name,
        detail=detail,
        errors=errors,
    )
