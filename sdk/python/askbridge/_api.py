"""The functions of the package. Each has a twin for asyncio."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from ._asking import Pending, asked, begun, id_of, inbox_of, permitted, waited, withdrawn
from ._flow import run, run_async
from ._form import Options, Path, checked_key, question
from ._inbox import Inbox
from ._line import Line
from ._permission import Decision, permission_question

#: The inbox of this user.
OWN = Inbox()


def ask(
    message: str = "",
    *,
    fields: Optional[Sequence[Mapping[str, Any]]] = None,
    schema: Any = None,
    options: Optional[Options] = None,
    title: Optional[str] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    secret: bool = False,
    dangerous: bool = False,
    inbox: Optional[Inbox] = None,
) -> Any:
    """Asks the user, waits, and returns the answer.

    What comes back: with `options`, the value of the chosen one; with `fields`, the values by name; with a JSON `schema`,
    a value that fits it; without any of them, a text, which may be `secret`.

    With a `key`, the question is asked once, however often a program that crashes asks it again, and stays open until it
    is over: the same key gives the same answer. Another question under the same key raises `Refused` (`key_used`).
    Without a key, the question ends with this call or this process, however that ends.

    `timeout`: for how many seconds the question is open. It counts from when it was asked first.
    Without an answer, this raises `TimedOut`, `Withdrawn` or `Rejected`, which has the person's `remark`.
    """
    body = question(
        message, fields=fields, schema=schema, options=options, title=title, agent=agent, project=project,
        session=session, timeout=timeout, secret=secret, dangerous=dangerous,
    )  # fmt: skip
    return run(asked(inbox or OWN, body, checked_key(key)))


async def ask_async(
    message: str = "",
    *,
    fields: Optional[Sequence[Mapping[str, Any]]] = None,
    schema: Any = None,
    options: Optional[Options] = None,
    title: Optional[str] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    secret: bool = False,
    dangerous: bool = False,
    inbox: Optional[Inbox] = None,
) -> Any:
    """Does what `ask` does, without a thread. To cancel it withdraws a question that has no key."""
    body = question(
        message, fields=fields, schema=schema, options=options, title=title, agent=agent, project=project,
        session=session, timeout=timeout, secret=secret, dangerous=dangerous,
    )  # fmt: skip
    return await run_async(asked(inbox or OWN, body, checked_key(key)))


def start(
    message: str = "",
    *,
    fields: Optional[Sequence[Mapping[str, Any]]] = None,
    schema: Any = None,
    options: Optional[Options] = None,
    title: Optional[str] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    dangerous: bool = False,
    inbox: Optional[Inbox] = None,
) -> Pending:
    """Asks the user, and returns at once. The question outlives this program: `wait` has its answer, by its ID."""
    body = question(
        message, fields=fields, schema=schema, options=options, title=title, agent=agent, project=project,
        session=session, timeout=timeout, secret=False, dangerous=dangerous,
    )  # fmt: skip
    return run(begun(inbox or OWN, body, checked_key(key)))


async def start_async(
    message: str = "",
    *,
    fields: Optional[Sequence[Mapping[str, Any]]] = None,
    schema: Any = None,
    options: Optional[Options] = None,
    title: Optional[str] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    dangerous: bool = False,
    inbox: Optional[Inbox] = None,
) -> Pending:
    """Does what `start` does."""
    body = question(
        message, fields=fields, schema=schema, options=options, title=title, agent=agent, project=project,
        session=session, timeout=timeout, secret=False, dangerous=dangerous,
    )  # fmt: skip
    return await run_async(begun(inbox or OWN, body, checked_key(key)))


def permission(
    tool: Optional[str] = None,
    arguments: Optional[Mapping[str, Any]] = None,
    *,
    command: Optional[str] = None,
    folder: Optional[Path] = None,
    files: Optional[Sequence[Path]] = None,
    server: Optional[str] = None,
    kind: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    message: str = "",
    changes: bool = False,
    schema: Any = None,
    grant: Optional[float] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    inbox: Optional[Inbox] = None,
) -> Decision:
    """Asks the user whether this program may do something, and returns what was decided.

    At least one of `tool`, `command`, `files` and `title` says what. `changes`: the user may change the
    arguments, in a way that fits the `schema`: do what `decision.arguments` say. `grant`: for how many seconds an approval
    counts. `key` and `timeout` are as those of `ask`.

    A rejection is no error: the decision is false, and has the `reason` and the user's `remark`.
    """
    body = permission_question(
        tool, arguments, command=command, folder=folder, files=files, server=server, kind=kind, title=title,
        description=description, message=message, changes=changes, schema=schema, grant=grant, agent=agent,
        project=project, session=session, timeout=timeout,
    )  # fmt: skip
    return run(permitted(inbox or OWN, body, checked_key(key)))


async def permission_async(
    tool: Optional[str] = None,
    arguments: Optional[Mapping[str, Any]] = None,
    *,
    command: Optional[str] = None,
    folder: Optional[Path] = None,
    files: Optional[Sequence[Path]] = None,
    server: Optional[str] = None,
    kind: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    message: str = "",
    changes: bool = False,
    schema: Any = None,
    grant: Optional[float] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    inbox: Optional[Inbox] = None,
) -> Decision:
    """Does what `permission` does, without a thread. To cancel it withdraws a permission that has no key."""
    body = permission_question(
        tool, arguments, command=command, folder=folder, files=files, server=server, kind=kind, title=title,
        description=description, message=message, changes=changes, schema=schema, grant=grant, agent=agent,
        project=project, session=session, timeout=timeout,
    )  # fmt: skip
    return await run_async(permitted(inbox or OWN, body, checked_key(key)))


def start_permission(
    tool: Optional[str] = None,
    arguments: Optional[Mapping[str, Any]] = None,
    *,
    command: Optional[str] = None,
    folder: Optional[Path] = None,
    files: Optional[Sequence[Path]] = None,
    server: Optional[str] = None,
    kind: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    message: str = "",
    changes: bool = False,
    schema: Any = None,
    grant: Optional[float] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    inbox: Optional[Inbox] = None,
) -> Pending:
    """Asks for a permission, and returns at once. `wait` has the decision."""
    body = permission_question(
        tool, arguments, command=command, folder=folder, files=files, server=server, kind=kind, title=title,
        description=description, message=message, changes=changes, schema=schema, grant=grant, agent=agent,
        project=project, session=session, timeout=timeout,
    )  # fmt: skip
    return run(begun(inbox or OWN, body, checked_key(key)))


async def start_permission_async(
    tool: Optional[str] = None,
    arguments: Optional[Mapping[str, Any]] = None,
    *,
    command: Optional[str] = None,
    folder: Optional[Path] = None,
    files: Optional[Sequence[Path]] = None,
    server: Optional[str] = None,
    kind: Optional[str] = None,
    title: Optional[str] = None,
    description: Optional[str] = None,
    message: str = "",
    changes: bool = False,
    schema: Any = None,
    grant: Optional[float] = None,
    agent: Optional[str] = None,
    project: Optional[Path] = None,
    session: Optional[str] = None,
    key: Optional[str] = None,
    timeout: Optional[float] = None,
    inbox: Optional[Inbox] = None,
) -> Pending:
    """Does what `start_permission` does."""
    body = permission_question(
        tool, arguments, command=command, folder=folder, files=files, server=server, kind=kind, title=title,
        description=description, message=message, changes=changes, schema=schema, grant=grant, agent=agent,
        project=project, session=session, timeout=timeout,
    )  # fmt: skip
    return await run_async(begun(inbox or OWN, body, checked_key(key)))


def wait(question: Union[str, Pending], timeout: Optional[float] = None, *, inbox: Optional[Inbox] = None) -> Any:
    """Waits until a question is over, and returns the answer, or of a permission the `Decision`.

    It may be asked by any program, and be over already. After `timeout` seconds, this raises `StillOpen`, and the question
    stays open.
    """
    return run(waited(inbox or inbox_of(question) or OWN, id_of(question), timeout))


async def wait_async(
    question: Union[str, Pending], timeout: Optional[float] = None, *, inbox: Optional[Inbox] = None
) -> Any:
    """Does what `wait` does, without a thread."""
    return await run_async(waited(inbox or inbox_of(question) or OWN, id_of(question), timeout))


def cancel(question: Union[str, Pending], *, inbox: Optional[Inbox] = None) -> None:
    """Withdraws a question that no connection holds. Once it is decided, this raises `Refused` (`conflict`)."""
    run(withdrawn(Line(inbox or inbox_of(question) or OWN), id_of(question)))


async def cancel_async(question: Union[str, Pending], *, inbox: Optional[Inbox] = None) -> None:
    """Does what `cancel` does."""
    await run_async(withdrawn(Line(inbox or inbox_of(question) or OWN), id_of(question)))
