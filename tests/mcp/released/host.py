"""A host of MCP without an SDK: it starts a server, speaks the old protocol or the new one to it, and keeps every line
of both directions. What it answers is left to the cases."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable, Optional

OLD, NEW = "2025-11-25", "2026-07-28"
# No wait is longer.
PATIENCE = 120.0
KEY = "io.modelcontextprotocol/"

Message = dict[str, Any]


class Ended(Exception):
    """The server ended, or said nothing in time."""


def meta(capabilities: Message) -> Message:
    """Returns what each request of the new protocol carries."""
    return {
        KEY + "protocolVersion": NEW,
        KEY + "clientInfo": {"name": "host", "version": "1.0.0"},
        KEY + "clientCapabilities": capabilities,
    }


class Host:
    """One session with one server. `declared` is its capability `elicitation`, or None."""

    def __init__(
        self,
        command: list[str],
        env: dict[str, str],
        declared: Optional[Message],
        version: str = OLD,
        capabilities: Optional[Message] = None,
        lenient: bool = False,
    ) -> None:
        self.capabilities = {} if declared is None else {"elicitation": declared}
        self.capabilities |= capabilities or {}
        self.version = version
        # Whether a line that is no object of JSON is passed over.
        self.lenient = lenient
        self.lines: list[tuple[str, str]] = []
        self.received: list[Message] = []
        self.arrived = threading.Condition()
        self.ended = False
        self.next_id = 0
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1
        )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if self.lenient and not isinstance(message, dict):
                continue
            with self.arrived:
                self.lines.append(("server", line.rstrip("\n")))
                self.received.append(message)
                self.arrived.notify_all()
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def send(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
        self.write(line)

    def write(self, line: str) -> None:
        with self.arrived:
            self.lines.append(("host", line))
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def request(self, method: str, **params: Any) -> int:
        """Sends a request, and returns its ID."""
        id = self.next_id
        self.next_id += 1
        if self.version == NEW:
            params["_meta"] = {**meta(self.capabilities), **params.get("_meta", {})}
        self.send(id=id, method=method, **({"params": params} if params else {}))
        return id

    def call(self, tool: str, token: Any = None, **params: Any) -> int:
        """Calls a tool, and returns the ID of the call."""
        about = {} if token is None else {"_meta": {"progressToken": token}}
        return self.request("tools/call", name=tool, **{"arguments": {}, **params}, **about)

    def find(self, is_it: Callable[[Message], bool], since: int = 0, within: float = PATIENCE) -> Message:
        """Waits for a message of the server, of those from the `since`th on."""
        end = time.monotonic() + within
        with self.arrived:
            while True:
                for message in self.received[since:]:
                    if is_it(message):
                        return message
                left = end - time.monotonic()
                if self.ended or left <= 0:
                    self.errors.seek(0)
                    raise Ended(f"{'ended' if self.ended else 'silent'}: {self.errors.read()[-400:]}")
                self.arrived.wait(left)

    def response(self, id: int, within: float = PATIENCE) -> Message:
        return self.find(lambda message: message.get("id") == id and "method" not in message, within=within)

    def asked(self, since: int = 0, within: float = PATIENCE) -> Message:
        return self.find(lambda message: message.get("method") == "elicitation/create", since, within)

    def open(self) -> Message:
        """Begins the session, and returns the result of `initialize` or `server/discover`."""
        if self.version == NEW:
            return self.response(self.request("server/discover"))
        hello = self.request(
            "initialize",
            protocolVersion=self.version,
            capabilities=self.capabilities,
            clientInfo={"name": "host", "version": "1.0.0"},
        )
        response = self.response(hello)
        self.send(method="notifications/initialized")
        return response

    def again(self, response: Message, answers: Message, tool: str, **params: Any) -> int:
        """Calls a tool of the new protocol again, with the answers that it required."""
        state = {key: response["result"][key] for key in ("requestState",) if key in response["result"]}
        return self.call(tool, inputResponses=answers, **state, **params)

    def end(self, within: float = 20.0) -> bool:
        """Closes the connection, and returns whether the other side ended by itself. A bridge gives its server ten seconds."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(within)
            return True
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False


def said(response: Message) -> str:
    """Returns what a tool said: its text, or its error."""
    if "error" in response:
        return f"error {response['error']['code']} {response['error']['message']}"
    result = response["result"]
    parts = result.get("content", [])
    if not isinstance(parts, list):
        return json.dumps(result)
    text = " ".join(part.get("text", "") for part in parts)
    return f"isError {text}" if result.get("isError") else text
