"""Where the inbox is, and its token. Requests are left to `_http.py`."""

from __future__ import annotations

import os
import stat
import threading
from typing import List, Optional, Tuple, Union
from urllib.parse import urlsplit

from . import _local, _program, _settings
from ._error import NoInbox

#: How many bytes of a token file are read. A longer text is no token.
LONGEST_TOKEN = 4096


class Access:
    """The address of an inbox, and where its token is. The token itself is never kept here."""

    def __init__(self, url: str, token: "_Token") -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = 0
        if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.username is not None:
            raise ValueError(f"{url!r} is no address of an inbox, which is like http://127.0.0.1:8421")
        self.url = url
        self.is_secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = port or (443 if self.is_secure else 80)
        self.authority = parts.netloc
        #: What stands before the path of each request, behind a proxy.
        self.prefix = parts.path.rstrip("/")
        self._token = token

    def token(self) -> str:
        """Reads the token."""
        return self._token.read()

    def __repr__(self) -> str:
        return f"Access({self.url!r})"


class _Token:
    """Where a token is."""

    def __init__(self, path: Optional[str], value: Optional[str] = None, is_default: bool = False) -> None:
        self._path, self._value, self._is_default = path, value, is_default

    def read(self) -> str:
        if self._path is None:
            return _checked(self._value or "", "the token of this Inbox")
        text = _text_of(self._path, self._is_default)
        return _checked(text, f"the token file {self._path}")


def _text_of(path: str, is_default: bool) -> str:
    try:
        # Without O_NONBLOCK, opening a pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                raise NoInbox(f"the token file {path} is no regular file")
            if is_default and (state.st_uid != os.geteuid() or state.st_mode & 0o077):
                raise NoInbox(f"the token file {path} can be read by others: it must be yours, with mode 0600")
            return file.read(LONGEST_TOKEN).decode("ascii", "replace").strip()
    except OSError as error:
        raise NoInbox(
            f"cannot read the token in {path}: {error.strerror}; `askbridge status` names the folder of the inbox"
        ) from error


def _checked(token: str, where: str) -> str:
    """Returns the token, if it can be sent in a header. The error does not show it."""
    if not token or not all("!" <= letter <= "~" for letter in token):
        raise NoInbox(f"{where} has no token in it: remove the file, and `askbridge inbox` makes a new one")
    return token


class Inbox:
    """Where to ask: the inbox that this user runs, which is found and started by itself, or the one at a URL."""

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        token: Optional[str] = None,
        token_file: Union[str, "os.PathLike[str]", None] = None,
        start: bool = True,
        patience: float = 60.0,
    ) -> None:
        """Makes no connection yet.

        `token_file` is read for each connection; `token` is the token itself. With a `url`, one of them is needed.
        `start`: whether to run `askbridge inbox --detach` where no inbox runs. `patience`: for how many seconds an inbox
        that has been lost is looked for.
        """
        if url is not None and token is None and token_file is None:
            raise ValueError("an Inbox with a URL needs its token_file or its token")
        if url is None and token is not None:
            raise ValueError("a token without a URL: this user's inbox is found together with its token")
        self.url = url
        self.start = start
        self.patience = patience
        path = None if token_file is None else os.fspath(token_file)
        self._chosen = None if path is None and token is None else _Token(path, token)
        self._fixed = None if url is None or self._chosen is None else Access(url, self._chosen)
        self._lock = threading.Lock()
        self._refused: Optional[str] = None
        self._known: Optional[Tuple[List[str], Access]] = None

    def __repr__(self) -> str:
        return f"Inbox({self.url!r})" if self.url else "Inbox()"

    def locate(self, may_start: bool = True) -> Access:
        """Returns where the inbox is, and starts it where none runs. This may block for some seconds."""
        # One thread looks for all.
        with self._lock:
            return self.known() or self._find(may_start)

    def known(self) -> Optional[Access]:
        """Returns where the inbox is, if that is known."""
        if self._fixed is not None:
            return self._fixed
        known = self._known
        # Another environment has another inbox.
        return known[1] if known is not None and known[0] == _local.places() else None

    def _find(self, may_start: bool) -> Access:
        places = _local.places()
        found = self._next()
        if found is None and self.start and may_start:
            _program.start()
            found = self._next()
        if found is None:
            raise NoInbox(
                f"no askbridge inbox runs in {' or '.join(places) or 'this system'}: "
                "start one with `askbridge inbox --detach`"
            )
        access = Access(f"http://{found.address}", self._chosen or _default_token(found.folder))
        self._known = (places, access)
        return access

    def _next(self) -> Optional[_local.Found]:
        """Finds an inbox: one that was not refused, if there is one."""
        first = None
        for found in _local.find():
            if found.address != self._refused:
                return found
            first = first or found
        return first

    def forget(self, refused: Optional[Access] = None) -> None:
        """Looks for the inbox again with the next request: it may be somewhere else by now.

        `refused`: one that cannot be used, if there is another one.
        """
        self._known = None
        self._refused = None if refused is None else refused.authority


def _default_token(folder: str) -> _Token:
    chosen = _settings.token_file()
    return _Token(chosen or os.path.join(folder, "token"), is_default=True)
