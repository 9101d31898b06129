"""Connections that are cut at any byte: each key is asked once, and an approval is spent once.

CUTS says how many are cut.
"""

from __future__ import annotations

import asyncio
import os
import random
import unittest
from typing import Any
from unittest import mock

import askbridge
from machine import WithMachine
from proxy import Proxy
from test_crashes import Person

CUTS = int(os.environ.get("CUTS", "60"))


def quick() -> Any:
    # No time is lost between attempts.
    return mock.patch.multiple("askbridge._line", FIRST_PAUSE=0.001, LAST_PAUSE=0.01)


class Questions(WithMachine):
    def test_each_key_is_asked_once(self) -> None:
        proxy = Proxy(self.machine, random.Random(7), 0.6)
        self.addCleanup(proxy.end)
        person = Person(self.machine)
        person.start()
        self.addCleanup(person.end)
        inbox, number = proxy.inbox(), 0
        with quick():
            while proxy.cut < CUTS:
                number += 1
                text = f"Cut {number}?"
                if number % 2:
                    answers = [askbridge.ask(text, key=text, inbox=inbox) for _ in range(2)]
                else:
                    answers = [asyncio.run(askbridge.ask_async(text, key=text, inbox=inbox)) for _ in range(2)]
                self.assertEqual(answers, person.told[text] * 2)
        self.assertEqual([len(ids) for ids in person.ids.values()], [1] * number)
        print(f"{proxy.cut} connections cut, {number} keys", end=" ")


class Approvals(WithMachine):
    def test_each_is_spent_once(self) -> None:
        proxy = Proxy(self.machine, random.Random(8), 0.6)
        self.addCleanup(proxy.end)
        inbox, number = proxy.inbox(), 0
        with quick():
            while proxy.cut < CUTS:
                number += 1
                tool = f"tool-{number}"
                pending = askbridge.start_permission(tool, {"n": number}, key=tool, inbox=inbox)
                self.machine.answer(f'"{tool}"', "allow")
                decision = pending.wait()
                key = f"run-{number}" if number % 2 else None
                self.assertEqual(decision.consume(key), {"n": number})
                decision.report(True)
                with self.assertRaises(askbridge.Refused) as caught:
                    decision.consume()
                self.assertEqual(caught.exception.name, "spent")
        self.assertEqual(self.machine.open(), [])
        print(f"{proxy.cut} connections cut, {number} approvals", end=" ")


if __name__ == "__main__":
    unittest.main()
