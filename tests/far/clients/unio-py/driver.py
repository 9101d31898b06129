"""The driver for opencode, whose program is the agent."""

import asyncio
import os

import far
import unio


async def main():
    far.program("opencode")
    async with unio.Agent(unio.OpenCode, cwd=os.getcwd()) as agent:
        session = agent.new_session()
        for text in far.PROMPTS:
            result = await session.run(unio.UserMessage(text))
            while result.blocked is not None:
                options = [{"name": option.label, "option_id": option.value} for option in result.blocked.options]
                result = await session.run(unio.OptionSelection(await far.decide(options, result.blocked.message)))
            far.tell(ended="end_turn")


asyncio.run(main())
