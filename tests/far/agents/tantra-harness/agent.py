"""An agent of tantra with a tool that needs an approval, a choice and a free text: `agent.py PORT`."""

import asyncio
import subprocess
import sys

from tantra import Agent, OpenAICompatible, Runtime, Context, tool
from tantra.acp import AcpAuth, AcpServer
from tantra.ask import Choice, FreeText
from tantra.stores.memory import MemoryStore


@tool(permission="ask")
async def run_command(command: str) -> str:
    """Runs a command."""
    return f"exit code {subprocess.run(command, shell=True).returncode}"


@tool
async def choose(ctx: Context) -> str:
    """Asks which database to use."""
    return (await ctx.ask(Choice(title="Which database?", options=["Postgres", "SQLite"]))).selected


@tool
async def tell(ctx: Context) -> str:
    """Asks for a name."""
    return (await ctx.ask(FreeText(prompt="Which name?"))).text


class Far(Agent):
    model = "stand-in"
    prompt = "Do as you are told."
    tools = [run_command, choose, tell]


async def main():
    async def scope(auth, meta):
        return {"user": auth.principal}

    async def policy(access):
        return True

    runtime = Runtime(OpenAICompatible(f"http://127.0.0.1:{sys.argv[1]}/v1", "none"), MemoryStore(), [Far])
    await runtime.start()
    server = AcpServer(runtime, agent=Far, scope=scope, policy=policy, name="far")
    await server.serve_stdio(AcpAuth(principal="ada"))
    await runtime.aclose()


asyncio.run(main())
