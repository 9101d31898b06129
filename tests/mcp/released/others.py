"""What the table of cases does not have: what passes unchanged, what the server gets, tools that ask twice or need pages
to be opened first, the host's time, and permissions before chosen tools. Each check gives lines of what is wrong."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Optional

from cases import ACCEPT, SESSIONS, SLOW, action
from host import KEY, NEW, OLD, PATIENCE, Ended, Host, Message, said
from place import Place
from released import HERE, Server

BOTH: Message = {"form": {}, "url": {}}
# What differs from run to run: sealed states, and IDs that a server makes up.
RANDOM = re.compile(r"v1\.[A-Za-z0-9_-]{40,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Watched:
    """A host, a bridge unless it is left out, and a server whose lines are kept."""

    def __init__(
        self, place: Place, server: Server, declared: Optional[Message], mode: Optional[str], version: str = OLD,
        options: tuple[str, ...] = (),
    ) -> None:
        self.place, self.server = place, server
        self.file = place.home / f"lines-{len(list(place.home.glob('lines-*')))}"
        watched = [sys.executable, str(HERE / "tee.py"), str(self.file), *server.command]
        begins = ["--session", SESSIONS[version]]
        bridge = [] if mode is None else [place.program, "mcp-proxy", "--elicitation", mode, *begins, *options, "--"]
        self.host = Host([*bridge, *watched], {**place.env, "PACKAGES": server.packages}, declared, version)
        self.host.open()

    def got(self, who: str = "host") -> list[str]:
        """Returns the lines that the server got or sent."""
        kept = [json.loads(line) for line in self.file.read_text().split("\n") if line]
        return [one["line"] for one in kept if one["from"] == who]

    def ask(self, tool: str, *answers: Message, **params: Any) -> str:
        since = len(self.host.received)
        id = self.host.call(tool, **params)
        for answer in answers:
            question = self.host.asked(since)
            since = len(self.host.received)
            self.host.send(id=question["id"], **answer)
        return said(self.host.response(id))


def script(watched: Watched, server: Server) -> None:
    """What is said in both runs whose lines are compared."""
    refuse = {"error": {"code": -32601, "message": "Method not found"}}
    watched.ask("plain", arguments={"text": "Grüße \"\\ \u2028"}, token="t/1")
    declares = watched.host.capabilities != {}
    if watched.host.version == OLD:
        answers = [{"result": ACCEPT}, {"result": {"action": "decline"}}, {"result": {"action": "cancel"}}, refuse]
        for answer in answers if declares else [refuse]:
            watched.ask("form", *([answer] if declares or server.asks_undeclared else []))
            watched.ask("link", *([answer] if declares or server.asks_undeclared else []))
    elif declares or server.name == "fastmcp":
        first = watched.host.response(watched.host.call("resolved"))
        key, = first["result"]["inputRequests"]
        watched.host.response(watched.host.again(first, {key: ACCEPT}, "resolved"))
    watched.ask("links", arguments={"name": "calendar"})
    watched.ask("links", arguments={"name": "calendar"})
    watched.ask("slow", token=0)


def passes_unchanged(place: Place, server: Server) -> Iterator[str]:
    """`--elicitation host` changes nothing, in either direction."""
    for version in [OLD, NEW] if server.is_new else [OLD]:
        for declared in (None, BOTH):
            direct = Watched(place, server, declared, None, version)
            script(direct, server)
            bridged = Watched(place, server, declared, "host", version)
            script(bridged, server)
            for watched in (direct, bridged):
                watched.host.end()
            if bridged.got() != [line for who, line in bridged.host.lines if who == "host"]:
                yield f"{version}: the server got other lines than the host sent"
            if bridged.got("server") != [line for who, line in bridged.host.lines if who == "server"]:
                yield f"{version}: the host got other lines than the server sent"
            for who in ("host", "server"):
                one, two = ([RANDOM.sub("…", line) for line in watched.got(who)] for watched in (direct, bridged))
                if one != two:
                    yield f"{version}, {declared}: the {who}'s lines differ from those without a bridge"
    if place.open():
        yield "the inbox was asked"


def server_gets(place: Place, server: Server) -> Iterator[str]:
    """Of the host's lines, only the capabilities change; and tools that ask nothing give what they give without a bridge."""
    for version in [OLD, NEW] if server.is_new else [OLD]:
        for declared in (None, {}, BOTH):
            watched = Watched(place, server, declared, "both", version)
            watched.ask("plain", arguments={"text": "Grüße \"\\ \u2028"}, token="t/1")
            watched.ask("slow", token=0)
            watched.host.response(watched.host.request("tools/list"))
            watched.host.end()
            sent = [line for who, line in watched.host.lines if who == "host"]
            if (got := watched.got()) != [completed(line) for line in sent]:
                wrong = [(one, two) for one, two in zip(got, map(completed, sent)) if one != two]
                yield f"{version}, {declared}: the server got {wrong[:1]}"
            if watched.got("server") != [line for who, line in watched.host.lines if who == "server"]:
                yield f"{version}, {declared}: the host got other lines than the server sent"


