"""The one setting that a program needs: where the token is, if the user has chosen another file than the default."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, Optional

if sys.version_info >= (3, 11):
    from tomllib import loads
else:

    def loads(text: str) -> Dict[str, Any]:
        """Reads the one line that is needed."""
        table, found = "", {}
        for line in text.splitlines():
            head = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(#.*)?$", line)
            table = head[1] + "." if head else table
            value = re.match(r"""\s*([\w.-]+)\s*=\s*("[^"\\]*"|'[^']*')\s*(#.*)?$""", line)
            if value and table + value[1] == "inbox.token-file":
                found["token-file"] = value[2][1:-1]
        return {"inbox": found}


def token_file() -> Optional[str]:
    """Returns the token file that the environment or the user's own settings name."""
    named = os.environ.get("ASKBRIDGE_INBOX_TOKEN_FILE") or _in_file()
    return os.path.expanduser(named) if named else None


def _in_file() -> Optional[str]:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".config")
    try:
        with open(os.path.join(base, "askbridge", "config.toml"), encoding="utf-8") as file:
            named = loads(file.read())["inbox"]["token-file"]
    except (OSError, ValueError, LookupError, TypeError):
        # There is none, or `askbridge doctor` says what is wrong with it.
        return None
    return named if isinstance(named, str) else None
