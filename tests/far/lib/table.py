"""Writes the tables of docs/compatibility.md that are made of what was recorded: one of agents, one of clients.

    table.py [--check]

With --check it writes nothing, and fails where the page differs from the records, or where the folder of a peer lacks a file.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from peers import FAR, peers  # noqa: E402

PAGE = FAR.parent.parent / "docs" / "compatibility.md"
METHODS = {"session/request_permission": "permission", "elicitation/create": "form"}
HEADS = {
    "agents": ["name", "version", "date", "asks by", "seen as", "answered from elsewhere", "other lines",
               "cancelled while it asks", "exit code", "exit code while it asks", "what is lost, and why"],
    "clients": ["name", "version", "date", "a permission, directly", "a question, directly", "a form, directly",
                "permission from elsewhere", "question from elsewhere", "form from elsewhere", "its dialog then",
                "other lines", "what is lost, and why"],
}


def pair(first, second):
    """Returns what was seen without askbridge and with it: once, where that is the same."""
    first, second = ("none" if value is None else str(value) for value in (first, second))
    return first if first == second else f"{first}; {second} with askbridge"


def distinct(words):
    return "; ".join(dict.fromkeys(words))


def exits(seen, key=None):
    """Returns the exit codes of an agent, with the processes that it left."""
    found = []
    for way in ("direct", "through"):
        part = seen[way].get(key) if key else seen[way]
        if part is None:
            return "–"
        left = f", leaves {', '.join(part['left'])}" if part["left"] else ""
        found.append(f"{'none' if part['exit'] is None else part['exit']}{left}")
    return pair(*found)


def noticed(ask):
    """Returns how a question is in the list."""
    return f"permission, {ask['risk']}" if ask.get("risk") else ask["kind"]


def heard(direct, through):
    """Returns whether an agent heard an answer from elsewhere as it hears its client's."""
    if through["kind"] == "not seen":
        return "no: only the client answers"
    if through.get("answer"):
        return f"no: {through['answer'].rpartition(': ')[2]}"
    if through["ends"] == "never":
        return "never heard" if direct["ends"] == "never" else "not heard"
    return "heard" if (direct["heard"], direct["ends"]) == (through["heard"], through["ends"]) else "heard in another way"


def agent(peer, seen):
    """Returns the cells of an agent after its name, version and date."""
    direct, through = seen["direct"], seen["through"]
    asks = list(zip(direct["asks"], through["asks"]))
    if not asks:
        cells = ["never", "–", "–", seen["bytes"], "–"]
    else:
        cancelled = [part.get("cancelled", "–") for part in (direct, through)]
        cells = [distinct(METHODS.get(one["method"], f"`{one['method']}`") for one, _ in asks),
                 distinct(noticed(other) for _, other in asks), distinct(heard(*both) for both in asks),
                 seen["bytes"], pair(*cancelled)]
    return cells + [exits(seen), exits(seen, "exit while asking")]


def response(text):
    """Returns the words for what an agent got from a client by itself."""
    if text == "nothing" or text.startswith("error"):
        return {"nothing": "no answer"}.get(text, text)
    result = json.loads(text) if not text.endswith("…") else {}
    outcome = result.get("outcome") if isinstance(result, dict) else None
    if isinstance(outcome, dict) and outcome.get("outcome") == "selected":
        return f"`{outcome['optionId']}`"
    if isinstance(outcome, dict) and outcome.get("outcome"):
        return outcome["outcome"]
    if isinstance(result, dict) and "action" in result:
        return result["action"]
    return f"`{text}`"


def reached(ask):
    """Returns whether a question reached a person, and whether an answer from elsewhere reached the agent."""
    if ask["seen"] == "no":
        return f"the client answers: {response(ask['heard'])}" if ask.get("answers") else f"not asked: {response(ask['heard'])}"
    shown = "shown" if ask.get("shows") else "asked" if ask["seen"] == "client" else "elsewhere"
    ends = "" if ask["turns"] else ", but the turn does not end"
    return f"{shown}, " + ("not answered: " + ask["answer"].rpartition(": ")[2] if ask.get("answer") else "answered") + ends


def dialog(seen):
    """Returns what becomes of a dialog whose question was answered elsewhere, and of its late answer."""
    found = []
    for ask in seen.get("late", {}).values():
        late = "" if ask["dialog"] == "gone" else ", its late answer is dropped" if ask["late answer"] == "sent" else ""
        next = ", and hides the next" if ask["next"] == "not shown" else ""
        found.append(ask["dialog"] + late + next)
    return distinct(found) or "–"


def client(peer, seen):
    """Returns the cells of a client after its name, version and date."""
    asks = ("permission", "native", "form")
    lines = [part["bytes"] for way in ("through", "elsewhere") for part in seen[way].values()]
    different = next((line for line in lines if line != "same"), "same")
    direct = [response(seen["direct"][ask]["heard"]) for ask in asks]
    if direct[2] == "no answer" and seen["direct"]["form"]["turns"]:
        direct[2] = "promises no forms"
    return [*direct, *(reached(seen["elsewhere"][ask]) for ask in asks), dialog(seen), different]


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "\\<")


def row(peer):
    """Returns the row of a peer."""
    seen, width = peer.seen, len(HEADS[peer.kind])
    cells = [peer.title, seen["version"], seen["date"]]
    note = peer.said.get("note", "")
    if reason := seen.get("missing") or seen.get("failed"):
        word = "not run" if "missing" in peer.said else "cannot be installed" if "missing" in seen else "does not run"
        cells += [word, *["–"] * (width - 5), note or reason.splitlines()[0]]
    else:
        cells += [*(agent if peer.kind == "agents" else client)(peer, seen), note or "nothing"]
    return f"| {' | '.join(map(cell, cells))} |"


def table(kind):
    head = HEADS[kind]
    rows = [row(peer) for peer in peers([kind]) if peer.seen]
    return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *rows])


def page(text):
    """Returns the page with both tables between their marks."""
    for kind in HEADS:
        begin, end = f"<!-- tests/far: {kind} -->\n", f"\n<!-- tests/far: end of {kind} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table(kind)}\n{end}{rest.split(end)[1]}"
    return text


def write():
    PAGE.write_text(page(PAGE.read_text()))


def incomplete():
    """Returns a line for each peer whose folder lacks something."""
    found = []
    for peer in peers():
        where = f"tests/far/{peer.kind}/{peer.name}"
        if not peer.seen:
            found.append(f"{where} has no seen.json: run tests/far/run --update ASKBRIDGE {peer.name}")
        elif peer.seen["version"] != peer.said["version"]:
            found.append(f"{where} is recorded with another version")
        pinned = [spec for key in ("pypi", "npm") for spec in peer.said.get(key, ())]
        if not peer.said.get("missing") and not any(spec.endswith(peer.said["version"]) for spec in pinned):
            found.append(f"{where} installs another version than it names")
        needed = [word.removeprefix("{here}/") for word in peer.said.get("command", ()) if word.startswith("{here}/")]
        found += [f"{where} has no {name}" for name in needed if not (peer.folder / name).exists()]
    return found


def check():
    found = incomplete()
    text = PAGE.read_text()
    if page(text) != text:
        found.append("docs/compatibility.md differs from the records: run tests/far/lib/table.py")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1:] == ["--check"] else write())
