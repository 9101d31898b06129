"""The trial of an agent: a stand-in client has it ask, directly and through askbridge, and writes down what happens."""

import re
import sys

from client import Client, reply
from lines import Side, difference
from peers import FAR
from world import SOON, Failed, until

# How long askbridge waits for the end of an agent before it sends SIGTERM, in seconds, unless `grace` of the peer says more.
GRACE = 10
# How much longer the client waits.
END = 4
# How long the end of a turn is awaited of an agent that is known not to hear an answer.
HANGS = 5
# How long a question may take from the client to the list, in seconds.
LISTED = 5
# How long an agent may take to end a turn that is cancelled while it asks.
CANCEL = 6


def neutral(world, text, length=160):
    """Returns a text as it is in each run."""
    text = world.neutral(str(text)).strip().replace("\n", " ")
    text = re.sub(r"\b[0-9a-f]{8,}(-[0-9a-f]{4,})*\b", "ID", text)
    text = re.sub(r"\b[0-9a-z]{6}-\d+\b", "ID", text)
    return text if len(text) <= length else text[:length] + "…"


def question(request):
    """Returns what is seen of a question on the wire."""
    params = request["params"]
    call = params.get("toolCall") or (params.get("subject") or {}).get("toolCall") or {}
    seen = {"method": request["method"]}
    if request["method"] == "session/request_permission":
        seen["members"] = sorted(call)
        seen["options"] = [option.get("kind") for option in params["options"]]
    else:
        fields = params.get("requestedSchema", {}).get("properties", {})
        seen["members"] = sorted(fields) or sorted(params)
    return seen


class Trial:
    def __init__(self, world):
        self.world, self.said = world, world.peer.said
        self.command = [world.filled(word) for word in self.said["command"]]
        self.grace = self.said.get("grace", GRACE)

    def bridged(self, *options):
        tap = [sys.executable, "-S", "-E", FAR / "lib/tap.py", self.world.root / "taps/agent"]
        return [self.world.askbridge, "run", "--grace", f"{self.grace}s", *options, "--", *tap, *self.command]

    def run(self):
        """Returns all that was seen."""
        seen = {"direct": self.conversation(self.command, self.by_client)}
        seen["through"] = self.conversation(self.bridged(), self.from_elsewhere)
        seen["bytes"] = self.bytes()
        for way, words in (("direct", self.command), ("through", self.bridged())):
            if self.said.get("asks"):
                seen[way]["exit while asking"] = self.leaves(words)
        return seen

    def conversation(self, words, answer):
        """Has the agent ask each question, then one more that is cancelled, and ends its input."""
        client = self.client = Client(self.world, words)
        client.begin()
        seen = {"asks": [answer(client, ask) for ask in self.said.get("asks", ())]}
        if not self.said.get("asks"):
            seen["turn"] = client.ended(client.prompt(self.said.get("prompt", "Say hello.")))
        elif not self.said.get("hangs"):
            # The client answers one by itself first, so that its answer is compared as well.
            seen["by the client"] = self.by_client(client, self.said["asks"][0])
            seen["cancelled"] = self.cancelled(client, self.said["asks"][0])
        seen["exit"] = client.end(self.grace + END)
        seen["left"] = self.world.left()
        return seen

    def by_client(self, client, ask):
        """The client answers."""
        turn = client.prompt(ask["prompt"])
        request = client.asked(turn)
        client.send({"id": request["id"], "result": ask.get("reply") or reply(request)})
        return question(request) | self.heard(client, turn)

    def from_elsewhere(self, client, ask):
        """The client says nothing: a command answers."""
        turn = client.prompt(ask["prompt"])
        request = client.asked(turn)
        found = self.listed()
        if not found:
            client.send({"id": request["id"], "result": ask.get("reply") or reply(request)})
            return {"kind": "not seen"} | self.heard(client, turn)
        asked = found["question"]
        is_permission = asked.get("purpose") == "permission"
        seen = {"kind": "permission" if is_permission else "question", "title": neutral(self.world, found["title"])}
        if is_permission:
            seen["risk"] = asked.get("risk")
            seen["why"] = asked.get("riskReason")
        words = ["allow", found["id"], "--yes"]
        if not is_permission or "answer" in ask:
            words = ["answer", found["id"], *ask.get("answer", ["2"]), *(["--yes"] if is_permission else [])]
        code, out, errors = self.world.ask(*words)
        if code:
            seen["answer"] = f"exit code {code}: {neutral(self.world, errors)}"
            client.send({"id": request["id"], "result": ask.get("reply") or reply(request)})
        until("settling", lambda: found["id"] not in [other["id"] for other in self.world.questions()])
        return seen | self.heard(client, turn)

    def listed(self):
        """Returns what is in the list, or None; also where an agent is known to go on before anybody could answer."""
        if self.said.get("late"):
            return None
        try:
            return until("a question in the list", self.world.questions, LISTED)[0]
        except Failed:
            return None

    def heard(self, client, turn):
        """Waits for the end of a turn, and returns its reason with what the agent said last."""
        try:
            reason = client.ended(turn, HANGS if self.said.get("hangs") else SOON)
        except Failed:
            if not self.said.get("hangs"):
                raise
            reason = "never"
        return {"heard": neutral(self.world, client.said(turn[0])[-160:]), "ends": reason}

    def cancelled(self, client, ask):
        """The client cancels the turn while the agent asks, and answers the question only if that does not end it."""
        turn = client.prompt(ask["prompt"])
        request = client.asked(turn)
        client.send({"method": "session/cancel", "params": {"sessionId": client.session}})
        try:
            return client.ended(turn, CANCEL)
        except Failed:
            client.send({"id": request["id"], "result": {"outcome": {"outcome": "cancelled"}, "action": "cancel"}})
        try:
            return f"{client.ended(turn, CANCEL)}, after the client's answer"
        except Failed:
            return "the turn does not end"

    def leaves(self, words):
        """The client leaves while the agent asks."""
        client = Client(self.world, words)
        client.begin()
        client.asked(client.prompt(self.said["asks"][0]["prompt"]))
        code = client.end(self.grace + END)
        return {"exit": code, "left": self.world.left()}

    def bytes(self):
        """Compares what went over both sides of askbridge."""
        tap = self.world.root / "taps"
        asks = self.said.get("questions", ())
        here = Side(b"".join(self.client.sent), b"".join(self.client.got), asks)
        there = Side((tap / "agent.in").read_bytes(), (tap / "agent.out").read_bytes(), asks)
        return neutral(self.world, difference(here, there), 400)
