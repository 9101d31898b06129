"""What the adapters for agent frameworks have in common. Each of them against its framework: `frameworks/run`."""

from __future__ import annotations

import ast
import subprocess
import sys
import unittest
from pathlib import Path

import askbridge
from askbridge.adapters import _shared

ADAPTERS = Path(_shared.__file__).parent


class Imports(unittest.TestCase):
    def test_nothing_but_an_adapter_imports_its_framework(self) -> None:
        names = {path.stem for path in ADAPTERS.glob("[a-z]*.py")}
        self.assertGreater(len(names), 5)
        code = "import sys, askbridge, askbridge.adapters, askbridge.adapters._shared; print(*sys.modules)"
        loaded = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=60).split()
        self.assertIn("askbridge.adapters._shared", loaded)
        frameworks = {"langgraph", "langchain", "pydantic_ai", "agents", "google", "strands", "crewai"}
        self.assertEqual({name.split(".")[0] for name in loaded} & frameworks, set())

    def test_each_adapter_names_the_version_that_it_was_tried_with(self) -> None:
        pinned = {
            line.strip()
            for path in (ADAPTERS.parents[1] / "frameworks" / "requirements").glob("*.txt")
            for line in path.read_text().splitlines()
        }
        for path in ADAPTERS.glob("[a-z]*.py"):
            head = ast.get_docstring(ast.parse(path.read_text())) or ""
            named = [line for line in pinned if line.replace("==", " ") in head]
            self.assertEqual(len(named), 1, f"{path.name}: {pinned}")


class Keys(unittest.TestCase):
    def test_the_same_parts_are_the_same_key(self) -> None:
        self.assertEqual(_shared.key("langgraph", "thread 1", "ab"), "langgraph/thread 1/ab")
        self.assertEqual(_shared.key("langgraph", 1, "ab"), _shared.key("langgraph", "1", "ab"))

    def test_other_parts_are_another_key(self) -> None:
        self.assertNotEqual(_shared.key("langgraph", "a/b", "c"), _shared.key("langgraph", "a", "b/c"))
        self.assertNotEqual(_shared.key("langgraph", "a%2Fb"), _shared.key("langgraph", "a/b"))

    def test_every_key_can_be_sent(self) -> None:
        for part in ("x" * 300, "Ötzi", "line\nbreak"):
            key = _shared.key("langgraph", part, "ab")
            self.assertLess(len(key), 256)
            self.assertTrue(key.isascii() and key.isprintable(), key)
            self.assertEqual(key, _shared.key("langgraph", part, "ab"))
            self.assertNotEqual(key, _shared.key("langgraph", part, "abc"))


class Texts(unittest.TestCase):
    def test_an_approval_that_does_not_count_is_told_to_the_model(self) -> None:
        self.assertIn("approved and begun before", _shared.why_not(askbridge.Refused("spent", name="spent")))
        self.assertIn("expired", _shared.why_not(askbridge.Refused("late", name="expired")))
        with self.assertRaises(askbridge.Refused):
            _shared.why_not(askbridge.Refused("other", name="stale"))

    def test_members_are_spread_for_a_person(self) -> None:
        value = {"of": "the door", "question": "Which colour?", "choices": ["red", "blue"]}
        said = _shared.spread(value, ["question"])
        self.assertTrue(said.startswith("Which colour?\n\nof: the door\n\nchoices: ["), said)


if __name__ == "__main__":
    unittest.main()
