"""pydantic-ai as a host, with a model that calls one tool and says what it was told.

    of_pydantic_ai.py TOOL COMMAND..."""

import asyncio
import json
import os
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

tool, *command = sys.argv[1:]


def model(messages, info):
    for part in messages[-1].parts:
        if isinstance(part, (ToolReturnPart, RetryPromptPart)):
            return ModelResponse(parts=[TextPart(part.content if isinstance(part.content, str) else json.dumps(part.content))])
    return ModelResponse(parts=[ToolCallPart(tool, {"name": "calendar"} if tool == "links" else {})])


async def main():
    toolset = MCPToolset(StdioTransport(command[0], command[1:], env=dict(os.environ)))
    result = await Agent(FunctionModel(model), toolsets=[toolset]).run("Call it")
    print(json.dumps({"said": result.output}))


asyncio.run(main())
