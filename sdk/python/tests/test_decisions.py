"""Permissions and answers that fit a schema, by the real program."""

from __future__ import annotations

import unittest
from typing import Any

import askbridge
from machine import PATIENCE, WithMachine

SPENDER = """
import sys
import askbridge
decision = askbridge.wait(sys.argv[1])
print("waits", flush=True)
sys.stdin.readline()
try:
    print(decision.consume(sys.argv[2] or None), flush=True)
except askbridge.Refused as error:
    print(error.name, flush=True)
"""


class Decisions(WithMachine):
    def test_allowed(self) -> None:
        asking = self.aside(askbridge.permission, "deploy", {"to": "prod"}, command="make deploy", key="d-1", grant=60)
        self.machine.answer("make deploy", "allow")
        decision = asking.result(PATIENCE)
        self.assertTrue(decision)
        self.assertEqual((decision.arguments, decision.changed, decision.by["responder"]), ({"to": "prod"}, False, "http"))
        self.assertRegex(decision.digest, "^sha256:[0-9a-f]{64}$")
        self.assertIsNotNone(decision.expires)
        self.assertEqual(decision.consume("run-1"), {"to": "prod"})
        self.assertEqual(decision.consume("run-1"), {"to": "prod"})
        with self.assertRaises(askbridge.Refused) as caught:
            decision.consume()
        self.assertEqual(caught.exception.name, "spent")
        decision.report(True, "deployed")
        decision.report(True, "deployed")
        with self.assertRaises(askbridge.Refused) as caught:
            decision.report(False)
        self.assertEqual(caught.exception.name, "reported")
        again = askbridge.permission("deploy", {"to": "prod"}, command="make deploy", key="d-1", grant=60)
        self.assertEqual((again.id, again.digest, bool(again)), (decision.id, decision.digest, True))

    def test_rejected(self) -> None:
        asking = self.aside(askbridge.permission, command="rm -rf build")
        self.machine.reject("rm -rf build", "keep it")
        decision = asking.result(PATIENCE)
        self.assertFalse(decision)
        self.assertEqual((decision.reason, decision.remark), ("user", "keep it"))
        with self.assertRaises(askbridge.Refused) as caught:
            decision.consume()
        self.assertEqual(caught.exception.name, "not_allowed")

    def test_the_option_that_rejects(self) -> None:
        asking = self.aside(askbridge.permission, "chosen")
        self.machine.answer("chosen", "reject")
        self.assertFalse(asking.result(PATIENCE))

    def test_nobody_decides(self) -> None:
        decision = askbridge.permission("late", timeout=0.2)
        self.assertEqual((bool(decision), decision.reason), (False, "timeout"))

    def test_changed_arguments(self) -> None:
        schema = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
        asking = self.aside(askbridge.permission, "change", {"to": "prod"}, changes=True, schema=schema)
        record = self.machine.question('"change"')
        self.machine.reply(record["id"], {"q0": "allow", "arguments": '{"to": "staging"}'})
        decision = asking.result(PATIENCE)
        self.assertTrue(decision and decision.changed)
        self.assertEqual((decision.arguments, decision.consume()), ({"to": "staging"}, {"to": "staging"}))
        self.assertNotEqual(decision.digest, record["question"]["action"]["digest"])

    def test_it_is_known_after_a_restart(self) -> None:
        pending = askbridge.start_permission("restart", {"n": [1, 2.5, "\u00e4\u2028"]}, key="r-1")
        self.machine.answer('"restart"', "allow")
        self.machine.end()
        self.machine.start()
        decision = pending.wait()
        self.assertEqual(decision.consume("run"), {"n": [1, 2.5, "\u00e4\u2028"]})
        self.machine.end()
        self.machine.start()
        self.assertEqual(decision.consume("run"), {"n": [1, 2.5, "\u00e4\u2028"]})
        with self.assertRaises(askbridge.Refused) as caught:
            askbridge.wait(pending.id).consume()
        self.assertEqual(caught.exception.name, "spent")

    def test_programs_that_race_spend_it_once(self) -> None:
        for keys, spent in ((["a", "b", ""], 1), (["same"] * 3, 3)):
            with self.subTest(keys=keys):
                pending = askbridge.start_permission("race", {"n": 1})
                self.machine.answer('"race"', "allow")
                spenders = [self.machine.program(SPENDER, pending.id, key) for key in keys]
                for spender in spenders:
                    assert spender.stdout is not None
                    self.assertEqual(spender.stdout.readline(), b"waits\n")
                for spender in spenders:
                    assert spender.stdin is not None
                    spender.stdin.write(b"\n")
                    spender.stdin.flush()
                said = sorted(spender.communicate(timeout=PATIENCE)[0].decode().strip() for spender in spenders)
                self.assertEqual(said, sorted(["{'n': 1}"] * spent + ["spent"] * (len(keys) - spent)))

    def test_what_is_no_action(self) -> None:
        bad: Any = [{}, {"description": "only"}, {"tool": "x", "arguments": {"n": 2**60}}, {"tool": "x", "arguments": {"n": "\ud800"}}]
        for options in bad:
            with self.subTest(options=options), self.assertRaises(askbridge.Refused):
                askbridge.permission(**options)
        with self.assertRaises(ValueError):
            askbridge.permission("x", {"n": float("inf")})


class Schemas(WithMachine):
    def test_values_that_fit(self) -> None:
        cases: Any = [
            ({"type": "string", "enum": ["a", "b"]}, {"value": "b"}, "b"),
            ({"type": "boolean"}, {"value": False}, False),
            ({"type": "integer"}, {"value": 3}, 3),
            ({"type": "array", "items": {"type": "string"}}, {"value": ["a", "b"]}, ["a", "b"]),
            ({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}, "required": ["n"]}, {"n": 4}, {"n": 4}),
            ({"type": "object", "properties": {"q0": {"type": "integer"}}, "required": ["q0"]}, {"q0": 4}, {"q0": 4}),
        ]
        for number, (schema, values, value) in enumerate(cases):
            with self.subTest(schema=schema):
                text = f"Schema {number}?"
                asking = self.aside(askbridge.ask, text, schema=schema, key=text if number % 2 else None)
                record = self.machine.question(text)
                self.machine.reply(record["id"], values)
                self.assertEqual(asking.result(PATIENCE), value)
                self.assertEqual(askbridge.wait(record["id"]), value)

    def test_a_schema_that_nothing_fits(self) -> None:
        bad: Any = [7, "text", []]
        for schema in bad:
            with self.subTest(schema=str(schema)[:50]), self.assertRaises(askbridge.Refused) as caught:
                askbridge.start("Schema?", schema=schema)
            self.assertGreater(len(caught.exception.detail), 20)


if __name__ == "__main__":
    unittest.main()
