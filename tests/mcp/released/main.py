"""Plays the table of cases with each released server, the checks beside it, and the released hosts:

    main.py PROGRAM FOLDER OF PACKAGES [NAME ...]

A name is that of a server, of a part of it, `mcp/cases`, or `hosts`. Prints a line for what is wrong, and counts."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Iterator

import hosts
import others
from cases import DECLARATIONS, VERSIONS, Session, rows
from host import Ended
from place import Place
from released import Server, servers

Work = tuple[str, Callable[[Place], Iterator[tuple[str, list[str]]]]]


def cases(server: Server, declared: str, mode: str, era: str) -> Work:
    """Returns a session of the table."""

    def play(place: Place) -> Iterator[tuple[str, list[str]]]:
        session = Session(place, server, declared, mode, VERSIONS[era])
        for row in rows(declared, mode, VERSIONS[era]):
            about = f"{row.kind}: the host {row.host}, the inbox {row.inbox}"
            try:
                expected, seen = session.play(row)
            except (AssertionError, Ended, KeyError) as error:
                yield about, [f"{type(error).__name__}: {error}"]
                # What is open would be taken for the next one.
                session.host.end()
                return
            yield about, [] if expected == seen else [f"expected {expected}, saw {seen}"]

    return f"{server.name}/cases/{era}, declared {declared}, --elicitation {mode}", play


def check(server: Server, it: others.Check) -> Work:
    def play(place: Place) -> Iterator[tuple[str, list[str]]]:
        wrong: list[str] = []
        try:
            for one in it(place, server):
                wrong.append(one)
        except (AssertionError, Ended, KeyError, ValueError) as error:
            wrong.append(f"{type(error).__name__}: {error}")
        yield it.__doc__ or it.__name__, wrong

    return f"{server.name}/{it.__name__}", play


def host(program: hosts.Program, server: Server, session: str) -> Work:
    def play(place: Place) -> Iterator[tuple[str, list[str]]]:
        yield program.name, list(hosts.try_host(place, program, server, session))

    return f"hosts/{program.name} with {server.name}, --session {session}", play


def works(folder: Path) -> list[Work]:
    all = servers(folder)
    work = [check(all["everything"], others.everything), check(all["hostile"], others.hostile)]
    work.append(check(all["everything"], others.over_http))
    for server in all.values():
        if server.name in ("everything", "hostile"):
            continue
        work += [check(server, it) for it in others.checks(server)]
        for era in VERSIONS if server.is_new else ["old"]:
            for mode in ("both", "inbox"):
                work += [cases(server, declared, mode, era) for declared in DECLARATIONS]
    for program in hosts.programs(folder):
        for server in (all[name] for name in ("mcp", "fastmcp", "sdk", "server")):
            work.append(host(program, server, "handshake"))
            if program.is_new and server.is_new:
                work.append(host(program, server, "any"))
    return work


def main() -> None:
    program, folder, *names = sys.argv[1:]
    chosen = [work for work in works(Path(folder)) if not names or any(work[0].startswith(name) for name in names)]

    def play(work: Work) -> tuple[str, list[tuple[str, list[str]]]]:
        place = Place(str(Path(program).resolve()))
        try:
            return work[0], list(work[1](place))
        finally:
            place.remove()

    count, failed = 0, 0
    with ThreadPoolExecutor(2) as pool:
        for name, results in pool.map(play, chosen):
            wrong = [(about, line) for about, lines in results for line in lines]
            print(f"{name}: {len(results)} {'right' if not wrong else 'tried'}", flush=True)
            for about, line in wrong:
                print(f"    WRONG {about}: {line}", flush=True)
            count += len(results)
            failed += len({about for about, _ in wrong})
    print(f"{count} rows, {failed} wrong")
    sys.exit(1 if failed or not count else 0)


if __name__ == "__main__":
    main()
