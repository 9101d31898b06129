"""Permissions: what is sent, what was decided, and that an approval is spent once, by a server that is played."""

from __future__ import annotations

import asyncio
import signal
import threading
import unittest
from typing import Any, Dict, List, Optional

import askbridge
from fake import CUT, Fake, Request, Say, problem, record, settled
from machine import PATIENCE, Machine

DIGEST = "sha256:" + "a" * 64
CHANGED = "sha256:" + "b" * 64


def allowed(**grant: Any) -> Dict[str, Any]:
    return settled({"status": "answered", "values": {"q0": "allow"}}, grant={"digest": DIGEST, **grant})


def permission(settlement: Optional[Any] = None) -> Dict[str, Any]:
    action = {"digest": DIGEST, "request": {"tool": "deploy", "arguments": {"to": "prod"}}}
    return record("p-1", settlement, purpose="permission", action=action, subject={})


class Played:
    """What the inbox does about one permission."""

    def __init__(self, settlement: Any, lost: int = 0) -> None:
        self.settlement, self.lost = settlement, lost
        self.spent: Dict[str, Any] = {}
        self.reports: List[Any] = []
        self.is_withdrawn = False

    def __call__(self, request: Request) -> Any:
        if request.path == "/v1/questions":
            return Say(201, permission())
        if request.path.startswith("/v1/questions/p-1?wait="):
            return Say(200, permission(self.settlement))
        if request.method == "DELETE":
            self.is_withdrawn = True
            return Say(204)
        if request.path == "/v1/questions/p-1/consume":
            return self.consume(request)
        if request.path == "/v1/questions/p-1/outcome":
            self.reports.append(request.body)
            return Say(204) if self.reports[0] == request.body else problem(409, "reported")
        return problem(404, "no_such_path")

    def consume(self, request: Request) -> Any:
        key, grant = request.headers["idempotency-key"], (self.settlement or {}).get("grant")
        if grant is None:
            return problem(409, "not_allowed")
        if request.body["digest"] != grant["digest"]:
            return problem(409, "stale")
        if self.spent and key not in self.spent:
            return problem(409, "spent")
        self.spent[key] = request.body
        self.lost -= 1
        if self.lost >= 0:
            # It is spent, and nobody hears of it.
            return CUT
        return Say(200, {"digest": grant["digest"], "consumedAt": "2026-01-01T00:00:00Z", **({"arguments": grant["arguments"]} if "arguments" in grant else {})})


