"""A connection that is cut at any byte, between a program and the inbox."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from typing import List

import askbridge
from machine import Machine


class Proxy:
    """Passes bytes on, and cuts some connections: within the request, within the response, or before either."""

    def __init__(self, machine: Machine, chance: random.Random, cuts: float) -> None:
        self._machine, self._chance, self._cuts = machine, chance, cuts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self.cut = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def inbox(self) -> askbridge.Inbox:
        port = self._listener.getsockname()[1]
        return askbridge.Inbox(f"http://127.0.0.1:{port}", token=self._machine.token)

    def end(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _limits(self) -> List[int]:
        """Draws how many bytes pass in each direction."""
        with self._lock:
            if self._chance.random() >= self._cuts:
                return [1 << 40, 1 << 40]
            self.cut += 1
            # A request has about 300 bytes, and a response 1,000.
            return self._chance.choice([[self._chance.randrange(400), 1 << 40], [1 << 40, self._chance.randrange(1200)]])

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client, *self._limits()), daemon=True).start()

    def _serve(self, client: socket.socket, there: int, back: int) -> None:
        with client, contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._machine.port)) as server:
            done = threading.Event()
            passing = [(client, server, there), (server, client, back)]
            for source, to, most in passing:
                threading.Thread(target=_passes, args=(source, to, most, done), daemon=True).start()
            done.wait()
            for one in (client, server):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)


def _passes(source: socket.socket, to: socket.socket, most: int, done: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while most > 0:
            piece = source.recv(1 << 16)
            if not piece:
                break
            to.sendall(piece[:most])
            most -= len(piece)
    done.set()
