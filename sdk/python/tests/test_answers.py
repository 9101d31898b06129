"""What is asked, and what comes back, by the real program."""

from __future__ import annotations

import threading
import unittest
from typing import Any

import askbridge
from machine import PATIENCE, WithMachine, until


class Answers(WithMachine):
    def test_a_text(self) -> None:
        asking = self.aside(askbridge.ask, "What is the name?")
        self.machine.answer("What is the name?", "Ada")
        self.assertEqual(asking.result(PATIENCE), "Ada")

    def test_one_of_some_options(self) -> None:
        for options in (["sqlite", "pg"], {"sqlite": "SQLite", "pg": "Postgres"}, [{"value": "pg", "label": "Postgres"}]):
            with self.subTest(options=options):
                asking = self.aside(askbridge.ask, "Which database?", options=options)
                self.machine.answer("Which database?", "pg")
                self.assertEqual(asking.result(PATIENCE), "pg")

    def test_a_form(self) -> None:
        fields = [
            {"name": "go", "label": "Deploy?", "kind": "boolean", "required": True},
            {"name": "where", "label": "Where?", "kind": "text"},
        ]
        asking = self.aside(askbridge.ask, "Deploy 1.4?", fields=fields, agent="deploy", title="Deployment", session="s-1")
        record = self.machine.question("Deploy 1.4?")
        self.machine.reply(record["id"], {"go": True, "where": "staging"})
        self.assertEqual(asking.result(PATIENCE), {"go": True, "where": "staging"})
        asked = record["question"]
        self.assertEqual((asked["agent"], asked["title"], asked["sessionId"]), ("deploy", "Deployment", "s-1"))

    def test_a_form_of_one_field_is_a_form(self) -> None:
        fields = [{"name": "go", "label": "Go on?", "kind": "boolean", "required": True}]
        asking = self.aside(askbridge.ask, fields=fields)
        self.machine.answer("Go on?", False)
        self.assertEqual(asking.result(PATIENCE), {"go": False})

    def test_a_folder_is_told_as_an_absolute_path(self) -> None:
        pending = askbridge.start("In which folder?", project="shop", dangerous=True)
        record = self.machine.question("In which folder?")
        self.assertTrue(record["question"]["project"].endswith("/shop"), record)
        self.assertTrue(record["question"]["dangerous"])
        pending.cancel()

    def test_a_rejection_has_the_remark(self) -> None:
        asking = self.aside(askbridge.ask, "May I?")
        self.machine.reject("May I?", "not on a Friday")
        with self.assertRaisesRegex(askbridge.Rejected, "not on a Friday") as caught:
            asking.result(PATIENCE)
        error = caught.exception
        self.assertEqual((error.reason, error.remark, error.by["responder"]), ("user", "not on a Friday", "http"))
        self.assertNotIsInstance(error, askbridge.TimedOut)

    def test_nobody_answers_in_time(self) -> None:
        for key in (None, "late-1"):
            with self.subTest(key=key), self.assertRaises(askbridge.TimedOut) as caught:
                askbridge.ask("Who is there?", timeout=0.2, key=key)
            self.assertEqual(caught.exception.reason, "timeout")
        # The same key is the same question, which is over.
        with self.assertRaises(askbridge.TimedOut):
            askbridge.ask("Who is there?", timeout=0.2, key="late-1")

    def test_a_key_asks_once(self) -> None:
        both = [self.aside(askbridge.ask, "Once?", key="once-1") for _ in range(2)]
        id = self.machine.answer("Once?", "yes")
        self.assertEqual([one.result(PATIENCE) for one in both], ["yes", "yes"])
        self.assertEqual(askbridge.ask("Once?", key="once-1"), "yes")
        self.assertEqual(askbridge.wait(id), "yes")
        with self.assertRaises(askbridge.Refused) as caught:
            askbridge.ask("Another one?", key="once-1")
        self.assertEqual((caught.exception.status, caught.exception.name), (409, "key_used"))

    def test_every_character_of_a_key_counts(self) -> None:
        keys = ["a", " a", "a ", '"a"', '"', "a" * 255]
        ids = {askbridge.start("Which key?", key=key).id for key in keys}
        self.assertEqual(len(ids), len(keys))
        again = {askbridge.start("Which key?", key=key).id for key in keys}
        self.assertEqual(again, ids)
        for id in ids:
            askbridge.cancel(id)
        for key in ("", "a" * 256, "ä", "a\nb", "a\x00", 1):
            with self.subTest(key=key), self.assertRaisesRegex(ValueError, "key"):
                askbridge.ask("Which key?", key=key)  # type: ignore[arg-type]

    def test_hostile_texts_come_back_as_they_were(self) -> None:
        texts = [
            "\x1b[2J\x1b]0;title\x07",
            "\u202etxet\u202c \u200b\ufeff",
            "a\r\nHTTP/1.1 200 OK\r\n\r\n{}",
            "\x00\x7f\x80\u2028\u2029",
            '"}],"message":"other"',
            "<script>alert(1)</script> [x](javascript:x) `x` ![](http://a.example/x)",
            "$(touch x); `touch x`; %s %n {0} \\",
            "\U0001f469\u200d\U0001f4bb \u0e33\u0301" + "\u0301" * 100,
            "x" * 3000,
        ]
        for number, text in enumerate(texts):
            for key in (None, f"hostile-{number}"):
                with self.subTest(text=text[:30], key=key):
                    asked = f"{number} {text}"
                    asking = self.aside(askbridge.ask, asked, key=key, title=text[:100], agent=text[:100], session=text[:100])
                    record = until("question", self.machine.open, self.machine.open)[0]
                    self.assertEqual(record["question"]["fields"][0]["label"], asked)
                    self.machine.reply(record["id"], {"q0": text})
                    self.assertEqual(asking.result(PATIENCE), text)

    def test_start_and_wait(self) -> None:
        pending = askbridge.start("Later?", options=["a", "b"])
        with self.assertRaisesRegex(askbridge.StillOpen, pending.id):
            askbridge.wait(pending.id, timeout=0.1)
        self.assertTrue(issubclass(askbridge.StillOpen, TimeoutError))
        waiting = self.aside(pending.wait)
        self.machine.answer("Later?", "b")
        self.assertEqual([waiting.result(PATIENCE), askbridge.wait(pending), askbridge.wait(pending.id)], ["b"] * 3)

    def test_what_is_cancelled_is_withdrawn(self) -> None:
        pending = askbridge.start("Never mind?")
        waiting = self.aside(askbridge.wait, pending.id)
        askbridge.cancel(pending)
        with self.assertRaises(askbridge.Withdrawn):
            waiting.result(PATIENCE)
        askbridge.cancel(pending.id)
        decided = askbridge.start("Decided?")
        self.machine.answer("Decided?", "yes")
        with self.assertRaises(askbridge.Refused) as caught:
            askbridge.cancel(decided)
        self.assertEqual(caught.exception.name, "conflict")
        # A connection holds it.
        asking = self.aside(askbridge.ask, "Held?")
        id = self.machine.question("Held?")["id"]
        with self.assertRaises(askbridge.Refused) as caught:
            askbridge.cancel(id)
        self.assertEqual(caught.exception.name, "held")
        self.machine.answer("Held?", "yes")
        asking.result(PATIENCE)

    def test_a_question_that_nobody_knows(self) -> None:
        for call in (askbridge.wait, askbridge.cancel):
            for id in ("nobody-1", "../questions", "a/b", "?"):
                with self.subTest(call=call, id=id), self.assertRaises(askbridge.Refused) as caught:
                    call(id)
                self.assertEqual(caught.exception.status, 404, caught.exception)

    def test_a_secret_is_for_the_asker_alone(self) -> None:
        asking = self.aside(askbridge.ask, "Which password?", secret=True)
        id = self.machine.answer("Which password?", "hunter2")
        self.assertEqual(asking.result(PATIENCE), "hunter2")
        self.assertEqual(askbridge.wait(id), "(secret)")
        secret = [{"name": "p", "label": "P?", "kind": "text", "secret": True}]
        for call in (lambda: askbridge.ask("P?", secret=True, key="p-1"), lambda: askbridge.start(fields=secret)):
            with self.assertRaisesRegex(ValueError, "secret"):
                call()

    def test_many_threads_ask_at_once(self) -> None:
        names = [f"Thread {number}?" for number in range(20)]
        asking = [self.aside(askbridge.ask, name, key=None if number % 2 else name) for number, name in enumerate(names)]
        for name in reversed(names):
            self.machine.answer(name, f"to {name}")
        self.assertEqual([one.result(PATIENCE) for one in asking], [f"to {name}" for name in names])

    def test_what_cannot_be_asked(self) -> None:
        bad: Any = [
            (ValueError, {}),
            (ValueError, {"message": "Both?", "options": ["a"], "secret": True}),
            (ValueError, {"message": "Both?", "options": ["a"], "fields": []}),
            (ValueError, {"message": "Text?", "options": "ab"}),
            (ValueError, {"message": "Time?", "timeout": 0}),
            (ValueError, {"message": "Time?", "timeout": float("nan")}),
            (ValueError, {"message": "Time?", "timeout": float("inf")}),
            (ValueError, {"message": "No options?", "options": []}),
            (ValueError, {"message": "Two alike?", "options": ["a", "a"]}),
            (ValueError, {"message": "An empty one?", "options": ["a", ""]}),
            (ValueError, {"message": "Two labels?", "options": {"a": "A", "b": "A"}}),
            (ValueError, {}),
            (ValueError, {"message": "Not JSON?", "fields": [{"name": "n", "kind": "number", "min": float("nan")}]}),
            (askbridge.Refused, {"message": "No fields?", "fields": []}),
            (askbridge.Refused, {"message": "Too long? " * 1000}),
            (askbridge.Refused, {"message": "Far too long? " * 100_000}),
            (askbridge.Refused, {"message": "No text: \ud800"}),
            (askbridge.Refused, {"fields": [{"name": "x", "label": "X?", "kind": "colour"}]}),
        ]
        for kind, options in bad:
            for call in (askbridge.ask, askbridge.start):
                if call is askbridge.start and "secret" in options:
                    continue
                with self.subTest(options=options, call=call), self.assertRaises(kind) as caught:
                    call(**options)
                self.assertGreater(len(str(caught.exception)), 20)
        self.assertEqual(self.machine.open(), [])

    def test_an_interrupted_question_is_withdrawn(self) -> None:
        # A shell lets what it runs in the background ignore the signal.
        default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
        code = default + "\nimport askbridge\ntry:\n    {}\nexcept KeyboardInterrupt:\n    print('interrupted')"
        # What a permission does is in test_permission.py.
        for call, is_kept in (("askbridge.ask('Interrupt?')", False), ("askbridge.ask('Interrupt?', key='i-1')", True)):
            with self.subTest(call=call):
                asker = self.machine.program(code.format(call))
                id = self.machine.question("Interrupt?")["id"]
                asker.send_signal(2)
                said, error = asker.communicate(timeout=PATIENCE)
                self.assertEqual((said, error), (b"interrupted\n", b""))
                if is_kept:
                    self.assertEqual([record["id"] for record in self.machine.open()], [id])
                    askbridge.cancel(id)
                until("withdrawal", lambda: not self.machine.open(), self.machine.open)

    def test_a_thread_that_waits_is_no_reason_to_stay(self) -> None:
        before = threading.active_count()
        asking = self.aside(askbridge.ask, "One thread?")
        self.machine.question("One thread?")
        self.assertEqual(threading.active_count(), before + 1, "the thread that asks is the only one")
        self.machine.answer("One thread?", "yes")
        asking.result(PATIENCE)


if __name__ == "__main__":
    unittest.main()
