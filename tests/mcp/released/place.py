"""A folder of its own for a bridge, and a person who answers there by the commands of askbridge."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Optional

from host import PATIENCE

Record = dict[str, Any]
# The answer of the person, to each form of the servers.
TICKET = {"title": "Broken door", "count": 2}


class Place:
    """What the bridges in it ask is seen here alone."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.home = Path(tempfile.mkdtemp(prefix="mcp-", dir="/tmp"))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "ASKBRIDGE_RUN_USER": str(self.home),
        }

    def remove(self) -> None:
        shutil.rmtree(self.home, ignore_errors=True)

    def settings(self, text: str) -> None:
        folder = self.home / "config" / "askbridge"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(text)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments], env=self.env, text=True, capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )

    def until(self, look: Callable[[], Any], what: str, within: float = PATIENCE) -> Any:
        end = time.monotonic() + within
        while not (found := look()):
            if time.monotonic() > end:
                raise AssertionError(what)
            time.sleep(0.02)
        return found

    def open(self) -> list[Record]:
        said = self.run("list", "--json")
        return json.loads(said.stdout)["questions"] if said.stdout.strip() else []

    def asked(self) -> Record:
        """Waits for the only open question."""
        return self.until(self.open, "nothing is in the inbox")[0]

    def is_empty(self, within: float = 5.0) -> bool:
        try:
            return self.until(lambda: not self.open(), "", within) is not None
        except AssertionError:
            return False

    def accept(self, record: Record) -> str:
        """Answers a question, and returns what the command says. Pages are said to be opened."""
        values = []
        for field in record["question"]["fields"]:
            name = field["name"]
            given = TICKET.get(name.rpartition("/")[2], "yes")
            values += ["--field", f"{name}={given}"]
        said = self.run("answer", record["id"], "--yes", *values)
        return said.stdout + said.stderr

    def reject(self, record: Record) -> str:
        said = self.run("reject", record["id"], "--reason", "not now")
        return said.stdout + said.stderr

    def outcome(self, id: str) -> Optional[str]:
        """Returns how a question ended, and by whom, once the journal has it."""

        def look() -> Optional[str]:
            said = self.run("history", "--json", "--limit", "1000")
            kept = json.loads(said.stdout)["questions"] if said.stdout.strip() else []
            for record in (one["record"] for one in kept):
                if record["id"] == id and record.get("settlement"):
                    settlement = record["settlement"]
                    outcome = settlement["outcome"]
                    why = f" {outcome['reason']}" if outcome.get("reason") else ""
                    return f"{outcome['status']}{why} by {settlement['by']['responder']}"
            return None

        try:
            return self.until(look, "", 10.0)
        except AssertionError:
            return None
