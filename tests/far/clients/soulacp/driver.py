"""The adapter for Goose, whose program is the agent."""

import asyncio
import os

import far
from soulacp import ACPConfig
from soulacp.adapters.goose_client import GooseACPClient

APPROVES = True


class Client(GooseACPClient):
    def _get_acp_command(self):
        return far.AGENT


async def main():
    client = Client(ACPConfig(provider="goose", model="goose-acp/default", cwd=os.getcwd(), auto_approve_permissions=APPROVES))
    await client.connect()
    for text in far.PROMPTS:
        await client.query(text)
        far.tell(ended="end_turn")
    await client.disconnect()


asyncio.run(main())
