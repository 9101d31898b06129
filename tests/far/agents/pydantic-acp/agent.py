"""An agent of pydantic-ai with a tool that needs an approval, and one that asks the person: `agent.py PORT`."""

import subprocess
import sys

from pydantic_acp import AcpSessionContext, AdapterConfig, MemorySessionStore, run_acp
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
import pydantic_acp

provider = OpenAIProvider(base_url=f"http://127.0.0.1:{sys.argv[1]}/v1", api_key="none")


def agent_for(session: AcpSessionContext):
    agent = Agent(OpenAIChatModel("stand-in", provider=provider), name="far")

    @agent.tool_plain(requires_approval=True)
    def run_command(command: str) -> str:
        """Runs a command."""
        return f"exit code {subprocess.run(command, shell=True).returncode}"

    @agent.tool_plain
    async def choose() -> str:
        """Asks which database to use."""
        choices = [pydantic_acp.ElicitationChoice(value=name, label=name) for name in ("Postgres", "SQLite")]
        return str(await session.ask_choice("Which database?", choices))

    return agent


run_acp(agent_factory=agent_for, config=AdapterConfig(session_store=MemorySessionStore()))
