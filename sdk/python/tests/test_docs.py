"""The blocks of docs/sdk.md and README.md, run as programs of their own while a person answers."""

from __future__ import annotations

import inspect
import os
import re
import unittest
from typing import Any, Iterator, Tuple

import askbridge
from machine import PACKAGE, PATIENCE, WithMachine
from test_crashes import Person


def blocks() -> Iterator[Tuple[str, str]]:
    """Yields each block in Python, with its place."""
    for name in ("../../docs/sdk.md", "README.md"):
        with open(os.path.join(PACKAGE, name), encoding="utf-8") as file:
            text = file.read()
        for found in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            yield f"{os.path.basename(name)}:{text[:found.start()].count(chr(10)) + 1}", found[1]


class Chooser(Person):
    """Takes the first option."""

    def answer_to(self, record: Any, number: int) -> Any:
        return record["question"]["fields"][0]["options"][0]["value"]


class Documentation(WithMachine):
    def test_each_block_runs(self) -> None:
        person = Chooser(self.machine)
        person.start()
        self.addCleanup(person.end)
        count = 0
        for place, block in blocks():
            count += 1
            with self.subTest(place=place):
                said, error = self.machine.program(block).communicate(timeout=PATIENCE)
                self.assertEqual(error.decode(), "")
        self.assertGreaterEqual(count, 5)

    def test_each_name_is_explained(self) -> None:
        for name in askbridge.__all__:
            self.assertTrue(inspect.getdoc(getattr(askbridge, name)), name)

    def test_twins_take_the_same(self) -> None:
        for name in askbridge.__all__:
            if name.endswith("_async"):
                one, other = getattr(askbridge, name[: -len("_async")]), getattr(askbridge, name)
                self.assertEqual(inspect.signature(one), inspect.signature(other), name)
                self.assertTrue(inspect.iscoroutinefunction(other))


if __name__ == "__main__":
    unittest.main()
