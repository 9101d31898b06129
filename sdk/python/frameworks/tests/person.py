"""An inbox in a folder of its own, and a person who answers what is asked there, for the tests of the adapters."""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

PROGRAM = os.environ.get("ASKBRIDGE", "askbridge")
# No wait of a test is longer.
PATIENCE = 60.0
# A test may block its loop while it waits for a process.
logging.getLogger("asyncio").setLevel(logging.ERROR)


class Inbox:
    """`askbridge inbox`, which no other test and no person of this machine sees."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="askbridge-frameworks-"))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home),
            "ASKBRIDGE_RUN_USER": str(self.home),
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "ASKBRIDGE": PROGRAM,
            # Otherwise, CrewAI asks whether it may send what it does.
            "CREWAI_TRACING_ENABLED": "false",
            "CREWAI_DISABLE_TELEMETRY": "true",
        }
        self.port = 0
        self.start()

    def start(self) -> None:
        """Starts it, on the port that it had before."""
        command = [PROGRAM, "inbox", "--addr", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(
            command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        said = []
        for line in self.process.stderr:
            said.append(line)
            if at := re.search(r"listening on http://[^,]*:(\d+),", line):
                self.port = int(at[1])
                threading.Thread(target=self.process.stderr.read, daemon=True).start()
                return
        raise AssertionError(f"the inbox ended: {''.join(said)}")

    def kill(self) -> None:
        """Ends it without a warning."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def end(self) -> None:
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        token = (self.home / "askbridge" / "token").read_text().strip()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode(),
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path} is {error.code}: {error.read().decode()}") from error
        return json.loads(text) if text.strip() else None

    def python(self, *arguments: str) -> subprocess.Popen[str]:
        """Another process, which asks in this inbox."""
        return subprocess.Popen(
            [sys.executable, *arguments], cwd=self.home, env=self.env, stdout=subprocess.PIPE, text=True
        )

    def answer(self, record: dict[str, Any], values: dict[str, Any]) -> None:
        self.call("POST", f"/v1/questions/{record['id']}/reply", {"values": values})

    def reject(self, record: dict[str, Any], reason: str) -> None:
        self.call("POST", f"/v1/questions/{record['id']}/reject", {"reason": reason})


class Person(threading.Thread):
    """Decides each question once, by a function that gets its record, and remembers what was asked.

    The function returns the values of the fields, the reason of a rejection as a text, or None to leave it open.
    """

    def __init__(self, inbox: Inbox, decide: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__(daemon=True)
        self.inbox = inbox
        self.decide = decide
        self.asked: list[dict[str, Any]] = []
        self.changed = threading.Condition()
        self.failure: Optional[BaseException] = None
        self.start()

    def run(self) -> None:
        try:
            token = (self.inbox.home / "askbridge" / "token").read_text().strip()
            request = urllib.request.Request(
                f"http://127.0.0.1:{self.inbox.port}/v1/events", headers={"Authorization": f"Bearer {token}"}
            )
            with urllib.request.urlopen(request, timeout=PATIENCE) as events:
                for line in events:
                    if line.startswith(b"data:"):
                        self.hear(json.loads(line[5:]))
        except (OSError, ValueError):
            pass  # The inbox has ended, and with it this person's work.
        except BaseException as failure:  # noqa: BLE001 # The test raises it.
            self.failure = failure
            with self.changed:
                self.changed.notify_all()

    def hear(self, event: dict[str, Any]) -> None:
        record = event.get("question")
        if not record or record["state"] != "open" or record["id"] in [one["id"] for one in self.asked]:
            return
        with self.changed:
            self.asked.append(record)
            self.changed.notify_all()
        try:
            decided = self.decide(record)
            if isinstance(decided, str):
                self.inbox.reject(record, decided)
            elif decided is not None:
                self.inbox.answer(record, decided)
        except AssertionError as failure:
            # Nobody waits for what cannot be answered.
            self.inbox.reject(record, f"the person of the test failed: {failure}")
            raise

    def wait_for(self, count: int, asker: Optional[subprocess.Popen[str]] = None) -> list[dict[str, Any]]:
        """The records of the questions, once there are so many. An asker that ends before is a failure."""
        if asker:
            threading.Thread(target=self._watch, args=[asker], daemon=True).start()
        with self.changed:
            enough = self.changed.wait_for(lambda: self.failure or len(self.asked) >= count, PATIENCE)
        if self.failure:
            raise self.failure
        assert enough, f"{len(self.asked)} of {count} questions were asked within {PATIENCE} s"
        return list(self.asked)

    def _watch(self, asker: subprocess.Popen[str]) -> None:
        code = asker.wait()
        with self.changed:
            if not self.asked:
                self.failure = AssertionError(f"the asker ended with {code}, and has not asked")
                self.changed.notify_all()


class Case(unittest.TestCase):
    """A test with an inbox of its own, which programs in this process find."""

    def setUp(self) -> None:
        self.inbox = Inbox()
        guard = threading.Timer(2 * PATIENCE, self._hangs)
        guard.daemon = True
        guard.start()
        self.addCleanup(guard.cancel)
        self.addCleanup(self.inbox.end)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(self.inbox.env)

    def _hangs(self) -> None:
        """What waits for ever says where, and ends the run."""
        faulthandler.dump_traceback()
        self.inbox.end()
        os._exit(1)

    def person(self, decide: Callable[[dict[str, Any]], Any]) -> Person:
        return Person(self.inbox, decide)

    def run_twice(self, example: str, values: dict[str, Any]) -> str:
        """Runs an example, kills it while it waits, answers, and runs it again. Returns what it printed."""
        person = self.person(lambda record: None)
        program = str(Path(__file__).parents[2] / "examples" / example)
        first = self.inbox.python(program)
        record = person.wait_for(1, first)[0]
        first.kill()
        first.communicate(timeout=PATIENCE)
        self.inbox.answer(record, values)
        second = self.inbox.python(program)
        said, _ = second.communicate(timeout=PATIENCE)
        self.assertEqual(second.returncode, 0)
        self.assertEqual(len(person.asked), 1)
        return said

    @contextmanager
    def beside(self, work: Callable[[], None]) -> Iterator[None]:
        """Does some work in another thread meanwhile."""
        failures: list[BaseException] = []

        def guarded() -> None:
            try:
                work()
            except BaseException as failure:  # noqa: BLE001 # It is raised below.
                failures.append(failure)

        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        yield
        thread.join(PATIENCE)
        if failures:
            raise failures[0]


def one(value: Any) -> dict[str, Any]:
    """The answer of a question of one value."""
    return {"q0": value}


ALLOW = one("allow")


def text(record: dict[str, Any]) -> str:
    """What is asked."""
    asked = record["question"]
    return str(asked.get("message") or asked["fields"][0]["label"])


def arguments(record: dict[str, Any]) -> Any:
    """The arguments that a permission is about."""
    return record["question"]["action"]["request"]["arguments"]