def completed(line: str) -> str:
    """Returns a line of the host with the modes of elicitation that it does not declare."""
    message = json.loads(line)
    params = message.get("params", {})
    for capabilities in (
        params.get("capabilities") if message.get("method") == "initialize" else None,
        params.get("_meta", {}).get(KEY + "clientCapabilities"),
    ):
        if capabilities is not None:
            elicitation = capabilities.setdefault("elicitation", {})
            for mode in BOTH:
                elicitation.setdefault(mode, {})
    return json.dumps(message, separators=(",", ":"))


def asks_twice(place: Place, server: Server) -> Iterator[str]:
    """A tool that asks twice has two questions, one after the other; another call goes on meanwhile."""
    watched = Watched(place, server, None, "both")
    id = watched.host.call("twice")
    first = place.asked()
    if watched.ask("plain", arguments={"text": "meanwhile"}) != "plain meanwhile":
        yield "another call does not go on while a question is open"
    place.accept(first)
    second = place.until(lambda: [one for one in place.open() if one["id"] != first["id"]], "no second question")[0]
    place.reject(second)
    text = said(watched.host.response(id))
    if text.count('"accept"') != 1 or text.count('"decline"') != 1:
        yield f"the tool heard {text}"
    watched.host.end()


def asks_several(place: Place, server: Server) -> Iterator[str]:
    """Two questions of one result, and one in the next round: the server gets its state and its keys back, unchanged."""
    watched = Watched(place, server, None, "both", NEW)
    id = watched.host.call("resolved_twice", token="t")
    place.accept(first := place.asked())
    second = place.until(lambda: [one for one in place.open() if one["id"] != first["id"]], "no second round")[0]
    place.accept(second)
    text = said(watched.host.response(id))
    if text.count("Broken door") != (2 if server.name == "mcp" else 3):
        yield f"the tool heard {text}"
    results = [json.loads(line)["result"] for line in watched.got("server") if '"input_required"' in line]
    calls = [json.loads(line) for line in watched.got() if '"resolved_twice"' in line]
    if len({call["id"] for call in calls}) != len(calls):
        yield "a call was repeated under its own ID"
    for result, call in zip(results, calls[1:]):
        params = call["params"]
        if params.get("requestState") != result.get("requestState"):
            yield f"another state: {params.get('requestState')}"
        if set(params["inputResponses"]) != set(result["inputRequests"]):
            yield f"other keys: {list(params['inputResponses'])} for {list(result['inputRequests'])}"
        if params["_meta"].get("progressToken") != "t" or params["arguments"] != {}:
            yield f"other params: {params}"
    watched.host.end()


