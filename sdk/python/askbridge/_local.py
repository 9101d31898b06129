"""Finds the inboxes that this user runs on this machine, as the command `askbridge` does: by their sockets.

How to show the token is left to `_inbox.py`.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import stat
import time
from typing import Dict, Iterator, List, NamedTuple, Optional

#: How long the sockets may take to say whose they are, all of them together.
PATIENCE = 2.0
#: How many bytes of a status are read.
LONGEST_STATUS = 1 << 20
#: The socket of the inbox in the background, which says its address at once.
BACKGROUND = "inbox-detached.sock"
#: The name by which an inbox in a terminal is told from the bridges of agents.
SERVER = "askbridge inbox"
STATUS = b'{"jsonrpc":"2.0","id":1,"method":"bridge_status"}\n'


class Found(NamedTuple):
    """An inbox that runs."""

    #: `127.0.0.1:8421`
    address: str
    #: The folder of its socket, which has its token as well.
    folder: str


def places() -> List[str]:
    """Returns the folders that may have sockets of this user, whatever the environment of the inbox was."""
    if not hasattr(os, "geteuid"):
        return []
    session = os.path.join(_absolute("ASKBRIDGE_RUN_USER") or "/run/user", str(os.geteuid()))
    home = os.path.expanduser("~")
    state_of_home = os.path.join(home, ".local", "state") if os.path.isabs(home) else None
    bases = [_absolute("XDG_RUNTIME_DIR"), session, _absolute("XDG_STATE_HOME"), state_of_home]
    return list(dict.fromkeys(os.path.join(base, "askbridge") for base in bases if base))


def find() -> Iterator[Found]:
    """Yields the inboxes that run: first the one in the background, then those in terminals."""
    folders = [folder for folder in places() if _is_private(folder)]
    for folder in folders:
        address = _said(os.path.join(folder, BACKGROUND))
        if address:
            yield Found(address, folder)
    sockets = {os.path.join(folder, name): folder for folder in folders for name in _sockets(folder)}
    for path, line in _statuses(list(sockets)).items():
        address = _address_in(line)
        if address:
            yield Found(address, sockets[path])


def _absolute(name: str) -> Optional[str]:
    """Returns the path in an environment variable. A relative one is ignored."""
    path = os.environ.get(name, "")
    return path if os.path.isabs(path) else None


def _is_private(folder: str) -> bool:
    """Returns whether no other user can change what is in a folder."""
    try:
        state = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(state.st_mode) and state.st_uid == os.geteuid() and not state.st_mode & 0o077


def _sockets(folder: str) -> List[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".sock") and name != BACKGROUND)
    except OSError:
        return []


def _said(path: str) -> Optional[str]:
    """Returns the address that the inbox in the background says, if there is one."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(PATIENCE)
        try:
            connection.connect(path)
            line = connection.makefile("rb").readline(256)
        except OSError:
            return None
    return _reachable(line.decode("ascii", "replace").strip())


def _statuses(paths: List[str]) -> Dict[str, bytes]:
    """Asks all sockets at once for their status, and returns the lines that come in time."""
    lines: Dict[str, bytes] = {}
    end = time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        for path in paths:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.setblocking(False)
            try:
                connection.connect(path)
                connection.sendall(STATUS)
            except OSError:
                # Nobody listens, or whoever does is too busy.
                connection.close()
            else:
                selector.register(connection, selectors.EVENT_READ, path)
                lines[path] = b""
        while selector.get_map() and time.monotonic() < end:
            for event, _ in selector.select(max(0.0, end - time.monotonic())):
                connection = event.fileobj  # type: ignore[assignment]
                piece = _piece(connection)
                lines[event.data] += piece
                if not piece or b"\n" in piece or len(lines[event.data]) > LONGEST_STATUS:
                    selector.unregister(connection)
                    connection.close()
        for event in list(selector.get_map().values()):
            event.fileobj.close()  # type: ignore[union-attr]
    return lines


def _piece(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except OSError:
        return b""


def _address_in(line: bytes) -> Optional[str]:
    """Returns the address in a status, if it is that of an inbox."""
    try:
        bridges = json.loads(line.split(b"\n")[0])["result"]
        inboxes = [bridge["address"] for bridge in bridges if bridge.get("agent") == SERVER and bridge.get("address")]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return _reachable(str(inboxes[0])) if inboxes else None


def _reachable(address: str) -> Optional[str]:
    """Returns the address by which this machine reaches a server that listens there."""
    host, colon, port = address.rpartition(":")
    if not (colon and port.isascii() and port.isdigit()):
        return None
    return f"{ {'0.0.0.0': '127.0.0.1', '[::]': '[::1]'}.get(host, host) }:{port}"
