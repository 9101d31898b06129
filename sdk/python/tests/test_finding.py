"""How the inbox and its token are found, and the inbox is started where none runs."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
from typing import Dict, List, Optional
from unittest import mock

import askbridge
from askbridge import _local, _program, _settings
from machine import PATIENCE, PROGRAM, Machine, WithMachine, until


class NoInbox(unittest.TestCase):
    """A machine on which no inbox runs."""

    def setUp(self) -> None:
        self.machine = Machine()
        self.addCleanup(self.machine.remove)
        environment = mock.patch.dict(os.environ, self.machine.env, clear=True)
        environment.start()
        self.addCleanup(environment.stop)

    def installs(self) -> None:
        """Installs the program, with an inbox that takes any free port."""
        folder = os.path.join(self.machine.home, "bin")
        os.mkdir(folder)
        os.symlink(PROGRAM, os.path.join(folder, "askbridge"))
        os.environ["PATH"] = f"{folder}:{self.machine.env['PATH']}"
        os.environ["ASKBRIDGE_INBOX_ADDRESS"] = "127.0.0.1:0"
        self.addCleanup(subprocess.run, [PROGRAM, "inbox", "--stop"], env=dict(os.environ), stdout=subprocess.DEVNULL)

    def answers(self, text: str, value: str) -> None:
        """Answers at the command line."""

        def listed() -> Optional[str]:
            said = subprocess.run([PROGRAM, "list"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ)).stdout.decode()
            return next((line.split()[0] for line in said.splitlines() if text in line), None)

        id = until(f"question {text}", listed)
        subprocess.run([PROGRAM, "answer", id, value], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))

    def test_without_an_inbox_and_a_program(self) -> None:
        with self.assertRaisesRegex(askbridge.NoInbox, "pip install askbridge"):
            askbridge.ask("Nobody there?")
        with self.assertRaisesRegex(askbridge.NoInbox, "askbridge inbox --detach"):
            askbridge.ask("Nobody there?", inbox=askbridge.Inbox(start=False))

    def test_it_is_started(self) -> None:
        self.installs()
        person = threading.Thread(target=self.answers, args=("Start?", "yes"), daemon=True)
        person.start()
        self.assertEqual(askbridge.ask("Start?"), "yes")
        person.join(PATIENCE)

    def test_it_is_started_again_while_a_question_waits(self) -> None:
        self.installs()
        pending = askbridge.start("Again?")
        # It is gone before anybody waits.
        subprocess.run([PROGRAM, "inbox", "--stop"], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
        person = threading.Thread(target=self.answers, args=("Again?", "yes"), daemon=True)
        person.start()
        self.assertEqual(pending.wait(), "yes")
        person.join(PATIENCE)

    def test_one_that_goes_away_is_replaced(self) -> None:
        self.installs()
        asked = threading.Event()
        answers: List[object] = []

        def ask() -> None:
            pending = askbridge.start("Replaced?")
            asked.set()
            answers.append(pending.wait())

        asker = threading.Thread(target=ask, daemon=True)
        with mock.patch("askbridge._line.RESTART", 0.1):
            asker.start()
            self.assertTrue(asked.wait(PATIENCE))
            subprocess.run([PROGRAM, "inbox", "--stop"], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
            self.answers("Replaced?", "yes")
            asker.join(PATIENCE)
        self.assertEqual(answers, ["yes"])

    def test_many_threads_start_one(self) -> None:
        self.installs()
        ran = []

        def count(*arguments: object, **options: object) -> object:
            ran.append(arguments)
            return subprocess_run(*arguments, **options)  # type: ignore[call-overload]

        subprocess_run = subprocess.run
        inbox = askbridge.Inbox()
        with mock.patch.object(_program.subprocess, "run", count):
            threads = [threading.Thread(target=inbox.locate) for _ in range(20)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
        self.assertEqual(len(ran), 1)

    def test_a_program_that_fails_says_why(self) -> None:
        folder = os.path.join(self.machine.home, "bin")
        os.mkdir(folder)
        script = os.path.join(folder, "askbridge")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho first\necho 'the address is taken\x1b[2J'\nexit 125\n")
        os.chmod(script, 0o700)
        os.environ["PATH"] = f"{folder}:{self.machine.env['PATH']}"
        with self.assertRaisesRegex(askbridge.NoInbox, "inbox --detach`: the address is taken") as caught:
            askbridge.ask("Why?")
        self.assertTrue(str(caught.exception).isprintable())

    def test_the_program_of_this_python_comes_first(self) -> None:
        self.installs()
        with tempfile.TemporaryDirectory() as scripts:
            own = os.path.join(scripts, "askbridge")
            with open(own, "w", encoding="utf-8"):
                os.chmod(own, 0o700)
            with mock.patch.object(_program.sysconfig, "get_path", lambda *_: scripts):
                self.assertEqual(_program.program(), own)
        self.assertEqual(_program.program(), os.path.join(self.machine.home, "bin/askbridge"))


class Finding(WithMachine):
    def test_whatever_the_environment_is(self) -> None:
        home = self.machine.home
        names = ("XDG_RUNTIME_DIR", "XDG_STATE_HOME")
        for name, value in [(names[0], home), (names[1], home), (names[0], f"{home}/"), ("ASKBRIDGE_RUN_USER", "/nowhere")]:
            others: Dict[str, str] = {other: "/nowhere" for other in names if other != name}
            if name == "ASKBRIDGE_RUN_USER":
                others = {names[0]: home}
            with self.subTest(name=name), mock.patch.dict(os.environ, {**others, name: value}):
                self.assertEqual(askbridge.Inbox(start=False).locate().port, self.machine.port)
        before = os.getcwd()
        os.chdir(os.path.dirname(home))
        self.addCleanup(os.chdir, before)
        for environment in ({names[0]: os.path.basename(home)}, {names[0]: ""}, {names[0]: f"{home}/askbridge"}):
            with self.subTest(environment=environment), mock.patch.dict(os.environ, environment):
                with self.assertRaises(askbridge.NoInbox):
                    askbridge.Inbox(start=False).locate()

    def test_another_environment_has_another_inbox(self) -> None:
        inbox = askbridge.Inbox(start=False)
        self.assertEqual(inbox.locate().port, self.machine.port)
        with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": "/nowhere"}), self.assertRaises(askbridge.NoInbox):
            inbox.locate()
        other = Machine().start()
        self.addCleanup(other.remove)
        with mock.patch.dict(os.environ, other.env):
            self.assertEqual(inbox.locate().port, other.port)
        self.assertEqual(inbox.locate().port, self.machine.port)

    def test_a_folder_that_others_can_change_is_not_used(self) -> None:
        self.addCleanup(os.chmod, self.machine.folder, 0o700)
        for mode in (0o770, 0o707, 0o755):
            os.chmod(self.machine.folder, mode)
            with self.subTest(mode=oct(mode)), self.assertRaises(askbridge.NoInbox):
                askbridge.Inbox(start=False).locate()

    def test_sockets_of_others(self) -> None:
        # One that says nothing, one that nobody listens at, one that talks nonsense, and one that never ends.
        def listen(name: str, said: Optional[bytes]) -> None:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(os.path.join(self.machine.folder, name))
            self.addCleanup(listener.close)
            if said is None:
                return
            listener.listen()
            # It wakes the thread that accepts.
            self.addCleanup(listener.shutdown, socket.SHUT_RDWR)

            def serve() -> None:
                while True:
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    kept.append(connection)
                    with contextlib.suppress(OSError):
                        connection.sendall(said)

            threading.Thread(target=serve, daemon=True).start()

        kept: "list[socket.socket]" = []
        self.addCleanup(lambda: [connection.close() for connection in kept])
        listen("nobody.sock", None)
        listen("silent.sock", b"")
        listen("nonsense.sock", b"\xff{}\n")
        for number, line in enumerate([b"[]", b'{"result":{}}', b'{"result":[1]}', b'{"result":[{"agent":"askbridge inbox"}]}', b'{"result":[{"agent":"askbridge inbox","address":"x"}]}']):
            listen(f"other-{number}.sock", line + b"\n")
        listen("endless.sock", b"x" * (2 * _local.LONGEST_STATUS))
        with mock.patch.object(_local, "PATIENCE", 0.5):
            self.assertEqual([int(found.address.rpartition(":")[2]) for found in _local.find()][:1], [self.machine.port])

    def test_addresses_of_a_server(self) -> None:
        for listens, reached in [
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("0.0.0.0:8421", "127.0.0.1:8421"),
            ("[::]:8421", "[::1]:8421"),
            ("192.0.2.7:80", "192.0.2.7:80"),
            ("", None),
            ("x", None),
            ("127.0.0.1:", None),
            ("127.0.0.1:1\n", None),
        ]:
            with self.subTest(listens=listens):
                self.assertEqual(_local._reachable(listens), reached)

    def test_a_token_that_is_none(self) -> None:
        path = os.path.join(self.machine.folder, "token")
        with open(path, "rb") as file:
            token = file.read()

        def put(text: bytes, mode: int = 0o600) -> None:
            with open(path, "wb") as file:
                file.write(text)
            os.chmod(path, mode)

        self.addCleanup(put, token)
        cases = [(b"", 0o600, "no token"), (b"a b\n", 0o600, "no token"), (token, 0o644, "read by others"), (b"0" * 64, 0o600, "wrong_token")]
        for text, mode, why in cases:
            put(text, mode)
            with self.subTest(why=why), self.assertRaisesRegex(askbridge.AskbridgeError, why) as caught:
                askbridge.ask("Which token?", inbox=askbridge.Inbox())
            self.assertNotIn(token.decode().strip(), str(caught.exception))
        os.unlink(path)
        with self.assertRaisesRegex(askbridge.NoInbox, f"cannot read the token in {path}: No such file"):
            askbridge.ask("Which token?")
        os.mkfifo(path, 0o600)
        with self.assertRaisesRegex(askbridge.NoInbox, "no regular file"):
            askbridge.ask("Which token?")
        os.unlink(path)

    def test_a_token_file_of_ones_own(self) -> None:
        path = os.path.join(self.machine.home, "my token")
        with open(path, "w", encoding="ascii") as file:
            file.write(self.machine.token)
        # It may be one that a container was given.
        os.chmod(path, 0o644)
        for inbox in (askbridge.Inbox(token_file=path), askbridge.Inbox(self.machine.url, token_file=path), askbridge.Inbox(self.machine.url, token=self.machine.token)):
            with self.subTest(inbox=inbox):
                askbridge.start("Which file?", inbox=inbox).cancel()

    def test_a_token_file_of_the_settings(self) -> None:
        for home, folder in ((None, ".config"), ("settings", "settings")):
            folder = os.path.join(self.machine.home, folder)
            os.makedirs(os.path.join(folder, "askbridge"), exist_ok=True)
            file = os.path.join(folder, "askbridge/config.toml")
            environment = {"XDG_CONFIG_HOME": folder} if home else {}
            for text, found in [
                ('[inbox]\ntoken-file = "/run/x" # why\n', "/run/x"),
                ("inbox.token-file = '~/x'\n", os.path.join(self.machine.home, "x")),
                ('# [inbox]\n[ journal ]\ntoken-file = "/run/y"\n', None),
                ('[inbox]\naddress = "127.0.0.1:1"\n[inbox.more]\ntoken-file = "/z"\n', None),
                ("[inbox]\ntoken-file = 7\n", None),
                ("[inbox\n", None),
                ("", None),
            ]:
                with open(file, "w", encoding="utf-8") as written:
                    written.write(text)
                with self.subTest(text=text), mock.patch.dict(os.environ, environment):
                    self.assertEqual(_settings.token_file(), found)
                    with mock.patch.dict(os.environ, {"ASKBRIDGE_INBOX_TOKEN_FILE": "/run/named"}):
                        self.assertEqual(_settings.token_file(), "/run/named")
            os.unlink(file)

    def test_the_inbox_in_the_background_comes_first(self) -> None:
        with mock.patch.dict(os.environ, {"ASKBRIDGE_INBOX_ADDRESS": "127.0.0.1:0"}):
            subprocess.run([PROGRAM, "inbox", "--detach"], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))
            try:
                found = list(_local.find())
                self.assertEqual(len({one.address for one in found}), 2, found)
                self.assertNotEqual(found[0].address, f"127.0.0.1:{self.machine.port}")
                # The other one was first, and keeps the questions.
                inbox = askbridge.Inbox()
                self.assertEqual(inbox.locate().authority, found[0].address)
                askbridge.start("Kept by another?", key="another-1", inbox=inbox).cancel()
                self.assertEqual(inbox.locate().port, self.machine.port)
            finally:
                subprocess.run([PROGRAM, "inbox", "--stop"], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ))

    def test_an_inbox_without_a_journal_keeps_nothing(self) -> None:
        other = Machine()
        self.addCleanup(other.remove)
        other.env["ASKBRIDGE_JOURNAL_ENABLED"] = "false"
        other.start()
        with mock.patch.dict(os.environ, other.env), mock.patch("askbridge._line.NOT_KEPT", 1):
            asking = self.aside(askbridge.ask, "Only held?")
            other.answer("Only held?", "yes")
            self.assertEqual(asking.result(PATIENCE), "yes")
            for call in (askbridge.ask, askbridge.start):
                with self.assertRaisesRegex(askbridge.Refused, "journal") as caught:
                    call("Kept?", key="kept-1")
                self.assertEqual((caught.exception.status, caught.exception.name), (503, "not_kept"))

    def test_an_inbox_that_hangs_is_waited_for(self) -> None:
        inbox = self.machine.inbox
        assert inbox is not None
        asking = self.aside(askbridge.ask, "Frozen?", key="frozen-1")
        self.machine.question("Frozen?")
        inbox.send_signal(signal.SIGSTOP)
        try:
            with self.assertRaises(askbridge.AskbridgeError):
                # It has the connection, and says nothing.
                with mock.patch("askbridge._line.SILENCE", 0.3):
                    askbridge.start("Anybody?", inbox=askbridge.Inbox(self.machine.url, token=self.machine.token, patience=0.5))
        finally:
            inbox.send_signal(signal.SIGCONT)
        self.machine.answer("Frozen?", "yes")
        self.assertEqual(asking.result(PATIENCE), "yes")


if __name__ == "__main__":
    unittest.main()