def calls_do_not_mix(place: Place, server: Server) -> Iterator[str]:
    """Two calls of a tool whose results have no state and the same key: each gets its own answer, in any order."""
    for order in ("ab", "ba"):
        watched = Watched(place, server, BOTH, "both", NEW)
        host, firsts, records = watched.host, {}, {}
        for name in "ab":
            firsts[name] = host.response(host.call("confirm", arguments={"place": name}))
            new = lambda: [one for one in place.open() if one["id"] not in records.values()]  # noqa: E731
            records[name] = place.until(new, "nothing is asked")[0]["id"]
        # The inbox says yes to one. The host says no to both: for the first it is too late.
        one, other = order
        place.accept(next(record for record in place.open() if record["id"] == records[one]))
        place.outcome(records[one])
        time.sleep(SLOW)
        for name in (other, one):
            id = host.again(firsts[name], {"confirm": {"action": "decline"}}, "confirm", arguments={"place": name})
            expected = f"{name}: {'accept' if name == one else 'decline'}"
            if (text := said(host.response(id))) != expected:
                yield f"{order}: the host was told {text!r} in place of {expected!r}"
        if (outcome := place.outcome(records[other])) != "rejected user by client":
            yield f"{order}: the other question ended: {outcome}"
        host.end()


def state_expires(place: Place, server: Server) -> Iterator[str]:
    """The state of a server is good for some minutes, and a person takes longer: the answer is not lost."""
    place.env["STATE_SECONDS"] = "1"
    watched = Watched(place, server, None, "both", NEW)
    id = watched.host.call("resolved")
    record = place.asked()
    time.sleep(2)
    place.accept(record)
    if action(server, text := said(watched.host.response(id)), NEW) != "accept":
        yield f"the host was told {text}"
    if not place.is_empty():
        yield "the same is asked again"
    watched.host.end()


def state_is_long(place: Place, server: Server) -> Iterator[str]:
    """A result that asks is found however long it is: this server says last what kind of result it is."""
    watched = Watched(place, server, None, "both", NEW)
    id = watched.host.call("resolved_much")
    place.accept(place.asked())
    if (text := said(watched.host.response(id))) != "accept 100000":
        yield f"the host was told {text[:100]}"
    watched.host.end()


def pages_first(place: Place, server: Server) -> Iterator[str]:
    """A call that needs pages to be opened (-32042): the bridge calls again once the person says so, or the server does."""
    for declared, mode in ((None, "both"), ({}, "both"), (BOTH, "inbox")):
        watched = Watched(place, server, declared, mode)
        about = f"{declared}, {mode}"
        id = watched.host.call("links", arguments={"name": "one"})
        record = place.asked()
        if "tickets.example.com" not in json.dumps(record["question"]):
            yield f"{about}: the host of the page is not shown"
        place.accept(record)
        if (text := said(watched.host.response(id))) != "linked one":
            yield f"{about}: accepted, and the host was told {text}"
        id = watched.host.call("links", arguments={"name": "two"})
        place.reject(place.asked())
        if not (text := said(watched.host.response(id))).startswith("error -32042"):
            yield f"{about}: rejected, and the host was told {text}"
        id = watched.host.call("links_complete", arguments={"name": "three"})
        record = place.asked()
        if (text := said(watched.host.response(id))) != "linked three":
            yield f"{about}: the server said that it is done, and the host was told {text}"
        if not place.is_empty():
            yield f"{about}: the question stays open after the server said that it is done"
        watched.host.end()
    # A host that shows pages is told as without a bridge.
    watched = Watched(place, server, BOTH, "both")
    if not (text := watched.ask("links", arguments={"name": "one"})).startswith("error -32042"):
        yield f"a host that shows pages was told {text}"
    watched.host.end()


def page_is_done(place: Place, server: Server) -> Iterator[str]:
    """A server that says that a page is done with ends the question about it, also in the host."""
    for declared in (None, BOTH):
        watched = Watched(place, server, declared, "both")
        id = watched.host.call("link_completes")
        record = place.asked()
        text = said(watched.host.response(id))
        if action(server, text, OLD) != "accept":
            yield f"{declared}: the tool heard {text}"
        if not place.is_empty():
            yield f"{declared}: the question stays open"
        elif (outcome := place.outcome(record["id"])) != "answered by bridge":
            yield f"{declared}: its end is {outcome}"
        heard = [message["method"] for message in watched.host.received if "method" in message]
        complete = "notifications/elicitation/complete"
        expected = [complete] if declared is None else ["elicitation/create", complete, "notifications/cancelled"]
        if sorted(heard) != sorted(expected):
            yield f"{declared}: the host heard {heard}"
        watched.host.end()


