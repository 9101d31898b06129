"""A deep agent in the folder of its session, that waits for a person before it runs or writes: `agent.py PORT`."""

import asyncio
import sys

from acp import run_agent
from deepagents import create_deep_agent
from deepagents.backends import LocalShellBackend
from deepagents_acp.server import AgentServerACP
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver

model = ChatOpenAI(model="stand-in", base_url=f"http://127.0.0.1:{sys.argv[1]}/v1", api_key="none")
agent = create_deep_agent(
    model=model, checkpointer=MemorySaver(), interrupt_on={"execute": True, "write_file": True},
    backend=LocalShellBackend(root_dir=".", virtual_mode=True),
)
asyncio.run(run_agent(AgentServerACP(agent)))
