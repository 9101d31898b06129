"""Released hosts, with a model that needs no network: what each tells its model, without a bridge and with one.

A host that cannot ask has its question answered in the inbox; one that declines by itself does not decide."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from host import PATIENCE
from place import Place
from released import HERE, Server

HEARD = "Broken door"


@dataclass(frozen=True)
class Program:
    """A released host, and the servers and tools that it is tried with."""

    name: str
    command: list[str]
    # The environment that it needs.
    env: tuple[tuple[str, str], ...] = ()
    # Whether its session is of the new protocol where the server has that.
    is_new: bool = False
    # Whether its own handler accepts.
    accepts: bool = False


def programs(folder: Path) -> list[Program]:
    of = lambda name: str(HERE / "hosts" / name)  # noqa: E731
    python = lambda name: str(folder / name / "bin" / "python")  # noqa: E731
    mcp, sdk, client = [python("mcp"), of("of_mcp.py")], ["node", of("of_sdk.mjs")], ["node", of("of_client.mjs")]
    one, two = ((("PACKAGES", str(folder / name)),) for name in ("sdk", "server"))
    claude = folder / "claude/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
    return [
        Program("mcp, legacy, without a handler", [*mcp, "legacy", "none"]),
        Program("mcp, legacy, declines by itself", [*mcp, "legacy", "decline"]),
        Program("mcp, legacy, never answers", [*mcp, "legacy", "wait"]),
        Program("mcp, legacy, accepts", [*mcp, "legacy", "accept"], accepts=True),
        Program("mcp, without a handler", [*mcp, "auto", "none"], is_new=True),
        Program("mcp, declines by itself", [*mcp, "auto", "decline"], is_new=True),
        Program("mcp, accepts", [*mcp, "auto", "accept"], is_new=True, accepts=True),
        Program("openai-agents", [python("openai-agents"), of("of_openai_agents.py")], is_new=True),
        Program("pydantic-ai", [python("pydantic-ai"), of("of_pydantic_ai.py")], is_new=True),
        Program("claude", [sys.executable, of("of_claude.py")], (("CLAUDE", str(claude)),), is_new=True),
        Program("sdk, without a handler", [*sdk, "none"], one),
        Program("sdk, declares it and has no handler", [*sdk, "absent"], one),
        Program("sdk, declines by itself", [*sdk, "decline"], one),
        Program("sdk, accepts", [*sdk, "accept"], one, accepts=True),
        Program("client, legacy, without a handler", [*client, "legacy", "none"], two),
        Program("client, without a handler", [*client, "auto", "none"], two, is_new=True),
        Program("client, declines by itself", [*client, "auto", "decline"], two, is_new=True),
        Program("client, accepts", [*client, "auto", "accept"], two, is_new=True, accepts=True),
    ]


def try_host(place: Place, program: Program, server: Server, session: str) -> Iterator[str]:
    """Calls a tool of the server that asks by a form, with a person who answers it in the inbox. In a session of the new
    protocol, it asks by its result."""
    tool = "resolved" if session == "any" else "form"
    bridge = [place.program, "mcp-proxy", "--name", "tickets", "--session", session, "--"]
    # A server finds its packages, and a host its own, by the same name.
    served = ["env", f"PACKAGES={server.packages}", *bridge, *server.command]
    env = {**place.env, **dict(program.env), "PYTHONWARNINGS": "ignore"}
    errors = place.home / "errors"
    with errors.open("w") as kept:
        host = subprocess.Popen([*program.command, tool, *served], env=env, stdout=subprocess.PIPE, stderr=kept, text=True)
    try:
        if not program.accepts:
            place.accept(place.asked())
        printed, _ = host.communicate(timeout=PATIENCE)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        host.kill()
        printed, _ = host.communicate()
        yield f"{error}; it printed {printed!r} {errors.read_text()[-300:]}"
        return
    lines = [line for line in printed.splitlines() if line.startswith("{")]
    if not lines:
        yield f"it printed {printed!r} {errors.read_text()[-300:]}"
    elif HEARD not in json.loads(lines[-1])["said"]:
        yield f"its model was told {json.loads(lines[-1])['said']}"
    if not place.is_empty():
        yield "a question stays open"


