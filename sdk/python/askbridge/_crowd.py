"""How many questions of this process wait, and how: an inbox has 128 connections, which people need as well."""

from __future__ import annotations

import random
import threading
from typing import Optional

#: How many questions may hold a connection while they wait. All others are looked up from time to time.
CONNECTIONS = 48
#: How many of the others are looked up in a second.
LOOKS = 50.0


class Crowd:
    """The questions that wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connected = 0
        self._others = 0

    def place(self) -> "Place":
        """Lets one more wait, until its place is left."""
        with self._lock:
            is_connected = self._connected < CONNECTIONS
            self._connected += is_connected
            self._others += not is_connected
        return Place(self, is_connected)

    def pause(self) -> float:
        """Returns for how many seconds a question without a connection is not looked up."""
        return max(1.0, self._others / LOOKS) * random.uniform(0.5, 1.0)

    def leave(self, was_connected: bool) -> None:
        """Counts one less."""
        with self._lock:
            self._connected -= was_connected
            self._others -= not was_connected


class Place:
    """The place of one question, for a while."""

    def __init__(self, crowd: Crowd, is_connected: bool) -> None:
        self._crowd, self._is_connected = crowd, is_connected

    def pause(self) -> Optional[float]:
        """Returns for how many seconds to wait without a connection. `None`: with one."""
        return None if self._is_connected else self._crowd.pause()

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_: object) -> None:
        self._crowd.leave(self._is_connected)


#: All of this process.
CROWD = Crowd()
