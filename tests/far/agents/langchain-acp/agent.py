"""An agent of LangChain whose tool waits for a person: `agent.py PORT`."""

import subprocess
import sys

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_acp import run_acp
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


def run_command(command: str) -> str:
    """Runs a command."""
    return f"exit code {subprocess.run(command, shell=True).returncode}"


model = ChatOpenAI(model="stand-in", base_url=f"http://127.0.0.1:{sys.argv[1]}/v1", api_key="none")
waits = HumanInTheLoopMiddleware(interrupt_on={"run_command": True})
run_acp(graph=create_agent(model=model, tools=[run_command], middleware=[waits], checkpointer=InMemorySaver()))
