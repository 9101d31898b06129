"""Why something could not be done. Each text says what failed, where, and what to do."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence


class AskbridgeError(Exception):
    """What askbridge or this library could not do."""


class NoInbox(AskbridgeError):
    """No inbox was found, started or reached, or its token cannot be read."""


class StillOpen(AskbridgeError, TimeoutError):
    """A question was not over within the time that `wait` was given. It stays open."""


class Refused(AskbridgeError):
    """The inbox refused a request."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        name: str = "",
        detail: str = "",
        errors: Sequence[Mapping[str, str]] = (),
    ) -> None:
        super().__init__(message)
        #: The HTTP status.
        self.status = status
        #: The stable name of the reason, such as `key_used`, `bad_question` or `spent`.
        self.name = name
        #: What the inbox says about it.
        self.detail = detail
        #: The mistakes in the question, each with `field` and `message`.
        self.errors = list(errors)


class Rejected(AskbridgeError):
    """A question ended without an answer."""

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        remark: Optional[str] = None,
        by: Optional[Mapping[str, Any]] = None,
        id: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        #: Why: `user`, `timeout`, `withdrawn`, `policy` and so on.
        self.reason = reason
        #: The person's own words.
        self.remark = remark
        #: Who settled it: `responder`, and perhaps `name`.
        self.by = dict(by or {})
        #: The ID of the question, where it is known.
        self.id = id


class TimedOut(Rejected):
    """Nobody answered before the deadline of the question."""


class Withdrawn(Rejected):
    """The question was withdrawn."""


def printable(text: str) -> str:
    """Returns a text of somebody else without characters that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
