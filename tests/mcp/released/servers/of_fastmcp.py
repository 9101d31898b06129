# A server of the package fastmcp. What its tools do is said in ../README.md.
import asyncio
import json
import logging
import os

from fastmcp import Context, FastMCP
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitRequestURLParams, InputRequiredResult
from pydantic import BaseModel

logging.disable(logging.CRITICAL)
server = FastMCP("tickets", version="1.0.0")
required = set()


class Ticket(BaseModel):
    title: str
    count: int


def said(result):
    data = getattr(result, "data", None)
    return json.dumps({"action": result.action, "content": data.model_dump() if data else None})


def asked(message, **mode):
    return ElicitRequest(params=ElicitRequestURLParams(message=message, **mode) if "url" in mode else
                         ElicitRequestFormParams(message=message, requested_schema=Ticket.model_json_schema()))


@server.tool
async def plain(text: str = "") -> str:
    return f"plain {text}"


@server.tool
async def form(context: Context) -> str:
    return said(await context.elicit("Which ticket?", Ticket))


@server.tool
async def twice(context: Context) -> str:
    first = await context.elicit("First ticket?", Ticket)
    return f"{said(first)} {said(await context.elicit('Second ticket?', Ticket))}"


@server.tool
async def link(context: Context) -> str:
    result = await context.session.elicit_url("Sign in.", "https://tickets.example.com/connect?state=1", "e-1",
                                              related_request_id=context.request_id)
    if result.action == "accept":
        await context.session.send_elicit_complete("e-1", related_request_id=context.request_id)
    return said(result)


@server.tool
async def links(name: str) -> str:
    if name not in required:
        required.add(name)
        raise UrlElicitationRequiredError([ElicitRequestURLParams(
            message="Sign in first.", url=f"https://tickets.example.com/connect?name={name}", elicitation_id=f"e-{name}")])
    return f"linked {name}"


@server.tool
async def slow(context: Context, steps: int = 3) -> str:
    for step in range(steps):
        await context.report_progress(step + 1, steps)
        await asyncio.sleep(0.1)
    return "slow"


@server.tool
async def resolved(context: Context) -> str | InputRequiredResult:
    answer = (context.input_responses or {}).get("ticket")
    if answer is None:
        return InputRequiredResult(input_requests={"ticket": asked("Which ticket?")}, request_state="resolved")
    return json.dumps({"action": answer.action, "content": answer.content, "state": context.request_state})


@server.tool
async def resolved_link(context: Context) -> str | InputRequiredResult:
    answer = (context.input_responses or {}).get("connect")
    if answer is None:
        return InputRequiredResult(input_requests={
            "connect": asked("Sign in.", url="https://tickets.example.com/connect?state=2")}, request_state="connect")
    return answer.action


@server.tool
async def confirm(place: str, context: Context) -> str | InputRequiredResult:
    answer = (context.input_responses or {}).get("confirm")
    if answer is None:
        return InputRequiredResult(input_requests={"confirm": asked(f"Deploy to {place}?")})
    return f"{place}: {answer.action}"


if "PORT" in os.environ:
    server.run(transport="http", host="127.0.0.1", port=int(os.environ["PORT"]), show_banner=False)
else:
    server.run(transport="stdio", show_banner=False)
