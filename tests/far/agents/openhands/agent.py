"""Runs the agent with settings for a stand-in, which it reads from its variables and has to find in its folder: `agent.py`."""

import sys

from openhands_cli.entrypoint import main
from openhands_cli.stores.agent_store import AgentStore

store = AgentStore()
store.save(store.load_or_create(env_overrides_enabled=True))
sys.argv = ["openhands", "acp", "--override-with-envs"]
main()
