"""Installs and runs the peers, several at a time, and compares what is seen with what is recorded."""

import concurrent.futures
import datetime
import os
import shutil
import sys
import tempfile
import time

import agents
import clients
import table
from install import Cache, Missing
from peers import peers
from world import World

TRIALS = {"agents": agents.Trial, "clients": clients.Trial}


def flat(seen, path=""):
    """Returns the leaves of what was seen, by their paths."""
    if not isinstance(seen, (dict, list)) or not seen:
        return {path: seen}
    items = seen.items() if isinstance(seen, dict) else enumerate(seen)
    return {found: leaf for key, value in items for found, leaf in flat(value, f"{path}/{key}").items()}


def differences(recorded, seen):
    """Returns a line for each difference, other than the date."""
    old, new = flat(recorded or {}), flat(seen)
    paths = [path for path in dict.fromkeys([*old, *new]) if path != "/date" and old.get(path) != new.get(path)]
    return [f"{path}: recorded {old.get(path)!r}, seen {new.get(path)!r}" for path in paths]


class Run:
    def __init__(self, options):
        self.options, self.askbridge = options, options.askbridge.resolve()
        self.kept = os.environ.get("FAR_PACKAGES")
        self.cache = Cache(self.kept or tempfile.mkdtemp(prefix="far.packages."))
        self.cache.tools()

    def tried(self, peer):
        """Returns what was seen of a peer."""
        seen = {"version": peer.said["version"], "date": datetime.date.today().isoformat()}
        if reason := peer.said.get("missing"):
            return seen | {"missing": reason}
        try:
            packages = self.cache.installed(peer)
        except Missing as missing:
            return seen | {"missing": str(missing)}
        world = World(peer, self.cache, packages, self.askbridge)
        try:
            return seen | TRIALS[peer.kind](world).run()
        except Exception as error:
            print(f"{peer.name}: {world.said()}", file=sys.stderr)
            return seen | {"failed": f"{type(error).__name__}: {agents.neutral(world, error, 400)}"}
        finally:
            world.close(self.options.keep)

    def judged(self, peer):
        """Runs a peer, says how it went, and returns whether it is as recorded."""
        begun = time.monotonic()
        seen = self.tried(peer)
        found = differences(peer.seen, seen)
        words = "as recorded" if not found else "recorded" if self.options.update else "differs"
        # Of a first recording, the file says more.
        found = found[: 3 if self.options.update else None] if peer.seen else []
        lines = [f"{words:12} {peer.kind}/{peer.name} {seen['version']} ({time.monotonic() - begun:.0f} s)"]
        lines += [f"    {key}: {seen[key]}" for key in ("missing", "failed") if key in seen]
        print("\n".join(lines + [f"    {line}" for line in found]), flush=True)
        if self.options.update:
            peer.record(seen)
        return words == "as recorded"

    def end(self):
        if not self.kept:
            shutil.rmtree(self.cache.root, ignore_errors=True)


def main(options):
    """Runs all peers that are named, and returns the exit code."""
    run, found = Run(options), peers(options.names)
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            as_recorded = list(pool.map(run.judged, found))
    finally:
        run.end()
    if options.update:
        table.write()
    changed = [peer.name for peer, same in zip(found, as_recorded) if not same]
    others = f"; others: {' '.join(changed)}" if changed else ""
    print(f"{len(found) - len(changed)} of {len(found)} are as recorded{others}")
    return 1 if changed and not options.update else 0
