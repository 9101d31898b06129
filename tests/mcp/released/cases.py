"""The table of cases: who is asked what a released server asks, what comes of each answer, and who hears of it.

What is expected is computed here from the row alone, without askbridge: see `Row.expected`."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, Optional

from host import NEW, OLD, Host, Message, said
from place import TICKET, Place
from released import Server

ACCEPT = {"action": "accept", "content": TICKET}
# No person reads and reacts as fast as askbridge takes a refusal for the host's own: 0.7 s.
SLOW = 1.0

DECLARATIONS: dict[str, Optional[Message]] = {
    "nothing": None,
    "{}": {},
    "form": {"form": {}},
    "url": {"url": {}},
    "both": {"form": {}, "url": {}},
}
# What the host does when it is asked: after how long, and with what. None is silence.
HOSTS: dict[str, Optional[tuple[float, Message]]] = {
    "accepts": (SLOW, {"result": ACCEPT}),
    "accepts at once": (0, {"result": ACCEPT}),
    "declines": (SLOW, {"result": {"action": "decline"}}),
    "cancels": (SLOW, {"result": {"action": "cancel"}}),
    "declines at once": (0, {"result": {"action": "decline"}}),
    "cancels at once": (0, {"result": {"action": "cancel"}}),
    "fails": (0, {"error": {"code": -32603, "message": "there is no dialog"}}),
    "does not know it": (0, {"error": {"code": -32601, "message": "Method not found"}}),
    "is silent": None,
    "ends the call": None,
    "goes": None,
}


# How the bridge lets a session begin, by the version of the protocol that the host begins with.
SESSIONS = {OLD: "handshake", NEW: "any"}


@dataclass(frozen=True)
class Expected:
    """What a row has to give."""

    # Whether the host is sent the elicitation, and whether that is withdrawn.
    asked: bool
    withdrawn: bool
    # What the tool hears: an action, or None if the call has no end.
    heard: Optional[str]
    # How the question in the inbox ends, and by whom. None if there is none.
    inbox: Optional[str]


@dataclass(frozen=True)
class Row:
    """One call of a tool that asks, `form` or `url`."""

    declared: str
    mode: str
    kind: str
    host: str
    inbox: str
    version: str = OLD
    # The host turned out not to know the request in this session.
    forgotten: bool = False

    def shows(self) -> bool:
        """Returns whether the host is asked: it has to declare the kind, `{}` is the form."""
        declared = DECLARATIONS[self.declared]
        kinds = set() if declared is None else set(declared) or {"form"}
        return self.mode == "both" and self.kind in kinds and not self.forgotten

    def decides(self) -> bool:
        """Returns whether the host's answer is a person's: no refusal, and no mere yes, comes at once."""
        if not self.shows() or self.host not in ("accepts", "accepts at once", "declines", "cancels"):
            return False
        return self.host != "accepts at once" or self.kind == "form"

    def expected(self) -> Expected:
        asked = self.shows()
        if self.host == "ends the call":
            return Expected(asked, asked and self.version == OLD, None, "rejected call_ended by client")
        if self.host == "goes":
            return Expected(asked, False, None, "rejected client_gone by bridge")
        if self.decides():
            action = self.host.split()[0][:-1]
            ended = {"accept": "answered", "decline": "rejected user", "cancel": "rejected cancelled"}[action]
            return Expected(asked, False, action, f"{ended} by client")
        ended = {"accepts": ("accept", "answered"), "rejects": ("decline", "rejected user")}[self.inbox]
        # Who was asked and has said nothing yet, is told that it is over.
        withdrawn = asked and self.host == "is silent" and self.version == OLD
        return Expected(asked, withdrawn, ended[0], f"{ended[1]} by command_line")


def rows(declared: str, mode: str, version: str) -> list[Row]:
    """Returns the rows of one session, in their order."""
    all = []
    for kind in ("form", "url"):
        row = lambda host, inbox="waits", **more: Row(declared, mode, kind, host, inbox, version, **more)  # noqa: E731,B023
        all += [row("is silent", "accepts"), row("is silent", "rejects")]
        if row("accepts").shows():
            all += [row("accepts"), row("declines"), row("cancels")]
            all += [row("declines at once", "accepts"), row("cancels at once", "rejects")]
            all += [row("accepts at once", "waits" if kind == "form" else "accepts")]
            if version == OLD:
                all += [row("fails", "accepts")]
        all += [row("ends the call")]
        if row("accepts").shows() and version == OLD:
            all += [row("does not know it", "accepts"), row("is silent", "accepts", forgotten=True)]
    return all + [Row(declared, mode, "form", "goes", "waits", version, forgotten=version == OLD)]


def action(server: Server, text: str, version: str) -> str:
    """Returns the action that a tool says it heard."""
    if "elicitation was " in text:
        return text.rpartition("elicitation was ")[2].split()[0].strip("'\"")
    if text in ("accept", "decline", "cancel"):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return text
    value = value.get("answer", value)
    if value == TICKET:
        return "accept"
    content = value.get("content") or {}
    if value["action"] == "accept" and content and content != TICKET:
        return f"accept of {content}"
    return value["action"]


class Session:
    """A host, a bridge and a server, which the rows are played in."""

    def __init__(self, place: Place, server: Server, declared: str, mode: str, version: str) -> None:
        self.place, self.server, self.version = place, server, version
        options = ["--elicitation", mode, "--session", SESSIONS[version]]
        command = [place.program, "mcp-proxy", "--name", "tickets", *options, "--", *server.command]
        self.host = Host(command, {**place.env, "PACKAGES": server.packages}, DECLARATIONS[declared], version)
        self.host.open()

    def play(self, row: Row) -> tuple[Expected, Expected]:
        """Plays a row, and returns what was expected and what was seen."""
        expected = row.expected()
        seen = self.old(row) if self.version == OLD else self.new(row)
        return expected, seen

    def old(self, row: Row) -> Expected:
        host, since = self.host, len(self.host.received)
        id = host.call("form" if row.kind == "form" else "link")
        record = self.place.asked()
        question = host.asked(since) if row.shows() else None
        if question is None:
            # Whatever is sent to the host comes before this.
            host.response(host.request("ping"))
        self.react(row, id, record, question)
        ended = None if row.expected().heard is None else said(host.response(id))
        if row.host == "goes":
            outcome = self.place.outcome(record["id"])
        else:
            outcome = self.place.outcome(record["id"])
            host.response(host.request("ping"))
        later = host.received[since:]
        asked = [message for message in later if message.get("method") == "elicitation/create"]
        withdrawn = [
            message
            for message in later
            if message.get("method") == "notifications/cancelled"
            and asked
            and message["params"].get("requestId") == asked[0]["id"]
        ]
        heard = None if ended is None else action(self.server, ended, self.version)
        return Expected(bool(asked), bool(withdrawn), heard, outcome)

    def react(self, row: Row, id: int, record: Message, question: Optional[Message]) -> None:
        """Does what the host and the person do in this row."""
        host = self.host
        reaction = HOSTS[row.host]
        if question is not None and reaction is not None:
            after, answer = reaction
            time.sleep(after)
            if row.kind == "url" and answer.get("result", {}).get("action") == "accept":
                answer = {"result": {"action": "accept"}}
            host.send(id=question["id"], **answer)
        self.inbox(row, id, record)

    def inbox(self, row: Row, id: int, record: Message) -> None:
        if row.host == "ends the call":
            self.host.send(method="notifications/cancelled", params={"requestId": id, "reason": "it took too long"})
        elif row.host == "goes":
            if not self.host.end(20):
                raise AssertionError("the bridge goes on without its host")
        elif row.inbox == "accepts":
            self.place.accept(record)
        elif row.inbox == "rejects":
            self.place.reject(record)

    def new(self, row: Row) -> Expected:
        host = self.host
        tool = "resolved" if row.kind == "form" else "resolved_link"
        id = host.call(tool)
        record = self.place.asked()
        first: Optional[Message] = host.response(id) if row.shows() else None
        if first is None:
            assert not any(message.get("id") == id for message in host.received), "the call has ended"
        elif (reaction := HOSTS[row.host]) is not None:
            after, answer = reaction
            time.sleep(after)
            result: Any = answer["result"]
            if row.kind == "url" and result["action"] == "accept":
                result = {"action": "accept"}
            id = host.again(first, {key: result for key in first["result"]["inputRequests"]}, tool)
        if row.shows() and row.host == "ends the call":
            # Its call has ended already: it gives up the one that goes on.
            id = host.again(first or {}, {key: {"action": "decline"} for key in (first or {})["result"]["inputRequests"]}, tool)
        self.inbox(row, id, record)
        if row.shows() and row.host == "is silent":
            # Its dialog is still open, and it calls again late.
            self.place.outcome(record["id"])
            id = host.again(first or {}, {key: {"action": "decline"} for key in (first or {})["result"]["inputRequests"]}, tool)
        ended = None if row.expected().heard is None else said(host.response(id))
        heard = None if ended is None else action(self.server, ended, self.version)
        return Expected(first is not None, False, heard, self.place.outcome(record["id"]))


VERSIONS = {"old": OLD, "new": NEW}
