"""Runs workflows-acp with a stand-in for its model, which answers in the schemas of the agent: `agent.py run --no-mcp`."""

import itertools

from workflows_acp.cli import app
from workflows_acp.llms.openai_llm import OpenAILLM
from workflows_acp.models import Action, Observation, Stop, Thought, ToolCall

CALL = ToolCall(tool_name="execute_command", tool_input='{"command": "touch", "args": ["made.txt"]}')
# One call a turn, and then the end of the turn.
ACTIONS = itertools.cycle([
    Action(action_type="tool_call", tool_call=CALL, stop=None),
    Action(action_type="stop", tool_call=None, stop=Stop(stop_reason="end_turn", final_output="done")),
])


async def generate_content(self, schema, chat_history):
    if schema is Action:
        return next(ACTIONS)
    return Thought(content="I think.") if schema is Thought else Observation(content="I see.")


OpenAILLM.generate_content = generate_content
app()