def host_is_late(place: Place, server: Server) -> Iterator[str]:
    """What the host answers after the inbox is heard by nobody."""
    watched = Watched(place, server, BOTH, "both")
    id = watched.host.call("form")
    question = watched.host.asked()
    place.accept(place.asked())
    if action(server, text := said(watched.host.response(id)), OLD) != "accept":
        yield f"the tool heard {text}"
    count = len(watched.got())
    watched.host.send(id=question["id"], result={"action": "accept", "content": {"title": "late", "count": 9}})
    watched.host.response(watched.host.request("ping"))
    if any("late" in line for line in watched.got()[count:]):
        yield "the server got a second answer"
    watched.host.end()


def both_at_once(place: Place, server: Server) -> Iterator[str]:
    """The host and the inbox answer at about the same time: the tool hears one of them, and each is told who was first."""
    for version in [OLD, NEW] if server.is_new else [OLD]:
        watched = Watched(place, server, BOTH, "both", version)
        host = watched.host
        for round in range(12):
            since = len(host.received)
            id = host.call("form" if version == OLD else "resolved")
            question = host.asked(since) if version == OLD else host.response(id)
            record = place.asked()
            time.sleep(SLOW)
            printed: list[str] = []
            person = threading.Thread(target=lambda: printed.append(place.accept(record)))  # noqa: B023
            person.start()
            # A command takes about as long to reach the bridge.
            time.sleep(round * 0.01)
            late = {"action": "accept", "content": {"title": "of the host", "count": 1}}
            if version == OLD:
                host.send(id=question["id"], result=late)
            else:
                id = host.again(question, {key: late for key in question["result"]["inputRequests"]}, "resolved")
            text = said(host.response(id))
            person.join()
            by_host = "of the host" in text
            if by_host == ("Broken door" in text):
                yield f"{version}: the tool heard {text}"
            if by_host == (" answered: " in printed[0] and "already" not in printed[0]):
                yield f"{version}: the tool heard {text}, and the person was told {printed[0]!r}"
            expected = f"answered by {'client' if by_host else 'command_line'}"
            if (outcome := place.outcome(record["id"])) != expected:
                yield f"{version}: the tool heard {text}, and the journal has {outcome}"
        host.end()


def host_waits(place: Place, server: Server) -> Iterator[str]:
    """A host that gave a token is told of progress while its person thinks, and none after the end of its call."""
    watched = Watched(place, server, None, "both")
    id = watched.host.call("form", token="wait/1")
    record = place.asked()
    is_progress = lambda message: message.get("method") == "notifications/progress"  # noqa: E731
    watched.host.find(is_progress, within=15)
    place.until(lambda: len([one for one in watched.host.received if is_progress(one)]) > 1, "no second report")
    place.accept(record)
    watched.host.response(id)
    watched.host.response(watched.host.request("ping"))
    reports = [message["params"] for message in watched.host.received if is_progress(message)]
    steps = [report["progress"] for report in reports]
    if steps != sorted(set(steps)) or {report["progressToken"] for report in reports} != {"wait/1"}:
        yield f"the reports are {reports}"
    if not watched.host.received[-2].get("id") == id:
        yield "something came after the end of the call"
    # A host without a token is told nothing.
    since = len(watched.host.received)
    id = watched.host.call("form")
    record = place.asked()
    time.sleep(6)
    if len(watched.host.received) > since:
        yield f"without a token, the host got {watched.host.received[since:]}"
    place.accept(record)
    watched.host.response(id)
    watched.host.end()


