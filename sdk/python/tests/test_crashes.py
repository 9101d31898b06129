"""Each key is asked once and has one answer, though askers and the inbox are killed at any moment.

KILLS says how many askers are killed.
"""

from __future__ import annotations

import http.client
import os
import random
import threading
import time
import unittest
from typing import Any, Dict, List

import askbridge
from machine import PATIENCE, WithMachine, until

KILLS = int(os.environ.get("KILLS", "20"))

ASKER = """
import sys
import askbridge
print("begun", flush=True)
print(askbridge.ask(sys.argv[1], key=sys.argv[1]), flush=True)
"""


class Person(threading.Thread):
    """Answers each question that is seen, each with a text of its own. What the inbox has taken is remembered."""

    def __init__(self, machine: Any) -> None:
        super().__init__(daemon=True)
        self._machine, self._ends = machine, threading.Event()
        self.told: Dict[str, List[str]] = {}
        self.ids: Dict[str, set[str]] = {}

    def run(self) -> None:
        number = 0
        while not self._ends.is_set():
            try:
                for record in self._machine.open():
                    number += 1
                    text = record["question"]["fields"][0]["label"]
                    self.ids.setdefault(text, set()).add(record["id"])
                    answer = self.answer_to(record, number)
                    self._machine.reply(record["id"], {"q0": answer})
                    self.told.setdefault(text, []).append(answer)
            except (OSError, http.client.HTTPException, AssertionError, ValueError, KeyError):
                # The inbox is being killed, or somebody else was faster.
                continue

    def answer_to(self, record: Any, number: int) -> Any:
        return f"answer {number}"

    def end(self) -> None:
        self._ends.set()
        self.join(PATIENCE)


class Crashes(WithMachine):
    def test_each_key_is_asked_once(self) -> None:
        # The same moments in each run, as far as the machine has them.
        chance = random.Random(48)
        person = Person(self.machine)
        person.start()
        self.addCleanup(person.end)
        printed: Dict[str, List[str]] = {}
        killed = 0
        number = 0
        while killed < KILLS:
            number += 1
            key = f"Crash {number}?"
            for last in (False, chance.random() < 0.5, True):
                asker = self.machine.program(ASKER, key)
                assert asker.stdout is not None
                self.addCleanup(asker.stdout.close)
                self.assertEqual(asker.stdout.readline(), b"begun\n")
                if not last:
                    # Before, while and after it is asked and answered.
                    time.sleep(chance.random() * 0.06)
                    if chance.random() < 0.3:
                        self.machine.end()
                        self.machine.start()
                    asker.kill()
                    killed += 1
                said, error = asker.communicate(timeout=PATIENCE)
                if last:
                    self.assertEqual(asker.returncode, 0, error)
                if said:
                    printed.setdefault(key, []).append(said.decode().strip())
        person.end()
        for key, answers in printed.items():
            self.assertEqual(len(set(answers)), 1, f"{key} has two answers: {answers}")
            # A reply that was cut off may count, but one that was confirmed always does.
            self.assertEqual(person.told.get(key, answers)[-1:], answers[-1:], key)
            self.assertEqual(len(person.ids[key]), 1, f"{key} was asked twice: {person.ids[key]}")
        self.assertEqual(len(printed), number, "each key has an answer")
        self.assertEqual(self.machine.open(), [])
        print(f"{killed} askers killed, {number} keys, {sum(map(len, printed.values()))} answers printed", end=" ")

    def test_an_asker_that_is_killed_leaves_no_question_without_a_key(self) -> None:
        for _ in range(3):
            asker = self.machine.program("import askbridge; askbridge.ask('Killed?')")
            self.machine.question("Killed?")
            asker.kill()
            asker.communicate(timeout=PATIENCE)
            until("withdrawal", lambda: not self.machine.open(), self.machine.open)

    def test_another_program_waits_for_the_answer(self) -> None:
        asker = self.machine.program("import askbridge; print(askbridge.start('Handed over?', key='over-1').id)")
        said, error = asker.communicate(timeout=PATIENCE)
        self.assertEqual(asker.returncode, 0, error)
        waiting = self.aside(askbridge.wait, said.decode().strip())
        self.machine.answer("Handed over?", "yes")
        self.assertEqual(waiting.result(PATIENCE), "yes")


if __name__ == "__main__":
    unittest.main()
