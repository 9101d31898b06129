"""Records what released servers and this host say to each other, into fixtures/mcp:

    python3 tests/mcp/released/record.py FOLDER OF PACKAGES

A file has the lines of one session, as JSON: {"from": "host" or "server", "line": the line}. The tests of the gate play
them through the bridge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from host import NEW, OLD, Ended, Host
from hosts import programs
from released import HERE, Server, servers

TARGET = HERE.parents[2] / "fixtures" / "mcp"
TICKET = {"title": "Broken door", "count": 2}
ACCEPT = {"action": "accept", "content": TICKET}


def write(name: str, host: Host) -> None:
    text = "".join(json.dumps({"from": who, "line": line}, ensure_ascii=False) + "\n" for who, line in host.lines)
    (TARGET / f"{name}.jsonl").write_text(text)
    print(f"{name}: {len(host.lines)} lines, {len(text.encode())} bytes")


def start(server: Server, declared: dict | None, version: str = OLD, **more: dict) -> Host:
    host = Host(server.command, {**os.environ, "PACKAGES": server.packages}, declared, version, **more)
    host.open()
    return host


def ask(host: Host, tool: str, *answers: dict, **params: object) -> dict:
    """Calls a tool, and gives these answers to what it asks."""
    since = len(host.received)
    id = host.call(tool, **params)
    for answer in answers:
        question = host.asked(since)
        since = len(host.received)
        host.send(id=question["id"], **answer)
    return host.response(id)


def result(value: dict) -> dict:
    return {"result": value}


def record_old(server: Server) -> None:
    host = start(server, {"form": {}, "url": {}})
    ask(host, "plain", arguments={"text": "hello"})
    ask(host, "form", result(ACCEPT), token="call-1")
    ask(host, "form", result({"action": "decline"}))
    ask(host, "form", result({"action": "cancel"}))
    ask(host, "form", {"error": {"code": -32601, "message": "Method not found"}})
    ask(host, "twice", result(ACCEPT), result({"action": "decline"}))
    ask(host, "link", result({"action": "accept"}))
    ask(host, "link", result({"action": "decline"}))
    ask(host, "links", arguments={"name": "calendar"})
    ask(host, "links", arguments={"name": "calendar"})
    ask(host, "slow", token=7)
    if server.resolves_in_old:
        ask(host, "resolved", result(ACCEPT))
    since = len(host.received)
    id = host.call("form")
    question = host.asked(since)
    host.send(method="notifications/cancelled", params={"requestId": id, "reason": "The call took too long."})
    if server.withdraws:
        host.find(lambda message: message.get("method") == "notifications/cancelled", since)
    else:
        # It waits for a minute, and does not end before.
        host.send(id=question["id"], result={"action": "cancel"})
    host.response(host.request("ping"))
    host.end()
    write(f"{server.name}-old", host)


def record_undeclared(server: Server) -> None:
    host = start(server, None)
    refusal = {"error": {"code": -32601, "message": "Method not found"}}
    for tool in ("form", "link"):
        ask(host, tool, *([refusal] if server.asks_undeclared else []))
    host.end()
    write(f"{server.name}-undeclared", host)


def record_new(server: Server) -> None:
    host = start(server, {"form": {}, "url": {}}, NEW)
    ask(host, "plain", arguments={"text": "hello"})
    for tool, answer in (("resolved", ACCEPT), ("resolved", {"action": "decline"}), ("resolved_link", {"action": "accept"})):
        first = host.response(host.call(tool, token="call-1"))
        key, = first["result"]["inputRequests"]
        host.response(host.again(first, {key: answer}, tool, token="call-1"))
    if server.name != "fastmcp":
        step = host.response(host.call("resolved_twice"))
        while step["result"].get("inputRequests"):
            step = host.response(host.again(step, {key: ACCEPT for key in step["result"]["inputRequests"]}, "resolved_twice"))
    host.response(host.call("form"))
    host.response(host.call("links", arguments={"name": "calendar"}))
    if server.name == "mcp":
        first = host.response(host.request("prompts/get", name="described"))
        host.response(host.request("prompts/get", name="described", inputResponses={"ticket": ACCEPT},
                                   requestState=first["result"]["requestState"]))
    host.end()
    write(f"{server.name}-new", host)
    host = start(server, None, NEW)
    host.response(host.call("resolved"))
    host.end()
    write(f"{server.name}-new-undeclared", host)


def record_everything(server: Server) -> None:
    host = start(server, {"form": {}, "url": {}})
    full = {"name": "Ada", "check": True, "email": "ada@example.com", "integer": 3}
    ask(host, "trigger-elicitation-request", result({"action": "accept", "content": full}))
    url = {"url": "https://tickets.example.com/connect", "elicitationId": "e-1"}
    ask(host, "trigger-url-elicitation", result({"action": "accept"}), arguments=url)
    ask(host, "trigger-url-elicitation", arguments={**url, "errorPath": True})
    ask(host, "trigger-url-elicitation", result({"action": "accept"}), arguments={**url, "errorPath": True})
    host.end()
    write("everything-old", host)
    # A call that is a task asks within tasks/result.
    host = start(server, {"form": {}})
    task = host.response(host.call("simulate-research-query", arguments={"topic": "tides", "ambiguous": True}, task={"ttl": 60000}))
    task_id = task["result"]["task"]["taskId"]
    host.find(lambda m: m.get("method") == "notifications/tasks/status" and m["params"]["status"] == "input_required")
    id = host.request("tasks/result", taskId=task_id)
    host.send(id=host.asked()["id"], result={"action": "accept", "content": {"interpretation": "technical"}})
    host.response(id)
    host.end()
    write("everything-task", host)
    # A host that takes elicitation as a task may answer at once all the same.
    host = start(server, {"form": {}}, capabilities={"tasks": {"requests": {"elicitation": {"create": {}}}}})
    ask(host, "trigger-elicitation-request-async", result({"action": "accept", "content": {"name": "Ada"}}))
    host.end()
    write("everything-elicitation-as-a-task", host)


# A host, a server and a tool, and how the host is used.
HOSTS = {
    "host-claude-old": ("claude", "sdk", "form"),
    "host-claude-new": ("claude", "server", "resolved"),
    "host-openai-agents-old": ("openai-agents", "sdk", "form"),
    "host-openai-agents-new": ("openai-agents", "mcp", "resolved"),
    "host-pydantic-ai-old": ("pydantic-ai", "sdk", "form"),
    "host-mcp-new": ("mcp, accepts", "server", "resolved"),
    "host-sdk": ("sdk, accepts", "sdk", "form"),
    "host-client-new": ("client, accepts", "mcp", "resolved"),
}


def record_host(name: str, folder: Path) -> None:
    """Records a released host, which begins by itself."""
    host, server, tool = HOSTS[name]
    program = next(program for program in programs(folder) if program.name == host)
    served = servers(folder)[server]
    file = TARGET / f"{name}.jsonl"
    file.unlink(missing_ok=True)
    tee = [sys.executable, str(HERE / "tee.py"), str(file)]
    command = [*program.command, tool, "env", f"PACKAGES={served.packages}", *tee, *served.command]
    subprocess.run(command, env={**os.environ, **dict(program.env)}, check=True, timeout=100, capture_output=True)
    print(f"{name}: {len(file.read_text().splitlines())} lines, {file.stat().st_size} bytes")


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    for name in HOSTS:
        record_host(name, Path(sys.argv[1]))
    for name, server in servers(Path(sys.argv[1])).items():
        if name == "everything":
            record_everything(server)
        if name in ("everything", "hostile"):
            continue
        record_old(server)
        record_undeclared(server)
        if server.is_new:
            record_new(server)


if __name__ == "__main__":
    try:
        main()
    except Ended as error:
        sys.exit(str(error))
