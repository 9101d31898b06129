"""The service behind the bot, with a person who presses its buttons; nothing speaks to Telegram."""

import asyncio
import os
import pathlib

import far
from telegram_acp_bot.acp.service import AcpAgentService
from telegram_acp_bot.core.session_registry import SessionRegistry


async def main():
    service = AcpAgentService(SessionRegistry(), program=far.AGENT[0], args=far.AGENT[1:])

    async def press(request):
        names = {"always": "Always", "once": "This time", "deny": "Deny"}
        far.asked([{"name": names[action]} for action in request.available_actions], request.tool_title)
        asyncio.create_task(tap(request.request_id, next(far.count)))

    async def tap(request, number):
        while not far.is_due(number):
            await asyncio.sleep(0.05)
        await service.respond_permission_request(chat_id=1, request_id=request, action="once")

    service.set_permission_request_handler(press)
    await service.new_session(chat_id=1, workspace=pathlib.Path(os.getcwd()))
    for text in far.PROMPTS:
        reply = await service.prompt(chat_id=1, text=text)
        far.tell(ended=str(reply)[:200])
    await service.stop(chat_id=1)


asyncio.run(main())
