"""Ask the user from any Python program: in the browser, in a terminal, on the phone.

    import askbridge

    where = askbridge.ask("Deploy where?", options=["staging", "production"], key="deploy-42")

`ask` waits for an answer, `permission` for a decision; `start` and `wait` do the two halves, in two programs if need be.
Each has a twin for asyncio, such as `ask_async`. The inbox is found by itself, and started where none runs.
"""

from ._api import (
    ask,
    ask_async,
    cancel,
    cancel_async,
    permission,
    permission_async,
    start,
    start_async,
    start_permission,
    start_permission_async,
    wait,
    wait_async,
)
from ._asking import Pending
from ._error import AskbridgeError, NoInbox, Refused, Rejected, StillOpen, TimedOut, Withdrawn
from ._inbox import Inbox
from ._permission import Decision

__all__ = [
    "AskbridgeError",
    "Decision",
    "Inbox",
    "NoInbox",
    "Pending",
    "Refused",
    "Rejected",
    "StillOpen",
    "TimedOut",
    "Withdrawn",
    "ask",
    "ask_async",
    "cancel",
    "cancel_async",
    "permission",
    "permission_async",
    "start",
    "start_async",
    "start_permission",
    "start_permission_async",
    "wait",
    "wait_async",
]
