"""Responses that are lost, late or wrong, by a server that is played; and nothing secret in any text."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
import unittest
from typing import Any, Callable, List
from unittest import mock

import askbridge
from askbridge import _crowd
from fake import CUT, HALF, SHORT, Fake, Request, Say, problem, record, settled

ANSWERED = settled({"status": "answered", "values": {"q0": "yes"}})
BOTH = {"threads": askbridge.ask, "asyncio": lambda *a, **o: asyncio.run(askbridge.ask_async(*a, **o))}


class Trouble(unittest.TestCase):
    def setUp(self) -> None:
        # No time is lost.
        pauses = mock.patch.multiple("askbridge._line", FIRST_PAUSE=0.01, LAST_PAUSE=0.2)
        pauses.start()
        self.addCleanup(pauses.stop)

    def each_way(self, answers: Callable[[], List[Any]], check: Callable[..., None], **options: Any) -> None:
        """Checks what `ask` does, by threads and by asyncio."""
        for way, ask in BOTH.items():
            with self.subTest(way=way), Fake(answers()) as fake:
                check(lambda **more: ask("Yes?", inbox=fake.inbox(**options), **more), fake)

    def test_a_lost_request_is_sent_again_under_the_same_key(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            self.assertEqual(ask(key="k 1"), "yes")
            posts = [request for request in fake.requests if request.method == "POST"]
            self.assertEqual(len(posts), 5)
            self.assertEqual({request.headers["idempotency-key"] for request in posts}, {'"k 1"'})
            self.assertEqual(len({str(request.body) for request in posts}), 1)
            self.assertIs(posts[0].body["wait"], False)

        self.each_way(lambda: [CUT, HALF, SHORT, problem(503, "unavailable"), Say(201, record()), CUT, HALF, SHORT, Say(200, record()), Say(200, record(settlement=ANSWERED))], check)

    def test_what_has_no_key_is_asked_once_by_one_call(self) -> None:
        for call in (askbridge.start, askbridge.start_permission, askbridge.permission):
            with self.subTest(call=call), Fake([CUT, HALF, *[Say(201, record(settlement=ANSWERED))] * 2]) as fake:
                call("Yes?", inbox=fake.inbox())
                keys = [request.headers.get("idempotency-key") for request in fake.requests]
                self.assertEqual((len(keys), len(set(keys))), (3, 1))
                call("Yes?", inbox=fake.inbox())
                self.assertNotIn(fake.requests[3].headers["idempotency-key"], keys)

    def test_a_question_that_its_connection_held_is_asked_again(self) -> None:
        ends = settled({"status": "rejected", "reason": "shutdown"}) | {"by": {"responder": "bridge"}}

        def check(ask: Any, fake: Fake) -> None:
            self.assertEqual(ask(timeout=30), "yes")
            times = [request.body["timeoutMs"] for request in fake.requests]
            self.assertEqual(times, sorted(times, reverse=True), "its time goes on")
            self.assertLess(times[-1], 30_000)
            self.assertNotIn("idempotency-key", fake.requests[0].headers)

        self.each_way(lambda: [HALF, CUT, Say(200, ends), problem(503, "inbox_ends"), Say(200, ANSWERED)], check)

    def test_spaces_before_a_response_are_no_response(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            self.assertEqual(ask(), "yes")

        text = b'    {"outcome": {"status": "answered", "values": {"q0": "yes"}}}'
        self.each_way(lambda: [Say(200, text)], check)

    def test_a_token_that_has_changed_is_read_again(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            self.assertEqual(ask(), "yes")

        self.each_way(lambda: [problem(401, "wrong_token"), Say(200, ANSWERED)], check)

    def test_a_wrong_token_is_said(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            with self.assertRaisesRegex(askbridge.Refused, "send the token in /run/x/token") as caught:
                ask()
            self.assertEqual((caught.exception.status, caught.exception.name), (401, "wrong_token"))
            self.assertEqual(len(fake.requests), 2)

        wrong = problem(401, "wrong_token", detail="send the token in /run/x/token with the request")
        self.each_way(lambda: [wrong, wrong], check)

    def test_a_refusal_says_what_is_wrong(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            with self.assertRaisesRegex(askbridge.Refused, "422 bad_question.*cannot be asked.*q0 is too long") as caught:
                ask(key="k")
            self.assertEqual(caught.exception.errors, [{"field": "q0", "message": "is too long"}])
            self.assertEqual(len(fake.requests), 1)

        bad = problem(422, "bad_question", detail="it cannot be asked", errors=[{"field": "q0", "message": "is too long"}])
        self.each_way(lambda: [bad], check)

    def test_who_keeps_nothing_says_so(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            with self.assertRaises(askbridge.Refused) as caught:
                ask(key="k")
            self.assertEqual(caught.exception.name, "not_kept")

        self.each_way(lambda: [problem(503, "not_kept", detail="there is no journal")] * 20, check)

    def test_a_crowded_inbox_is_waited_for(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            self.assertEqual(ask(key="k"), "yes")
            self.assertEqual(len(fake.requests), 11)

        crowd = [problem(429, "too_many_requests"), problem(503, "too_many_connections")] * 4
        # Its patience is for an inbox that is not there.
        self.each_way(lambda: [Say(201, record()), *crowd, CUT, Say(200, record(settlement=ANSWERED))], check, patience=0.05)

    def test_another_server_is_no_inbox(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            with self.assertRaises(askbridge.AskbridgeError) as caught:
                ask()
            self.assertNotIsInstance(caught.exception, askbridge.Rejected)

        for other in (Say(200, b"<html>"), Say(200, []), Say(200), Say(302, b"", {"Location": "http://other.example/"}), Say(404, b"nothing"), Say(500, b"[]")):
            with self.subTest(other=other):
                self.each_way(lambda: [other], check)

    def test_a_server_that_only_cuts_is_not_reached(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            start = time.monotonic()
            with self.assertRaisesRegex(askbridge.NoInbox, "not reached"):
                ask(key="k")
            self.assertLess(time.monotonic() - start, 20)

        self.each_way(lambda: [CUT] * 1000, check, patience=0.3)

    def test_an_inbox_that_says_open_at_once_is_not_asked_all_the_time(self) -> None:
        with Fake(lambda request: Say(200, record())) as fake:
            with self.assertRaises(askbridge.StillOpen):
                askbridge.wait("q-1", 1, inbox=fake.inbox())
            self.assertLess(len(fake.requests), 8)

    def test_a_question_without_a_connection_is_looked_up(self) -> None:
        def check(ask: Any, fake: Fake) -> None:
            self.assertEqual(ask(key="k"), "yes")
            paths = [request.path for request in fake.requests[1:]]
            self.assertEqual(paths, ["/v1/questions/q-1?wait=0ms"] * 3)
            with self.assertRaises(askbridge.StillOpen):
                askbridge.wait("q-1", 0.1, inbox=fake.inbox())

        with mock.patch("askbridge._crowd.CONNECTIONS", 0), mock.patch("askbridge._crowd.LOOKS", 1e9):
            self.each_way(lambda: [Say(201, record()), *[Say(200, record())] * 2, Say(200, record(settlement=ANSWERED)), Say(200, record())], check)
            self.assertEqual((_crowd.CROWD._connected, _crowd.CROWD._others), (0, 0))

    def test_ends_of_another_version(self) -> None:
        cases = [
            (settled({"status": "rejected", "reason": "policy"}), askbridge.Rejected, "policy"),
            (settled({"status": "rejected", "reason": "timeout"}), askbridge.TimedOut, "timeout"),
            (settled({"status": "rejected", "reason": "withdrawn"}), askbridge.Withdrawn, "withdrawn"),
            (settled({"status": "failed"}), askbridge.Rejected, "failed"),
            (settled({"status": "postponed"}), askbridge.Rejected, "postponed"),
            (settled({}), askbridge.Rejected, "unknown"),
        ]
        for settlement, kind, reason in cases:
            with self.subTest(settlement=settlement), Fake([Say(200, settlement)]) as fake:
                with self.assertRaises(kind) as caught:
                    askbridge.ask("Yes?", inbox=fake.inbox())
                self.assertEqual((type(caught.exception), getattr(caught.exception, "reason")), (kind, reason))

    def test_a_lost_question_is_said(self) -> None:
        with Fake([Say(200, {**record(), "state": "lost"})]) as fake:
            with self.assertRaisesRegex(askbridge.AskbridgeError, "q-1 is lost"):
                askbridge.wait("q-1", inbox=fake.inbox())

    def test_a_value_of_a_schema(self) -> None:
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        for value in ({"n": 3}, [1, 2], None, False, "text", 4):
            outcome = settled({"status": "answered", "values": {"n": 3}}, value=value)
            answers = [Say(200, outcome), Say(200, record(settlement=outcome))]
            with self.subTest(value=value), Fake(answers) as fake:
                inbox = fake.inbox()
                self.assertEqual(askbridge.ask("How many?", schema=schema, inbox=inbox), value)
                self.assertEqual(askbridge.wait("q-1", inbox=inbox), value)
                self.assertEqual(fake.requests[0].body, {"message": "How many?", "schema": schema})

    def test_no_text_has_a_token_or_a_secret(self) -> None:
        token, secret = "s3cr3t-t0ken", "hunter2"
        texts: List[str] = []

        class Listener(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                texts.append(self.format(record))

        root = logging.getLogger()
        listener, level = Listener(), root.level
        root.addHandler(listener)
        root.setLevel(logging.DEBUG)
        self.addCleanup(root.setLevel, level)
        self.addCleanup(root.removeHandler, listener)
        answered = settled({"status": "answered", "values": {"q0": secret}})
        for answers in ([Say(200, answered)], [problem(422, "bad_question")], [HALF, problem(500, "broken")], [problem(401, "wrong_token")] * 2):
            for ask in BOTH.values():
                with Fake(list(answers)) as fake:
                    inbox = fake.inbox(token=token)
                    texts.append(repr(inbox) + repr(inbox.locate()) + str(inbox))
                    try:
                        self.assertEqual(ask("Which?", secret=True, inbox=inbox), secret)
                    except askbridge.AskbridgeError as error:
                        texts.append("".join(traceback.format_exception(type(error), error, error.__traceback__)) + repr(vars(error)))
                self.assertIn(token, fake.requests[0].headers["authorization"])
        for wrong in ("", "a b", "a\nX-Injected: 1", "ä"):
            with self.assertRaises(askbridge.NoInbox) as caught:
                askbridge.ask("Yes?", inbox=askbridge.Inbox("http://127.0.0.1:9", token=wrong))
            self.assertNotIn("Injected", str(caught.exception))
        for text in texts:
            self.assertNotIn(token, text)
            self.assertNotIn(secret, text)
        self.assertGreater(len(texts), 10)

    def test_addresses_that_are_none(self) -> None:
        for url in ("", "127.0.0.1:8421", "ftp://127.0.0.1", "http://", "http://a:b@127.0.0.1", "http://127.0.0.1:99999"):
            with self.subTest(url=url), self.assertRaises(ValueError):
                askbridge.Inbox(url, token="t")
        for options in ({"url": "http://127.0.0.1"}, {"token": "t"}):
            with self.subTest(options=options), self.assertRaises(ValueError):
                askbridge.Inbox(**options)  # type: ignore[arg-type]

    def test_a_path_before_the_paths(self) -> None:
        def answer(request: Request) -> Any:
            return Say(200, ANSWERED) if request.path == "/ask/v1/questions" else problem(404, "no_such_path")

        with Fake(answer) as fake:
            url = fake.inbox().url
            inbox = askbridge.Inbox(f"{url}/ask/", token="t")
            self.assertEqual(askbridge.ask("Yes?", inbox=inbox), "yes")

    def test_a_remark_that_a_terminal_would_obey(self) -> None:
        remark = "no\x1b[2J\r\n\u202eevil"
        answer = settled({"status": "rejected", "reason": "user"}, remark=remark)
        with Fake([Say(200, answer)]) as fake, self.assertRaises(askbridge.Rejected) as caught:
            askbridge.ask("Yes?", inbox=fake.inbox())
        self.assertEqual(caught.exception.remark, remark)
        self.assertTrue(str(caught.exception).isprintable(), repr(str(caught.exception)))


if __name__ == "__main__":
    unittest.main()