def asks_before_tools(place: Place, server: Server) -> Iterator[str]:
    """The tools that the settings name need a permission; a refused call is an ordinary result that says so."""
    place.settings('[mcp]\nask = ["tickets/pl*"]\n')
    watched = Watched(place, server, None, "both", options=("--name", "tickets"))
    id = watched.host.call("plain", arguments={"text": "allowed"})
    record = place.asked()
    if '"plain allowed"' in json.dumps(watched.got("server")):
        yield "the tool ran before it was allowed"
    place.run("allow", record["id"], "--yes")
    if (text := said(watched.host.response(id))) != "plain allowed":
        yield f"allowed, and the host was told {text}"
    id = watched.host.call("plain", arguments={"text": "refused"})
    place.reject(place.asked())
    text = said(watched.host.response(id))
    if not text.startswith("isError") or any("refused" in line for line in watched.got() if "plain" in line):
        yield f"refused, and the host was told {text}"
    if watched.ask("slow", arguments={"steps": 1}) != "slow":
        yield "another tool needs a permission as well"
    watched.host.end()


def everything(place: Place, server: Server) -> Iterator[str]:
    """server-everything: 13 fields of every kind, its tool that only hosts with elicitation see, and a call as a task."""
    watched = Watched(place, server, None, "both")
    listed = watched.host.response(watched.host.request("tools/list"))["result"]["tools"]
    names = {tool["name"] for tool in listed}
    if not {"trigger-elicitation-request", "trigger-url-elicitation"} <= names:
        yield "the tools that ask are not listed"
    id = watched.host.call("trigger-elicitation-request")
    record = place.asked()
    if len(record["question"]["fields"]) != 13:
        yield f"the form has {len(record['question']['fields'])} fields"
    printed = place.run("answer", record["id"], "--field", "name=Ada", "--field", "integer=3", "--yes")
    text = said(watched.host.response(id))
    if '"name": "Ada"' not in text or '"integer": 3' not in text:
        yield f"the tool heard {text[:300]}, the command said {printed.stdout}{printed.stderr}"
    id = watched.host.call("trigger-url-elicitation", arguments={"url": "https://tickets.example.com/a", "errorPath": True})
    place.accept(first := place.asked())
    second = place.until(lambda: [one for one in place.open() if one["id"] != first["id"]], "no second question")[0]
    place.accept(second)
    if '"action": "accept"' not in (text := said(watched.host.response(id))):
        yield f"the pages were opened, and the tool heard {text[:200]}"
    watched.host.end()
    yield from task(place, server)


def task(place: Place, server: Server) -> Iterator[str]:
    watched = Watched(place, server, None, "both")
    host = watched.host
    made = host.response(host.call("simulate-research-query", arguments={"topic": "tides", "ambiguous": True}, task={"ttl": 60000}))
    host.find(lambda m: m.get("method") == "notifications/tasks/status" and m["params"]["status"] == "input_required")
    id = host.request("tasks/result", taskId=made["result"]["task"]["taskId"])
    record = place.asked()
    place.run("answer", record["id"], "technical", "--yes")
    if "technical" not in (text := said(host.response(id))):
        yield f"the task heard {text[:200]}"
    host.end()


SPELLINGS = [
    r'{"jsonrpc":"2.0","id":%d,"method":"tools\u002fcall","params":{"name":"plain","arguments":{"text":"ran"}}}',
    r'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pl\u0061in","arguments":{"text":"ran"}}}',
    r'{"jsonrpc":"2.0","id":%d,"\u006dethod":"tools/call","params":{"n\u0061me":"plain","arguments":{"text":"ran"}}}',
    '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow","name":"plain","arguments":{"text":"ran"}}}',
    '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"slow"},"params":{"name":"plain","arguments":{"text":"ran"}}}',
    '{"jsonrpc":"2.0","id":%d,"method":"tools/list","method":"tools/call","params":{"name":"plain","arguments":{"text":"ran"}}}',
    '[{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"plain","arguments":{"text":"ran"}}}]',
    ' \t{"id":%d,"params":{"arguments":{"text":"ran"},"name":"plain"},"method":"tools/call","jsonrpc":"2.0"}\r',
    '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"plain","arguments":{"text":"ran' + "n" * 9_000_000 + '"}}}',
    '{"jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":%d},"name":"plain","arguments":{"text":"ran"}}}',
]


