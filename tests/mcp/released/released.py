"""The released servers: how each is started from the folder of packages that `tests/mcp/run` fills."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Server:
    """A server, and what it is known to do by itself."""

    name: str
    command: list[str]
    # The folder of its packages of npm.
    packages: str = ""
    # It speaks the protocol of 2026-07-28 as well.
    is_new: bool = False
    # It serves HTTP as well.
    listens: bool = False
    # It withdraws its question when the host cancels the call.
    withdraws: bool = False
    # Its -32042 reaches the host.
    has_links: bool = True
    # `input_required` of the new protocol becomes a question in the old one.
    resolves_in_old: bool = False
    # It asks hosts that have not declared the form, or the link.
    asks_undeclared: frozenset[str] = field(default_factory=frozenset)


def servers(folder: Path) -> dict[str, Server]:
    """Returns the servers whose packages are in this folder."""
    both = frozenset({"form", "url"})
    of = lambda name: str(HERE / "servers" / name)  # noqa: E731
    python = lambda name: str(folder / name / "bin" / "python")  # noqa: E731
    everything = folder / "sdk/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    all = [
        Server("mcp", [python("mcp"), of("of_mcp.py")], is_new=True, listens=True, withdraws=True,
               resolves_in_old=True, asks_undeclared=both),
        Server("fastmcp", [python("fastmcp"), of("of_fastmcp.py")], is_new=True, listens=True, withdraws=True, has_links=False,
               asks_undeclared=both),
        Server("sdk", ["node", of("of_sdk.mjs")], packages=str(folder / "sdk")),
        Server("server", ["node", of("of_server.mjs")], packages=str(folder / "server"), is_new=True, resolves_in_old=True),
        Server("everything", ["node", str(everything)], listens=True),
        Server("hostile", ["python3", of("hostile.py")]),
    ]
    return {server.name: server for server in all}
