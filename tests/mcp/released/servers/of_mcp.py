# A server of the package mcp. What its tools do is said in ../README.md.
import asyncio
import json
import logging
import os
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import (ElicitRequest, ElicitRequestFormParams, ElicitRequestURLParams, InputRequiredResult)
from pydantic import BaseModel

logging.disable(logging.CRITICAL)
# How long a state is good for: the package takes ten minutes.
seconds = float(os.environ.get("STATE_SECONDS", "600"))
server = MCPServer("tickets", version="1.0.0", request_state_security=RequestStateSecurity.ephemeral(ttl=seconds))
required = set()
# Tasks that go on after their call.
later = []


class Ticket(BaseModel):
    title: str
    count: int


def said(result):
    data = getattr(result, "data", None)
    return json.dumps({"action": result.action, "content": data.model_dump() if data else None})


@server.tool()
async def plain(text: str = "") -> str:
    return f"plain {text}"


@server.tool()
async def form(context: Context) -> str:
    return said(await context.elicit("Which ticket?", Ticket))


@server.tool()
async def twice(context: Context) -> str:
    first = await context.elicit("First ticket?", Ticket)
    return f"{said(first)} {said(await context.elicit('Second ticket?', Ticket))}"


@server.tool()
async def link(context: Context) -> str:
    result = await context.elicit_url("Sign in.", "https://tickets.example.com/connect?state=1", "e-1")
    if result.action == "accept":
        await context.session.send_elicit_complete("e-1")
    return said(result)


@server.tool()
async def links(name: str) -> str:
    if name not in required:
        required.add(name)
        raise UrlElicitationRequiredError([ElicitRequestURLParams(
            message="Sign in first.", url=f"https://tickets.example.com/connect?name={name}", elicitation_id=f"e-{name}")])
    return f"linked {name}"


async def complete(session, id):
    """Says after a while that a page is done with."""
    await asyncio.sleep(1)
    await session.send_elicit_complete(id)


@server.tool()
async def link_completes(context: Context) -> str:
    waits = asyncio.create_task(complete(context.session, "e-2"))
    result = await context.elicit_url("Sign in.", "https://tickets.example.com/connect?state=3", "e-2")
    await waits
    return said(result)


@server.tool()
async def links_complete(name: str, context: Context) -> str:
    if name not in required:
        required.add(name)
        later.append(asyncio.create_task(complete(context.session, f"e-{name}")))
        raise UrlElicitationRequiredError([ElicitRequestURLParams(
            message="Sign in first.", url=f"https://tickets.example.com/connect?name={name}", elicitation_id=f"e-{name}")])
    return f"linked {name}"


@server.tool()
async def slow(context: Context, steps: int = 3) -> str:
    for step in range(steps):
        await context.report_progress(step + 1, steps)
        await asyncio.sleep(0.1)
    return "slow"


async def ticket() -> Elicit[Ticket]:
    return Elicit("Which ticket?", Ticket)


@server.tool()
async def resolved(chosen: Annotated[Ticket, Resolve(ticket)]) -> str:
    return json.dumps(chosen.model_dump())


async def other_ticket(chosen: Annotated[Ticket, Resolve(ticket)]) -> Elicit[Ticket]:
    return Elicit(f"Another than {chosen.title}?", Ticket)


@server.tool()
async def resolved_twice(chosen: Annotated[Ticket, Resolve(ticket)],
                         other: Annotated[Ticket, Resolve(other_ticket)]) -> str:
    return json.dumps([chosen.model_dump(), other.model_dump()])


@server.tool()
async def resolved_link(context: Context) -> str | InputRequiredResult:
    answer = (context.input_responses or {}).get("connect")
    if answer is None:
        return InputRequiredResult(input_requests={"connect": ElicitRequest(params=ElicitRequestURLParams(
            message="Sign in.", url="https://tickets.example.com/connect?state=2"))}, request_state="connect")
    return answer.action


@server.tool()
async def confirm(place: str, context: Context) -> str | InputRequiredResult:
    answer = (context.input_responses or {}).get("confirm")
    if answer is None:
        return InputRequiredResult(input_requests={"confirm": ElicitRequest(params=ElicitRequestFormParams(
            message=f"Deploy to {place}?", requested_schema=Ticket.model_json_schema()))})
    return f"{place}: {answer.action}"


@server.tool()
async def resolved_much(context: Context) -> str | InputRequiredResult:
    answer = (context.input_responses or {}).get("ticket")
    if answer is None:
        return InputRequiredResult(request_state="x" * 100_000, input_requests={"ticket": ElicitRequest(
            params=ElicitRequestFormParams(message="Which ticket?", requested_schema=Ticket.model_json_schema()))})
    return f"{answer.action} {len(context.request_state or '')}"


@server.prompt()
async def described(context: Context) -> str | InputRequiredResult:
    answer = (context.input_responses or {}).get("ticket")
    if answer is None:
        return InputRequiredResult(input_requests={"ticket": ElicitRequest(params=ElicitRequestFormParams(
            message="Which ticket?", requested_schema=Ticket.model_json_schema()))}, request_state="described")
    return f"Describe {answer.content['title'] if answer.action == 'accept' else answer.action}."


if "PORT" in os.environ:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(os.environ["PORT"]))
else:
    server.run(transport="stdio")
