"""An inbox for a test, in a folder of its own, and a person who answers by HTTP, apart from the package."""

from __future__ import annotations

import concurrent.futures
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from typing import Any, Callable, Dict, List, Optional, Tuple
from unittest import mock
from urllib.parse import quote

PROGRAM = os.environ.get("ASKBRIDGE", "askbridge")
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATIENCE = 60.0


def until(what: str, check: Callable[[], Any], seen: Callable[[], Any] = lambda: "") -> Any:
    """Waits for something, with a deadline. What was seen is said when it does not come."""
    end = time.monotonic() + PATIENCE
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"no {what} within {PATIENCE:g} s; seen: {seen()!r}")
        time.sleep(0.005)


class Machine:
    """A home, with an inbox that can be killed and started again."""

    def __init__(self) -> None:
        self.home = tempfile.mkdtemp(prefix="askbridge-")
        self.folder = os.path.join(self.home, "askbridge")
        # No program is found, so that no test starts an inbox by accident.
        self.env = {"PATH": "/usr/bin:/bin", "HOME": self.home, "XDG_RUNTIME_DIR": self.home, "ASKBRIDGE_RUN_USER": self.home}
        self.port = 0
        self.inbox: Optional["subprocess.Popen[bytes]"] = None
        self._starts = 0

    def start(self) -> "Machine":
        """Starts the inbox, on the port that it had before."""
        self._starts += 1
        log = os.path.join(self.home, f"inbox-{self._starts}.log")
        with open(log, "wb") as output:
            command = [PROGRAM, "inbox", "--addr", f"127.0.0.1:{self.port}"]
            self.inbox = inbox = subprocess.Popen(command, env=self.env, cwd=self.home, stdout=output, stderr=output)

        def said() -> str:
            with open(log, encoding="utf-8") as file:
                return file.read()

        def address() -> Optional["re.Match[str]"]:
            if inbox.poll() is not None:
                raise AssertionError(f"the inbox ended: {said()}")
            return re.search(r"listening on http://[^,]*:(\d+),", said())

        self.port = int(until("address", address, said)[1])
        return self

    def end(self, how: int = signal.SIGKILL) -> None:
        """Ends the inbox."""
        if self.inbox is not None:
            self.inbox.send_signal(how)
            self.inbox.wait(PATIENCE)
            self.inbox = None

    def remove(self) -> None:
        """Ends everything."""
        self.end()
        shutil.rmtree(self.home, ignore_errors=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> str:
        with open(os.path.join(self.folder, "token"), encoding="ascii") as file:
            return file.read().strip()

    def request(self, method: str, path: str, body: Any = None) -> Tuple[int, Any]:
        """Sends a request as another client."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        return response.status, json.loads(text) if text else None

    def open(self) -> List[Dict[str, Any]]:
        """Returns the records of the open questions."""
        return list(self.request("GET", "/v1/questions")[1]["questions"])

    def question(self, text: str) -> Dict[str, Any]:
        """Waits for an open question with this text."""

        def found() -> Optional[Dict[str, Any]]:
            for record in self.open():
                if text in json.dumps(record["question"], ensure_ascii=False):
                    return record
            return None

        return until(f"question {text!r}", found, self.open)  # type: ignore[no-any-return]

    def reply(self, id: str, values: Dict[str, Any]) -> None:
        status, said = self.request("POST", f"/v1/questions/{quote(id, safe='')}/reply", {"values": values})
        if status != 204:
            raise AssertionError(f"{status}: {said}")

    def answer(self, text: str, value: Any) -> str:
        """Answers the question with this text and one field, and returns its ID."""
        record = self.question(text)
        self.reply(record["id"], {record["question"]["fields"][0]["name"]: value})
        return str(record["id"])

    def reject(self, text: str, remark: Optional[str] = None) -> str:
        record = self.question(text)
        path = f"/v1/questions/{record['id']}/reject"
        status, said = self.request("POST", path, {} if remark is None else {"reason": remark})
        if status != 204:
            raise AssertionError(f"{status}: {said}")
        return str(record["id"])

    def program(self, code: str, *arguments: str) -> "subprocess.Popen[bytes]":
        """Runs a program in Python that uses the package."""
        import sys

        command = [sys.executable, "-c", code, *arguments]
        env = {**self.env, "PYTHONPATH": PACKAGE}
        return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class WithMachine(unittest.TestCase):
    """Tests that share an inbox, and whose environment is that of its machine."""

    machine: Machine
    starts = True

    @classmethod
    def setUpClass(cls) -> None:
        cls.machine = Machine()
        cls.addClassCleanup(cls.machine.remove)
        environment = mock.patch.dict(os.environ, cls.machine.env, clear=True)
        environment.start()
        cls.addClassCleanup(environment.stop)
        if cls.starts:
            cls.machine.start()

    def aside(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> "concurrent.futures.Future[Any]":
        """Calls something in a thread of its own. The process does not wait for it."""
        future: "concurrent.futures.Future[Any]" = concurrent.futures.Future()

        def run() -> None:
            try:
                future.set_result(call(*arguments, **options))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future
