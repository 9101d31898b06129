"""The command of the package, with an agent of its settings."""

import pathlib
import os
import shlex
import subprocess

import far

folder = pathlib.Path(os.environ["XDG_CONFIG_HOME"], "acpc", "agents")
folder.mkdir(parents=True, exist_ok=True)
settings = {"identity": "far", "name": "Far", "author": "far", "run_command": shlex.join(far.AGENT), "install_command": "true"}
(folder / "far.toml").write_text("".join(f"{key} = '''{value}'''\n" for key, value in settings.items()))
for text in far.PROMPTS:
    far.tell(ended=subprocess.run(["acpc", "prompt", "far", text, "--permissions", "all"], stdout=2).returncode)