class Permissions(unittest.TestCase):
    def test_what_is_asked(self) -> None:
        with Fake(Played(allowed())) as fake:
            askbridge.permission(
                "deploy", {"to": "prod"}, command="make deploy", folder="/srv", files=["/srv/a"], server="ci", kind="execute",
                title="Deployment", description="why", message="May I?", changes=True, schema={"type": "object"}, grant=600,
                agent="bot", project="/srv", session="s", timeout=1.5, key="k", inbox=fake.inbox(),
            )  # fmt: skip
            body = {
                "purpose": "permission",
                "subject": {
                    "kind": "execute", "tool": "deploy", "server": "ci", "arguments": {"to": "prod"},
                    "command": "make deploy", "folder": "/srv", "files": ["/srv/a"], "title": "Deployment", "description": "why",
                },
                "message": "May I?", "changes": True, "schema": {"type": "object"}, "grantMs": 600_000, "agent": "bot",
                "project": "/srv", "sessionId": "s", "timeoutMs": 1500, "wait": False,
            }  # fmt: skip
            self.assertEqual(fake.requests[0].body, body)
            self.assertEqual(fake.requests[0].headers["idempotency-key"], '"k"')
            askbridge.permission(command="ls", inbox=fake.inbox())
            self.assertEqual(fake.requests[-2].body, {"purpose": "permission", "subject": {"command": "ls"}, "wait": False})
            askbridge.permission("now", {}, inbox=fake.inbox())
            self.assertEqual(fake.requests[-2].body["subject"], {"tool": "now", "arguments": {}})

    def test_what_was_decided(self) -> None:
        with Fake(Played(allowed(expires="2026-01-01T00:10:00Z"))) as fake:
            decision = askbridge.permission("deploy", {"to": "prod"}, inbox=fake.inbox())
            self.assertTrue(decision and decision.allowed and not decision.changed)
            self.assertEqual((decision.id, decision.digest, decision.expires), ("p-1", DIGEST, "2026-01-01T00:10:00Z"))
            self.assertEqual((decision.arguments, decision.reason, decision.by), ({"to": "prod"}, None, {"responder": "page"}))
            self.assertNotIn("prod", repr(decision))
        rejected = settled({"status": "rejected", "reason": "user"}, remark="not now")
        with Fake(Played(rejected)) as fake:
            decision = askbridge.permission("deploy", inbox=fake.inbox())
            self.assertFalse(decision or decision.allowed)
            self.assertEqual((decision.reason, decision.remark), ("user", "not now"))
            with self.assertRaises(askbridge.Refused) as caught:
                decision.consume()
            self.assertEqual(caught.exception.name, "not_allowed")

    def test_nothing_but_a_grant_allows(self) -> None:
        for settlement in (
            settled({"status": "answered", "values": {"q0": "allow"}}),
            settled({"status": "answered", "values": {"q0": "allow"}}, grant=None),
            settled({"status": "answered", "values": {"q0": "allow"}}, grant=True),
            settled({"status": "rejected", "reason": "timeout"}, grant={"digest": DIGEST}),
            settled({"status": "failed"}, grant={"digest": DIGEST}),
            settled({}),
        ):
            with self.subTest(settlement=settlement), Fake(Played(settlement)) as fake:
                self.assertFalse(askbridge.permission("deploy", inbox=fake.inbox()))

    def test_changed_arguments(self) -> None:
        with Fake(Played(allowed(digest=CHANGED, arguments={"to": "staging"}))) as fake:
            inbox = fake.inbox()
            decision = askbridge.permission("deploy", {"to": "prod"}, changes=True, inbox=inbox)
            self.assertTrue(decision.changed)
            self.assertEqual((decision.arguments, decision.digest), ({"to": "staging"}, CHANGED))
            self.assertEqual(decision.consume(), {"to": "staging"})
            with self.assertRaisesRegex(ValueError, "changes=True"):
                askbridge.permission("deploy", {}, schema={}, inbox=inbox)

    def test_an_approval_is_spent_once(self) -> None:
        played = Played(allowed())
        with Fake(played) as fake:
            decision = askbridge.permission("deploy", {"to": "prod"}, inbox=fake.inbox())
            self.assertEqual(decision.consume("run-1"), {"to": "prod"})
            self.assertEqual(decision.consume("run-1"), {"to": "prod"})
            for key in (None, "run-2"):
                with self.assertRaises(askbridge.Refused) as caught:
                    decision.consume(key)
                self.assertEqual((caught.exception.status, caught.exception.name), (409, "spent"))
            self.assertEqual(len(played.spent), 1)

    def test_a_lost_response_spends_it_once(self) -> None:
        for key in (None, "run-1"):
            played = Played(allowed(), lost=3)
            with self.subTest(key=key), Fake(played) as fake:
                decision = askbridge.permission("deploy", {"to": "prod"}, inbox=fake.inbox())
                self.assertEqual(decision.consume(key), {"to": "prod"})
                self.assertEqual(len(played.spent), 1)
                with self.assertRaises(askbridge.Refused):
                    decision.consume()

    def test_what_came_of_it_is_reported(self) -> None:
        played = Played(allowed())
        with Fake(played) as fake:
            decision = askbridge.permission("deploy", inbox=fake.inbox())
            decision.report(True, "deployed")
            decision.report(True, "deployed")
            with self.assertRaises(askbridge.Refused) as caught:
                decision.report(False)
            self.assertEqual(caught.exception.name, "reported")
            self.assertEqual(played.reports[0], {"status": "succeeded", "note": "deployed"})
            self.assertEqual(played.reports[2], {"status": "failed"})

    def test_by_asyncio(self) -> None:
        async def all_of_it(inbox: askbridge.Inbox) -> Any:
            decision = await askbridge.permission_async("deploy", {"to": "prod"}, inbox=inbox)
            assert decision
            arguments = await decision.consume_async()
            await decision.report_async(True)
            pending = await askbridge.start_permission_async("deploy", {"to": "prod"}, inbox=inbox)
            return arguments, (await pending.wait_async()).arguments

        played = Played(allowed())
        with Fake(played) as fake:
            self.assertEqual(asyncio.run(all_of_it(fake.inbox())), ({"to": "prod"}, {"to": "prod"}))
            self.assertEqual(played.reports, [{"status": "succeeded"}])

    def test_start_and_wait(self) -> None:
        with Fake(Played(allowed())) as fake:
            pending = askbridge.start_permission("deploy", {"to": "prod"}, inbox=fake.inbox())
            self.assertEqual(pending.wait().arguments, {"to": "prod"})
            self.assertEqual(askbridge.wait(pending).arguments, {"to": "prod"})
            elsewhere = askbridge.wait(pending.id, inbox=fake.inbox())
            self.assertIsInstance(elsewhere, askbridge.Decision)
            self.assertTrue(elsewhere)
            self.assertEqual(elsewhere.arguments, {"to": "prod"})

    def test_an_agents_permission_is_no_grant(self) -> None:
        chosen = settled({"status": "answered", "values": {"q0": "allow"}})
        with Fake([Say(200, record("a-1", chosen, purpose="permission", subject={}))]) as fake:
            self.assertEqual(askbridge.wait("a-1", inbox=fake.inbox()), "allow")

    def test_an_interrupted_one_is_withdrawn(self) -> None:
        code = (
            "import askbridge, asyncio, signal, sys\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "inbox = askbridge.Inbox(sys.argv[1], token='t')\n"
            "key = sys.argv[3] or None\n"
            "try:\n"
            "    if sys.argv[2] == 'threads': askbridge.permission('x', key=key, inbox=inbox)\n"
            "    else: asyncio.run(askbridge.permission_async('x', key=key, inbox=inbox))\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"
        )
        machine = Machine()
        self.addCleanup(machine.remove)
        for way in ("threads", "asyncio"):
            for key in ("", "k"):
                waits = WaitsForEver()
                with self.subTest(way=way, key=key), Fake(waits) as fake:
                    asker = machine.program(code, str(fake.inbox().url), way, key)
                    self.assertTrue(waits.is_waiting.wait(PATIENCE))
                    asker.send_signal(signal.SIGINT)
                    said, error = asker.communicate(timeout=PATIENCE)
                    self.assertEqual((said, error), (b"interrupted\n", b""))
                    self.assertEqual([request.path for request in fake.requests if request.method == "DELETE"], [] if key else ["/v1/questions/p-1"])
                    waits.ends.set()


class WaitsForEver(Played):
    def __init__(self) -> None:
        super().__init__(None)
        self.is_waiting, self.ends = threading.Event(), threading.Event()

    def __call__(self, request: Request) -> Any:
        if request.method != "GET":
            return super().__call__(request)
        self.is_waiting.set()
        self.ends.wait(PATIENCE)
        return super().__call__(request)


if __name__ == "__main__":
    unittest.main()
