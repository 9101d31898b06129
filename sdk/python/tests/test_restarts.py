"""Questions outlive the inbox: it is killed, or ended in good order, while a program waits."""

from __future__ import annotations

import asyncio
import signal
import time
import unittest

import askbridge
from machine import PATIENCE, WithMachine

ENDS = (signal.SIGKILL, signal.SIGTERM)


class Restarts(WithMachine):
    def test_who_waits_finds_the_inbox_again(self) -> None:
        for how in ENDS:
            for key in (None, f"restart-{how}"):
                with self.subTest(how=how, key=key):
                    asking = self.aside(askbridge.ask, "Still there?", key=key)
                    before = self.machine.question("Still there?")["id"]
                    self.machine.end(how)
                    self.machine.start()
                    after = self.machine.answer("Still there?", f"after {how}")
                    self.assertEqual(asking.result(PATIENCE), f"after {how}")
                    # What is kept is the same question. What its connection held is asked again.
                    self.assertEqual(before == after, key is not None)

    def test_asyncio_does_so_too(self) -> None:
        for how in ENDS:
            with self.subTest(how=how):
                pending = [askbridge.start_async("Kept?", key=f"async-{how}"), askbridge.ask_async("Held again?")]
                waiting = self.aside(asyncio.run, gathered(*pending))
                for text in ("Kept?", "Held again?"):
                    self.machine.question(text)
                self.machine.end(how)
                self.machine.start()
                for text in ("Kept?", "Held again?"):
                    self.machine.answer(text, "yes")
                self.assertEqual(waiting.result(PATIENCE), ["yes", "yes"])

    def test_it_is_found_at_another_address(self) -> None:
        asking = self.aside(askbridge.ask, "Another port?", key="port-1")
        self.machine.question("Another port?")
        self.machine.end()
        before, self.machine.port = self.machine.port, 0
        self.machine.start()
        self.assertNotEqual(self.machine.port, before)
        self.machine.answer("Another port?", "yes")
        self.assertEqual(asking.result(PATIENCE), "yes")

    def test_a_deadline_passes_while_there_is_no_inbox(self) -> None:
        inbox = askbridge.Inbox(self.machine.url, token=self.machine.token)
        pending = askbridge.start("Too late?", timeout=0.3)
        self.machine.end()
        start = time.monotonic()
        with self.assertRaises(askbridge.NoInbox):
            # This inbox was there a moment ago, and is looked for until the time is over.
            askbridge.wait(pending.id, timeout=1, inbox=inbox)
        self.assertLess(time.monotonic() - start, 5)
        self.machine.start()
        with self.assertRaises(askbridge.TimedOut):
            askbridge.wait(pending.id)

    def test_a_held_question_keeps_its_time_over_a_restart(self) -> None:
        asking = self.aside(askbridge.ask, "One time?", timeout=30)
        self.machine.question("One time?")
        self.machine.end()
        self.machine.start()
        asked = self.machine.question("One time?")["question"]
        self.machine.answer("One time?", "yes")
        self.assertEqual(asking.result(PATIENCE), "yes")
        self.assertLess(asked["timeoutMs"], 30_000, asked)

    def test_an_inbox_that_does_not_come_back_is_said(self) -> None:
        inbox = askbridge.Inbox(patience=0.5)
        pending = askbridge.start("Gone for good?", key="gone-1", inbox=inbox)
        asking = self.aside(askbridge.ask, "Gone for good?", key="gone-1", inbox=inbox)
        self.machine.question("Gone for good?")
        self.machine.end()
        with self.assertRaises(askbridge.NoInbox):
            asking.result(PATIENCE)
        self.machine.start()
        # Nothing is lost.
        self.machine.answer("Gone for good?", "no")
        self.assertEqual(askbridge.ask("Gone for good?", key="gone-1"), "no")
        self.assertEqual(pending.wait(), "no")


async def gathered(starting, asking):  # type: ignore[no-untyped-def]
    async def both():  # type: ignore[no-untyped-def]
        return await (await starting).wait_async()

    return list(await asyncio.gather(both(), asking))


if __name__ == "__main__":
    unittest.main()
