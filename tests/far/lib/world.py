"""The world that a peer runs in: folders of its own, nothing of the person's environment, no way to other hosts."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from peers import FAR

MODEL = FAR.parent / "native" / "model.mjs"
# The longest time that anything but the start of a peer may take, in seconds. The machine may be busy with a build.
SOON = 60
# The longest time for a peer's start: some import for half a minute from a cold disk.
START = 180


class Failed(Exception):
    """What did not happen in a trial."""


def until(what, look, within=SOON):
    """Returns what `look` returns once that is true."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    raise Failed(f"{what} did not happen within {within} s")


class World:
    """Folders, an environment, and a model."""

    def __init__(self, peer, cache, packages, askbridge):
        self.peer, self.askbridge, self.packages = peer, askbridge, packages
        # Sockets have short paths.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="far."))
        for name in ("home", "project", "run", "tmp", "taps"):
            (self.root / name).mkdir(mode=0o700)
        home = self.root / "home"
        self.project = self.root / "project"
        path = [packages / "venv/bin", packages / "node_modules/.bin", cache.node, os.environ["PATH"]]
        self.environment = {
            "HOME": home, "XDG_RUNTIME_DIR": self.root / "run", "XDG_CONFIG_HOME": home / ".config",
            "XDG_DATA_HOME": home / ".local/share", "XDG_STATE_HOME": home / ".local/state",
            "XDG_CACHE_HOME": home / ".cache", "TMPDIR": self.root / "tmp", "PATH": os.pathsep.join(map(str, path)),
            "LANG": "C.UTF-8", "TERM": "xterm-256color", "SHELL": "/bin/bash", "USER": "ada", "LOGNAME": "ada",
            "PYTHONPATH": FAR / "lib/drivers", "PYTHONPYCACHEPREFIX": cache.root / "pyc", "PYTHONUNBUFFERED": "1",
            # No program listens at port 9.
            "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost",
            "NO_COLOR": "1", "DO_NOT_TRACK": "1",
        }
        self.model, here = None, peer.folder
        if "npm" in peer.said:
            # A program finds its packages beside itself.
            here = packages
            for path in [*peer.folder.glob("*.mjs"), FAR / "lib/drivers/far.mjs"]:
                shutil.copy(path, packages)
        self.names = {"python": packages / "venv/bin/python3", "packages": packages, "here": here, "home": home,
                      "project": self.project, "node": "node", "port": self.started_model(), "askbridge": askbridge}
        self.environment |= {key: self.filled(value) for key, value in peer.said.get("environment", {}).items()}
        self.environment = {key: str(value) for key, value in self.environment.items()}
        for name, text in peer.said.get("files", {}).items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.filled(text))

    def started_model(self):
        """Starts the stand-in for a model where a peer needs it, and returns its port."""
        if not self.peer.said.get("model"):
            return 0
        errors = (self.root / "model.errors").open("w")
        self.model = subprocess.Popen(["node", MODEL], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        port = json.loads(self.model.stdout.readline())["port"]
        threading.Thread(target=self.model.stdout.read, daemon=True).start()
        return port

    def filled(self, text):
        """Replaces the names in braces that are known here."""
        for name, value in self.names.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def neutral(self, text):
        """Removes what is of this run or this machine from a text."""
        for path, name in ((self.project, "/project"), (self.root, "/world"), (self.packages, "/packages"), (FAR, "/far")):
            text = text.replace(str(path), name)
        return text

    def start(self, words, **more):
        """Starts a process in a group of its own."""
        words = [self.filled(str(word)) for word in words]
        more.setdefault("stderr", (self.root / "errors").open("ab"))
        return subprocess.Popen(words, cwd=self.project, env=self.environment, start_new_session=True, **more)

    def ask(self, *words):
        """Runs a command of askbridge, and returns its exit code and what it wrote."""
        done = subprocess.run([self.askbridge, *map(str, words)], env=self.environment, cwd=self.root, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=SOON)
        return done.returncode, done.stdout, done.stderr

    def questions(self):
        """Returns the open questions."""
        return json.loads(self.ask("list", "--json")[1] or '{"questions":[]}')["questions"]

    def processes(self):
        """Returns the processes of this world, wherever they hang in the tree: all have a folder of it as their home."""
        mark, found = f"HOME={self.root}/home".encode(), {}
        for path in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (path / "environ").read_bytes().split(b"\0"):
                    words = (path / "cmdline").read_bytes().split(b"\0")
                    found[int(path.name)] = os.path.basename(words[0].decode(errors="replace")).lstrip("-")
        return found

    def left(self):
        """Returns the names of the processes that are left a moment after the end of a peer, and ends them."""
        end = time.monotonic() + 3
        while (found := self.processes()) and time.monotonic() < end:
            time.sleep(0.05)
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        return sorted(set(filter(None, found.values())))

    def said(self):
        """Returns the last lines that a peer and its model wrote to stderr."""
        files = [path for path in (self.root / "errors", self.root / "model.errors") if path.exists()]
        texts = [path.read_text(errors="replace")[-1500:] for path in files]
        return self.neutral("\n".join(filter(None, texts)))

    def close(self, keep=False):
        self.left()
        if self.model:
            self.model.stdin.close()
            self.model.wait(SOON)
        if not keep:
            shutil.rmtree(self.root, ignore_errors=True)
