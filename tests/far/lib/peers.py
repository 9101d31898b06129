"""Reads what is written of each peer: its folder has `peer.toml`, its own programs, and `seen.json` once it was run."""

import dataclasses
import json
import pathlib
import tomllib

FAR = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("agents", "clients")
# No package is newer than this, in either registry, so that what a pinned package needs is the same in each run.
BEFORE = "2026-11-28"


@dataclasses.dataclass
class Peer:
    """An agent or a client."""

    kind: str
    name: str
    said: dict

    @property
    def folder(self):
        return FAR / self.kind / self.name

    @property
    def title(self):
        return self.said.get("title", self.name)

    @property
    def seen(self):
        """What the last recorded run saw, or None."""
        path = self.folder / "seen.json"
        return json.loads(path.read_text()) if path.exists() else None

    def record(self, seen):
        (self.folder / "seen.json").write_text(json.dumps(seen, indent=2, ensure_ascii=False) + "\n")


def peers(names=()):
    """Returns all peers, or those that are named as `NAME`, `agents` or `agents/NAME`."""
    found = []
    for kind in KINDS:
        for path in sorted((FAR / kind).glob("*/peer.toml")):
            name = path.parent.name
            if not names or {name, kind, f"{kind}/{name}"} & set(names):
                found.append(Peer(kind, name, tomllib.loads(path.read_text())))
    return found
