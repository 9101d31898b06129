"""Compares the ordinary lines on both sides of a bridge: those that are no question, no answer and not the bridge's own."""

import json

QUESTIONS = {"session/request_permission", "elicitation/create", "session/elicitation"}


def message(line):
    """Returns the message of a line, or an empty one."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def is_question(said, asks):
    """Whether a message asks a person: by a method of the protocol, by the agent's own, or by the bridge's."""
    method = said.get("method", "")
    return "id" in said and (method in QUESTIONS | asks or "request_question" in method)


class Side:
    """What went over one side of a bridge."""

    def __init__(self, from_client, from_agent, asks=()):
        self.from_client, self.from_agent = from_client.splitlines(), from_agent.splitlines()
        self.asks = set(asks)
        requests = [message(line) for line in self.from_client]
        self.begun = [said.get("id") for said in requests if said.get("method") == "initialize"]
        self.questions = [said for said in map(message, self.from_agent) if is_question(said, self.asks)]
        self.ids = [said["id"] for said in self.questions]

    def to_client(self):
        """The ordinary lines from the agent."""
        def ordinary(line):
            said = message(line)
            if "method" not in said:
                return said.get("id") not in self.begun
            own = said["method"] == "$/cancel_request" or b"askbridge" in line
            return not own and not is_question(said, self.asks)
        return [line for line in self.from_agent if ordinary(line)]

    def to_agent(self):
        """The ordinary lines from the client."""
        def ordinary(line):
            said = message(line)
            if "method" not in said:
                return said.get("id") not in self.ids
            return said["method"] not in ("initialize", "$/cancel_request")
        return [line for line in self.from_client if ordinary(line)]

    def responses(self):
        """What the questions of this side were answered with, in the order of the questions."""
        found = {}
        for said in map(message, self.from_client):
            if "method" not in said and said.get("id") in self.ids:
                found[json.dumps(said["id"])] = said
        return [found.get(json.dumps(id)) for id in self.ids]


def without_farewell(lines):
    """Returns the lines without a cancellation at their end: a client that sends it and goes may be gone before it arrives."""
    while lines and message(lines[-1]).get("method") == "session/cancel":
        lines = lines[:-1]
    return lines


def difference(client, agent):
    """Returns "same", or the first line that differs between the client's side and the agent's."""
    for way in ("to_client", "to_agent"):
        here, there = without_farewell(getattr(client, way)()), without_farewell(getattr(agent, way)())
        if here != there:
            pairs = (pair for pair in zip(here + [b"(nothing)"], there + [b"(nothing)"]) if pair[0] != pair[1])
            one, other = next(pairs, (b"(more)", b"(more)"))
            return f"{way}: {one[:160].decode(errors='replace')} / {other[:160].decode(errors='replace')}"
    return "same"