def no_call_slips_past(place: Place, server: Server) -> Iterator[str]:
    """No spelling of a call that needs a permission reaches the server without one."""
    place.settings('[mcp]\nask = ["*/plain"]\n')
    watched = Watched(place, server, None, "both")
    for id, spelling in enumerate(SPELLINGS, 1000):
        watched.host.write(spelling % id)
        # Whatever is done about it is done when this is answered.
        watched.host.response(watched.host.request("ping"))
    time.sleep(1)
    for line in watched.got("server"):
        if "plain ran" in line:
            yield f"the tool ran: {line[:100]}"
    watched.host.end()


def permission_then_question(place: Place, server: Server) -> Iterator[str]:
    """A call that needs a permission, and then asks: each is asked once, and a call that is cancelled first never runs."""
    place.settings('[mcp]\nask = ["*/resolved", "*/form", "*/plain"]\n')
    for version in [OLD, NEW] if server.is_new else [OLD]:
        watched = Watched(place, server, None, "both", version)
        id = watched.host.call("resolved" if version == NEW else "form")
        first = place.asked()
        place.run("allow", first["id"], "--yes")
        second = place.until(lambda: [one for one in place.open() if one["id"] != first["id"]], "no question")[0]  # noqa: B023
        if [one["question"]["purpose"] for one in (first, second)] != ["permission", "question"]:
            yield f"{version}: asked for {first['question']['purpose']} and {second['question']['purpose']}"
        place.accept(second)
        if action(server, text := said(watched.host.response(id)), version) != "accept":
            yield f"{version}: the host was told {text}"
        if not place.is_empty():
            yield f"{version}: something is asked again"
        id = watched.host.call("plain")
        record = place.asked()
        watched.host.send(method="notifications/cancelled", params={"requestId": id})
        if (outcome := place.outcome(record["id"])) != "rejected call_ended by client":
            yield f"{version}: the end of a cancelled call is {outcome}"
        if any('"plain"' in line or "notifications/cancelled" in line for line in watched.got()):
            yield f"{version}: the server heard of a call that was cancelled before it was allowed"
        watched.host.end()


def prompts(place: Place, server: Server) -> Iterator[str]:
    """A prompt needs input as well."""
    watched = Watched(place, server, None, "both", NEW)
    id = watched.host.request("prompts/get", name="described")
    place.accept(place.asked())
    response = watched.host.response(id)
    if "Describe Broken door." not in json.dumps(response):
        yield f"the host was told {response}"
    watched.host.end()


