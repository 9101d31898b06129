"""One request to an inbox and its response, by blocking sockets or by those of asyncio.

What is done about a response, or about a connection that is lost, is left to `_line.py`.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import ssl
from dataclasses import dataclass, field
from typing import Any, Dict, Optional

from ._inbox import Access

#: For how many seconds a connection may be silent. While a person is waited for, the inbox sends a space each 4 s.
SILENCE = 15.0
#: How many bytes of a response are read. An inbox holds less.
LONGEST_BODY = 1 << 26
PIECE = 1 << 16


class Lost(Exception):
    """The inbox was not reached, or the connection was lost before the whole response was there."""


class NotThere(Lost):
    """Nobody listens at the address."""


@dataclass(frozen=True)
class Call:
    """A request."""

    method: str
    path: str
    #: What to send, as JSON. It may be secret.
    body: Optional[Any] = field(default=None, repr=False)
    key: Optional[str] = None


@dataclass(frozen=True)
class Reply:
    """A response."""

    status: int
    retry_after: Optional[float]
    #: The JSON of it, which may be secret.
    body: Any = field(repr=False)


def exchange(access: Access, call: Call, silence: float) -> Reply:
    """Sends a request and waits for its response."""
    body, headers = _body(call), _headers(access, call)
    connection = _connection(access, silence)
    try:
        connection.connect()
    except OSError as error:
        raise NotThere(_reason(error)) from error
    try:
        connection.request(call.method, access.prefix + call.path, body, headers)
        return _reply(connection.getresponse())
    except (OSError, http.client.HTTPException) as error:
        raise Lost(_reason(error)) from error
    finally:
        connection.close()


async def exchange_async(access: Access, call: Call, silence: float) -> Reply:
    """Does the same without a thread. To cancel it closes the connection."""
    # http.client writes the request and reads the response. asyncio only carries the bytes.
    sent = _Sink()
    connection = http.client.HTTPConnection(access.host, access.port)
    connection.sock = sent
    connection.request(call.method, access.prefix + call.path, _body(call), _headers(access, call))
    try:
        received = await _carry(access, bytes(sent.data), silence)
        response = http.client.HTTPResponse(_Source(received), method=call.method)  # type: ignore[arg-type]
        response.begin()
        return _reply(response)
    except (OSError, http.client.HTTPException) as error:
        raise Lost(_reason(error)) from error


async def _carry(access: Access, sent: bytes, silence: float) -> bytes:
    """Sends these bytes, and returns all that come until the end of the connection."""
    loop = asyncio.get_running_loop()
    security = ssl.create_default_context() if access.is_secure else None
    connecting = asyncio.ensure_future(asyncio.open_connection(access.host, access.port, ssl=security))
    try:
        # Before Python 3.12, wait_for could lose a cancellation.
        await asyncio.wait({connecting}, timeout=silence)
    except BaseException:
        connecting.add_done_callback(_close)
        connecting.cancel()
        raise
    if not connecting.done():
        connecting.cancel()
        raise NotThere(f"no connection within {silence:g} s")
    try:
        reader, writer = connecting.result()
    except OSError as error:
        raise NotThere(_reason(error)) from error
    received = bytearray()
    timer = loop.call_later(silence, writer.transport.abort)
    try:
        writer.write(sent)
        while len(received) <= LONGEST_BODY:
            piece = await reader.read(PIECE)
            if not piece:
                break
            received += piece
            timer.cancel()
            timer = loop.call_later(silence, writer.transport.abort)
        return bytes(received)
    finally:
        timer.cancel()
        writer.transport.abort()


def _close(connecting: "asyncio.Future[Any]") -> None:
    """Closes a connection that was made in the moment in which its task was cancelled."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result()[1].transport.abort()


def _connection(access: Access, silence: float) -> http.client.HTTPConnection:
    if access.is_secure:
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(access.host, access.port, timeout=silence, context=context)
    return http.client.HTTPConnection(access.host, access.port, timeout=silence)


def _body(call: Call) -> Optional[bytes]:
    return None if call.body is None else json.dumps(call.body, allow_nan=False).encode()


def _headers(access: Access, call: Call) -> Dict[str, str]:
    headers = {"Authorization": f"Bearer {access.token()}", "Connection": "close"}
    if call.body is not None:
        headers["Content-Type"] = "application/json"
    if call.key is not None:
        # The inbox takes one pair of quotation marks away. Within it, spaces and quotation marks count.
        headers["Idempotency-Key"] = f'"{call.key}"'
    return headers


def _reply(response: http.client.HTTPResponse) -> Reply:
    if response.length is None and not response.chunked:
        # http.client takes the lines of a head that is cut for the whole of it. The inbox always says where a body ends.
        raise Lost("a response that does not say where it ends")
    text = bytearray()
    while piece := response.read(PIECE):
        text += piece
        if len(text) > LONGEST_BODY:
            raise Lost(f"a response of more than {LONGEST_BODY} bytes")
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    after = response.getheader("Retry-After", "")
    try:
        body = json.loads(text) if text.strip() else None
    except ValueError:
        # Another server, or a proxy.
        body = None
    return Reply(response.status, float(after) if after.isascii() and after.isdigit() else None, body)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Sink:
    """Collects a request."""

    def __init__(self) -> None:
        self.data = bytearray()

    def sendall(self, data: bytes) -> None:
        self.data += data


class _Source:
    """Hands a response out."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: Any, **__: Any) -> io.BytesIO:
        return io.BytesIO(self._data)
