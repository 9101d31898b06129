"""Claude Code (`-p`) as a host, with the stand-in model of tests/native, which calls one tool and says what it was told.

    of_claude.py TOOL COMMAND...

CLAUDE is the program. It gets a home of its own, and a base URL on the loopback in place of any other host."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = Path(__file__).parents[3] / "native/model.mjs"


def main() -> None:
    tool, command, *args = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="claude-") as home:
        # It ends with its stdin, and says first where it listens.
        model = subprocess.Popen(["node", MODEL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert model.stdout is not None
        at = json.loads(model.stdout.readline())["port"]
        # The servers keep the environment of this program.
        server = {"command": command, "args": args, "env": dict(os.environ)}
        config = Path(home) / "servers.json"
        config.write_text(json.dumps({"mcpServers": {"tickets": server}}))
        trusted = {"hasTrustDialogAccepted": True}
        (Path(home) / ".claude.json").write_text(
            json.dumps({"hasCompletedOnboarding": True, "theme": "dark", "projects": {home: trusted}})
        )
        env = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{at}",
            "ANTHROPIC_AUTH_TOKEN": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "false",
        }
        try:
            name = f"mcp__tickets__{tool}"
            said = f"CALL: {name} {json.dumps({'name': 'calendar'} if tool == 'links' else {})}"
            subprocess.run(
                [os.environ["CLAUDE"], "-p", "--strict-mcp-config", f"--mcp-config={config}", f"--allowedTools={name}", said],
                env=env, cwd=home, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=200,
            )
        finally:
            model.kill()
        for line in model.stdout:
            if '"told"' in line:
                print(json.dumps({"said": json.loads(line)["told"]}))


main()
