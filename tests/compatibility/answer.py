"""Answers a request of an agent in a client, in the place of a person: the command of `--answer-with`.

    answer.py keys ALLOW    types into a terminal, whose keys come from the named pipe `keys`; ALLOW is what allows
    answer.py person        writes the answer to the socket `person`, at which a program asks
"""

import json
import os
import socket
import sys


def options(field):
    """Returns the values that a field offers."""
    listed = field.get("oneOf") or field.get("anyOf") or []
    return [option["const"] for option in listed] or field.get("enum") or []


def value(field):
    """Returns a value that fits a field of a form."""
    if field["type"] == "array":
        return options(field["items"])[:1]
    if options(field):
        return options(field)[0]
    return {"boolean": True, "string": "a text"}.get(field["type"], field.get("minimum", 1))


def typed(value):
    """Returns how a value is typed."""
    if isinstance(value, list):
        return ",".join(value)
    return "yes" if value is True else str(value)


request = json.loads(sys.stdin.readline())
params = request["params"]
is_permission = request["method"] == "session/request_permission"
fields = params["requestedSchema"]["properties"] if not is_permission else {}
values = {name: value(field) for name, field in fields.items()}
folder = os.environ["XDG_RUNTIME_DIR"]

if sys.argv[1] == "keys":
    with open(os.path.join(folder, "keys"), "w") as keys:
        keys.write(sys.argv[2] + "\r" if is_permission else "".join(typed(value) + "\r" for value in values.values()))
else:
    answer = params["options"][0] if is_permission else {"action": "accept", "content": values}
    with socket.socket(socket.AF_UNIX) as person:
        person.connect(os.path.join(folder, "person"))
        person.sendall(json.dumps(answer).encode() + b"\n")