def port_of(server: Server, env: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """Starts a server that listens on the loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*server.command, "streamableHttp"] if server.name == "everything" else server.command
    process = subprocess.Popen(
        command, env={**env, "PORT": str(port)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise Ended("the server does not listen")


def over_http(place: Place, server: Server) -> Iterator[str]:
    """A server over streamable HTTP: what it asks is answered, progress comes, and a call that the host ends is over."""
    process, port = port_of(server, place.env)
    try:
        yield from through(place, server, f"http://127.0.0.1:{port}/mcp")
    finally:
        process.kill()
        process.wait()


def through(place: Place, server: Server, url: str) -> Iterator[str]:
    form, link = ("form", "link")
    pages: Message = {}
    if server.name == "everything":
        form, link, pages = "trigger-elicitation-request", "trigger-url-elicitation", {"url": "https://tickets.example.com/a"}
    for version in [OLD, NEW] if server.is_new else [OLD]:
        options = ["--name", "tickets", "--session", SESSIONS[version]]
        host = Host([place.program, "mcp-proxy", *options, "--url", url], place.env, None, version)
        host.open()
        tools = (form, link) if version == OLD else ("resolved", "resolved_link")
        for tool, arguments in zip(tools, ({}, pages)):
            id = host.call(tool, arguments=arguments)
            record = place.asked()
            if tool == "trigger-elicitation-request":
                place.run("answer", record["id"], "--field", "name=Ada", "--yes")
            else:
                place.accept(record)
            if "accept" not in (text := said(host.response(id))) and "Broken door" not in text:
                yield f"{version}, {tool}: the host was told {text[:200]}"
        if server.name != "everything":
            id = host.call("slow", token="p")
            host.response(id)
            steps = [one["params"]["progress"] for one in host.received if one.get("method") == "notifications/progress"]
            if steps != [1, 2, 3]:
                yield f"{version}: the progress is {steps}"
        id = host.call(tools[0])
        record = place.asked()
        host.send(method="notifications/cancelled", params={"requestId": id, "reason": "it took too long"})
        if (outcome := place.outcome(record["id"])) != "rejected call_ended by client":
            yield f"{version}: the end of a cancelled call is {outcome}"
        if not host.end(20):
            yield f"{version}: the bridge goes on without its host"


def hostile(place: Place, server: Server) -> Iterator[str]:
    """A server that does what none should: 10,000 questions at once, lines of 100 MB, the host's IDs, answers to itself."""
    for declared in (None, BOTH):
        for tool in ("many", "long_question", "long_result", "ids_of_the_host", "answers_itself", "same_id", "strange"):
            watched = Quiet(place, server, declared)
            try:
                for one in watched.tried(tool):
                    yield f"{tool}, declared {declared}: {one}"
            except (Ended, AssertionError, ValueError) as error:
                yield f"{tool}, declared {declared}: {type(error).__name__}: {str(error)[:300]}"
            if not watched.host.end(30):
                yield f"{tool}, declared {declared}: the bridge goes on without its host"
            if not place.is_empty(15):
                yield f"{tool}, declared {declared}: a question stays in the inbox"


class Quiet:
    """A host that answers nothing, and a bridge to the server of `servers/hostile.py`."""

    def __init__(self, place: Place, server: Server, declared: Optional[Message]) -> None:
        self.place = place
        bridge = [place.program, "mcp-proxy", "--grace", "2s", "--"]
        self.host = Host([*bridge, *server.command], place.env, declared, lenient=True)
        self.host.open()

    def tried(self, tool: str) -> Iterator[str]:
        id = self.host.call(tool)
        response = self.host.response(id, within=120)
        text = said(response)
        if len([one for one in self.host.received if one.get("id") == id and "method" not in one]) != 1:
            yield "the call has two responses"
        if tool == "ids_of_the_host":
            # The server may say what it likes to the host's call; its question is another matter.
            self.place.accept(self.place.asked())
        if tool == "long_result" and len(text) != 100_000_000:
            yield f"the result has {len(text)} characters"
        if tool in ("answers_itself", "same_id"):
            record = self.place.asked()
            if len(self.place.open()) != 1:
                yield f"{len(self.place.open())} questions are open"
            self.place.accept(record)
        heard = json.loads(said(self.host.response(self.host.call("count"), within=60)))
        if tool == "answers_itself" and heard != {"own accept": 1}:
            yield f"the server heard {heard}"
        if tool == "ids_of_the_host" and heard != {f"{id} accept": 1}:
            yield f"the server heard {heard}"
        if tool == "same_id" and heard.get("same accept") != 1:
            yield f"the server heard {heard}"
        most = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.host.process.pid}/status").read_text())[1]) // 1024  # type: ignore[index]
        if most > 128:
            yield f"the bridge took {most} MiB"


Check = Callable[[Place, Server], Iterator[str]]


def checks(server: Server) -> list[Check]:
    """Returns the checks that a server is for."""
    all: list[Check] = [
        passes_unchanged, server_gets, asks_twice, both_at_once, host_is_late, host_waits, asks_before_tools,
        no_call_slips_past, permission_then_question,
    ]
    if server.is_new:
        all += [calls_do_not_mix]
    if server.has_links:
        all += [pages_first, page_is_done]
    if server.is_new and server.name != "fastmcp":
        all += [asks_several]
    if server.listens:
        all += [over_http]
    # What only this package does.
    if server.name == "mcp":
        all += [state_expires, state_is_long, prompts]
    return all
