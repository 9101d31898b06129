"""What a call does, apart from how it waits: a flow yields steps, and is run by a thread or by asyncio.

A call and its asynchronous twin are the same flow, so that they cannot differ.
"""

from __future__ import annotations

import asyncio
import functools
import time
from dataclasses import dataclass
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any, Callable, Generator, Protocol, TypeVar

from ._http import SILENCE, Call, Reply, exchange, exchange_async
from ._inbox import Access, Inbox

T = TypeVar("T")


class Step(Protocol):
    """Something that takes time."""

    def perform(self) -> Any:
        """Does it, and blocks."""

    async def perform_async(self) -> Any:
        """Does it, and lets others run meanwhile."""


Flow = Generator[Step, Any, T]


@dataclass(frozen=True)
class Locate:
    """Finds the inbox."""

    inbox: Inbox
    may_start: bool

    def perform(self) -> Access:
        return self.inbox.locate(self.may_start)

    async def perform_async(self) -> Access:
        known = self.inbox.known()
        if known is not None:
            return known
        # It reads files and starts processes, and waits for no person: the thread is free again soon.
        return await asyncio.get_running_loop().run_in_executor(None, self.perform)


@dataclass(frozen=True)
class Exchange:
    """Sends a request."""

    access: Access
    call: Call
    silence: float = SILENCE

    def perform(self) -> Reply:
        return exchange(self.access, self.call, self.silence)

    async def perform_async(self) -> Reply:
        return await exchange_async(self.access, self.call, self.silence)


@dataclass(frozen=True)
class Pause:
    """Waits."""

    seconds: float

    def perform(self) -> None:
        time.sleep(self.seconds)

    async def perform_async(self) -> None:
        await asyncio.sleep(self.seconds)


def run(flow: "Flow[T]") -> T:
    """Runs a flow in this thread. What interrupts a step is thrown into the flow, which may clean up."""
    resume: Callable[[], Step] = functools.partial(next, flow)
    while True:
        try:
            result = resume().perform()
            resume = functools.partial(flow.send, result)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except BaseException as error:
            if getgeneratorstate(flow) == GEN_CLOSED:
                raise
            resume = functools.partial(flow.throw, error)


async def run_async(flow: "Flow[T]") -> T:
    """Runs a flow in this task."""
    resume: Callable[[], Step] = functools.partial(next, flow)
    while True:
        try:
            result = await resume().perform_async()
            resume = functools.partial(flow.send, result)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        except BaseException as error:
            if getgeneratorstate(flow) == GEN_CLOSED:
                raise
            resume = functools.partial(flow.throw, error)
