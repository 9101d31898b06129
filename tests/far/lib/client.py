"""A client of ACP in the hands of a trial: it prompts an agent, and answers what that asks only when it is told to."""

import json
import subprocess
import threading

from lines import is_question, message
from world import SOON, START, Failed, until

# What an answer to a form is made of, by the type of its field.
PLAIN = {"string": "a text", "boolean": True, "integer": 1, "number": 1}


def offered(field):
    """Returns the values that a field of a form offers."""
    listed = field.get("oneOf") or field.get("anyOf") or []
    return [option["const"] for option in listed if "const" in option] or field.get("enum") or []


def value(field):
    """Returns a value that fits a field: the second option, so that it is not a default by chance."""
    if field.get("type") == "array":
        return offered(field.get("items", {}))[1:2]
    if found := offered(field):
        return found[min(1, len(found) - 1)]
    return field.get("minimum", PLAIN.get(field.get("type"), "a text"))


def reply(request, allows=True):
    """Returns the result for a question: the first option that allows or refuses once, or a filled form."""
    params = request["params"]
    if request["method"] == "session/request_permission":
        kinds = ("allow_once", "allow") if allows else ("reject_once", "reject")
        options = params["options"]
        chosen = next((option for option in options if option.get("kind") in kinds), options[0 if allows else -1])
        return {"outcome": {"outcome": "selected", "optionId": chosen["optionId"]}, "optionId": chosen["optionId"]}
    fields = params.get("requestedSchema", {}).get("properties", {})
    return {"action": "accept", "content": {name: value(field) for name, field in fields.items()}}


class Client:
    """A conversation with an agent, or with a bridge in front of it."""

    def __init__(self, world, words):
        self.world, said = world, world.peer.said
        self.asks = set(said.get("questions", ()))
        self.process = world.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent, self.got, self.messages, self.last = [], [], [], 0
        self.lock = threading.Lock()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.got.append(line)
            said = message(line)
            method = said.get("method")
            if method and "id" in said and not is_question(said, self.asks):
                self.send({"id": said["id"], "error": {"code": -32601, "message": "Method not found"}})
            self.messages.append(said)

    def send(self, said):
        line = json.dumps({"jsonrpc": "2.0", **said}, separators=(",", ":")).encode() + b"\n"
        with self.lock:
            self.sent.append(line)
            try:
                self.process.stdin.write(line)
                self.process.stdin.flush()
            except OSError:
                pass

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def find(self, wanted, after=0):
        return next((said for said in self.messages[after:] if wanted(said)), None)

    def wait(self, what, wanted, after=0, within=SOON):
        """Waits for a message; the end of the process ends this as well."""
        def look():
            over = self.process.poll()
            found = self.find(wanted, after)
            if over is not None and not found:
                raise Failed(f"{what} did not happen: the process ended with {over}")
            return found
        return until(what, look, within)

    def result(self, id, what, within=SOON):
        """Waits for the response to a request of ours, and returns it."""
        return self.wait(what, lambda said: said.get("id") == id and "method" not in said, within=within)

    def begin(self):
        """Opens a session."""
        said = self.world.peer.said
        capabilities = said.get("capabilities", {"elicitation": {"form": {}}})
        version = said.get("protocol", 1)
        names = ("clientCapabilities", "clientInfo") if version == 1 else ("capabilities", "info")
        us = {names[0]: capabilities, names[1]: {"name": "far", "version": "1"}}
        id = self.request("initialize", {"protocolVersion": version, **us})
        self.begun = self.result(id, "the response to initialize", START)
        if method := said.get("authenticate"):
            self.result(self.request("authenticate", {"methodId": method}), "the response to authenticate")
        params = {"cwd": str(self.world.project), "mcpServers": []}
        opened = self.result(self.request("session/new", params), "the response to session/new", START)
        if "error" in opened:
            raise Failed(f"session/new: {opened['error'].get('code')} {opened['error'].get('message')}")
        self.session = opened["result"]["sessionId"]
        if mode := said.get("mode"):
            id = self.request("session/set_mode", {"sessionId": self.session, "modeId": mode})
            self.result(id, "the response to session/set_mode")

    def prompt(self, text):
        """Begins a turn, and returns where in the messages it begins, and its ID."""
        start = len(self.messages)
        params = {"sessionId": self.session, "prompt": [{"type": "text", "text": self.world.filled(text)}]}
        return start, self.request("session/prompt", params)

    def asked(self, turn, within=SOON):
        """Waits for a question of a turn."""
        start, id = turn
        def wanted(said):
            return is_question(said, self.asks) or self.is_response(said, id)
        found = self.wait("a question", wanted, start, within)
        if self.is_response(found, id):
            raise Failed(f"the turn ended without a question: {self.said(start) or found}")
        return found

    @staticmethod
    def is_response(said, id):
        # In version 2 of the protocol, a prompt has its response at once.
        ends = "error" in said or "stopReason" in (said.get("result") or {})
        return said.get("id") == id and "method" not in said and ends

    def ended(self, turn, within=SOON):
        """Waits for the end of a turn, and returns its reason, or the code of its error."""
        start, id = turn
        said = self.result(id, "the end of the turn", within)
        if "error" in said:
            return f"error {said['error'].get('code')}"
        # In version 2 of the protocol, a prompt is only taken; its turn ends later.
        if "stopReason" in (said["result"] or {}):
            return said["result"]["stopReason"]
        def idle(said):
            update = said.get("params", {}).get("update", {})
            return update.get("sessionUpdate") == "state_update" and update.get("state") == "idle"
        update = self.wait("the end of the turn", idle, start, within)["params"]["update"]
        return update.get("stopReason") or "idle"

    def said(self, start):
        """Returns what the agent said since then."""
        chunks = []
        for said in self.messages[start:]:
            update = said.get("params", {}).get("update", {}) if said.get("method") == "session/update" else {}
            content = update.get("content")
            if update.get("sessionUpdate", "").startswith("agent_message") and isinstance(content, (dict, list)):
                blocks = content if isinstance(content, list) else [content]
                chunks += [block.get("text", "") for block in blocks if "askbridge" not in block.get("text", "")]
        return "".join(chunks)

    def end(self, within):
        """Ends the input, and returns the exit code, or None if there is none in time."""
        try:
            self.process.stdin.close()
        except OSError:
            pass
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            try:
                self.process.wait(SOON)
            except subprocess.TimeoutExpired:
                self.process.kill()
            return None
        return code
