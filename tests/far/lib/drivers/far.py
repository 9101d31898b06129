"""What the drivers of clients in Python share. A driver makes a client prompt an agent, and says on stdout what it is asked.

    driver.py AGENT...

FAR_PROMPTS has the prompts as a list in JSON. With FAR_ANSWER=allow the driver allows, and fills forms; with FAR_ANSWER=wait
it never answers, as a person who is away, except for the first request once the file FAR_LATE is there: that is late.
The file FAR_ANSWERED is there once a command has answered.
"""

import asyncio
import itertools
import json
import os
import pathlib
import shlex
import sys
import time

AGENT = sys.argv[1:]
PROMPTS = json.loads(os.environ.get("FAR_PROMPTS", "[]"))
WAITS = os.environ.get("FAR_ANSWER") == "wait"
LATE = os.environ.get("FAR_LATE", "")
ANSWERED = os.environ.get("FAR_ANSWERED", "")
count = itertools.count()


def tell(**event):
    """Writes an event: `asked` and `options`, `withdrawn`, or `ended`."""
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


def is_due(number):
    """Whether the person answers the request with this number now."""
    return not WAITS or (number == 0 and os.path.exists(LATE))


async def decide(options, title=None):
    """Returns the ID of the option that a person chooses."""
    number = next(count)
    asked(options, title)
    try:
        while not is_due(number):
            await asyncio.sleep(0.05)
    except asyncio.CancelledError:
        tell(withdrawn=title)
        raise
    return allowing(options)


def until_answered():
    """Waits for the command that answers while the person is away, where a client would end at once."""
    while WAITS and not os.path.exists(ANSWERED):
        time.sleep(0.05)


def decide_now(options, title=None):
    """The same where the client blocks."""
    number = next(count)
    asked(options, title)
    while not is_due(number):
        time.sleep(0.05)
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
