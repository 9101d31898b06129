"""Starts the inbox in the background, where the program is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from typing import Optional

from ._error import NoInbox, printable

NAME = "askbridge"
#: How long the program may take to say that the inbox serves.
PATIENCE = 30.0


def program() -> Optional[str]:
    """Returns the program: the one that was installed with this package, or else the one of the PATH."""
    own = [sysconfig.get_path("scripts")]
    if f"{os.name}_user" in sysconfig.get_scheme_names():
        own.append(sysconfig.get_path("scripts", f"{os.name}_user"))
    return shutil.which(NAME, path=os.pathsep.join(own)) or shutil.which(NAME)


def start() -> None:
    """Starts the inbox in the background, and returns once it serves. Where one runs there, nothing happens."""
    path = program()
    if path is None:
        raise NoInbox(
            "no askbridge inbox runs, and the program is not installed: "
            "`pip install askbridge` installs it, and `askbridge inbox --detach` starts one"
        )
    command = [path, "inbox", "--detach"]
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoInbox(f"cannot start an inbox by `{path} inbox --detach`: {error}") from error
    if ran.returncode:
        said = ran.stdout.decode("utf-8", "replace").strip().splitlines()
        why = printable(said[-1]) if said else f"it ended with {ran.returncode}"
        raise NoInbox(f"cannot start an inbox by `{path} inbox --detach`: {why}")
