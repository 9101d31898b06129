"""The same by asyncio: without threads, and with tasks that are cancelled."""

from __future__ import annotations

import asyncio
import threading
import unittest

import askbridge
from machine import PATIENCE, WithMachine, until


class Asynchronous(WithMachine, unittest.IsolatedAsyncioTestCase):
    async def elsewhere(self, call, *arguments):  # type: ignore[no-untyped-def]
        """Lets the person do something, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(None, call, *arguments)

    async def test_questions_need_no_threads(self) -> None:
        # The first one finds the inbox.
        await (await askbridge.start_async("Where is it?")).cancel_async()
        names = [f"Task {number}?" for number in range(60)]
        before = threading.active_count()
        # A connection each, of which an inbox has 128. Of the others, few need one.
        held = names[:20]
        asking = [asyncio.ensure_future(askbridge.ask_async(name)) for name in held]
        waiting = [asyncio.ensure_future(askbridge.ask_async(name, key=name)) for name in names]

        def answer() -> None:
            until("all questions", lambda: len(self.machine.open()) == 80, lambda: len(self.machine.open()))
            for record in self.machine.open():
                field = record["question"]["fields"][0]
                self.machine.reply(record["id"], {field["name"]: f"to {field['label']}"})

        person = threading.Thread(target=answer, daemon=True)
        person.start()
        answers = await asyncio.wait_for(asyncio.gather(*asking, *waiting), PATIENCE)
        self.assertEqual(answers, [f"to {name}" for name in held + names])
        self.assertLessEqual(threading.active_count(), before + 1)
        person.join(PATIENCE)

    async def test_a_cancelled_task_withdraws_its_question(self) -> None:
        for key in (None, "cancelled-1"):
            asking = asyncio.ensure_future(askbridge.ask_async("Cancelled?", key=key))
            id = (await self.elsewhere(self.machine.question, "Cancelled?"))["id"]
            asking.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await asking
            if key is not None:
                self.assertEqual([record["id"] for record in self.machine.open()], [id])
                await askbridge.cancel_async(id)
            await self.elsewhere(until, "withdrawal", lambda: not self.machine.open(), self.machine.open)

    async def test_a_limit_of_asyncio_ends_it(self) -> None:
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(askbridge.ask_async("In time?"), 0.3)
        await self.elsewhere(until, "withdrawal", lambda: not self.machine.open(), self.machine.open)

    async def test_start_wait_and_cancel(self) -> None:
        pending = await askbridge.start_async("Soon?")
        with self.assertRaises(askbridge.StillOpen):
            await askbridge.wait_async(pending.id, 0.1)
        waiting = asyncio.ensure_future(pending.wait_async())
        await self.elsewhere(self.machine.answer, "Soon?", "yes")
        self.assertEqual([await waiting, await askbridge.wait_async(pending)], ["yes", "yes"])
        with self.assertRaises(askbridge.Refused):
            await pending.cancel_async()
        with self.assertRaises(askbridge.TimedOut):
            await askbridge.ask_async("Late?", timeout=0.2)

    async def test_others_run_while_a_question_waits(self) -> None:
        asking = asyncio.ensure_future(askbridge.ask_async("Meanwhile?"))
        await self.elsewhere(self.machine.question, "Meanwhile?")
        for _ in range(1000):
            await asyncio.sleep(0)
        self.assertFalse(asking.done())
        await self.elsewhere(self.machine.answer, "Meanwhile?", "yes")
        self.assertEqual(await asking, "yes")


if __name__ == "__main__":
    unittest.main()
