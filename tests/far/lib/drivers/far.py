"""What the drivers of clients in Python share. A driver makes a client prompt an agent, and says on stdout what it is asked.

    driver.py AGENT...

FAR_PROMPTS has the prompts as a list in JSON. With FAR_ANSWER=allow the driver allows, and fills forms; with FAR_ANSWER=wait
it never answers, as a person who is away.
"""

import asyncio
import json
import os
import pathlib
import shlex
import sys
import time

AGENT = sys.argv[1:]
PROMPTS = json.loads(os.environ.get("FAR_PROMPTS", "[]"))
WAITS = os.environ.get("FAR_ANSWER") == "wait"


def tell(**event):
    """Writes an event: `asked` and `options`, or `ended`."""
    print(json.dumps(event, default=str), flush=True)


def member(value, name):
    """Returns a member of an object or a dictionary, in either spelling."""
    camel = "".join(word.title() if at else word for at, word in enumerate(name.split("_")))
    for key in (name, camel):
        found = value.get(key) if isinstance(value, dict) else getattr(value, key, None)
        if found is not None:
            return found
    return None


def asked(options, title=None):
    tell(asked=title, options=[member(option, "name") for option in options])


def allowing(options):
    """Returns the ID of the first option that allows once."""
    chosen = next((option for option in options if "allow_once" in str(member(option, "kind"))), options[0])
    return member(chosen, "option_id")


async def decide(options, title=None):
    """Returns the ID of the option that a person chooses."""
    asked(options, title)
    if WAITS:
        await asyncio.Event().wait()
    return allowing(options)


def decide_now(options, title=None):
    """The same where the client blocks."""
    asked(options, title)
    while WAITS:
        time.sleep(3600)
    return allowing(options)


def program(name):
    """Puts a program of this name on PATH that starts the agent, for clients that know their agent by its name."""
    folder = pathlib.Path(os.environ["TMPDIR"], "programs")
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\nexec {shlex.join(AGENT)}\n")
    path.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    return str(path)
