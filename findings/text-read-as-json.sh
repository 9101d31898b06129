#!/usr/bin/env bash
# google-adk 2.13.0 (PyPI): a node of a workflow asks for an input without a schema, and the client sends what its person
# typed as {"result": TEXT}, as the ADK's own web page does. One would guess that the next node gets the text. It gets
# what the text is as JSON, if it is some: an order number becomes a number without its zeros, "null" is None, and a text
# in quotation marks loses them.
#
# Output:
#   'blue' -> 'blue'
#   '1e3' -> 1000.0
#   '12345678901234567890.50' -> 1.2345678901234567e+19
#   'true' -> True
#   'null' -> None
#   '"quoted"' -> 'quoted'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install -q google-adk==2.13.0
cat >ask.py <<'PROGRAM'
import asyncio
from google.adk.events import RequestInput
from google.adk.runners import InMemoryRunner
from google.adk.workflow import START, Workflow
from google.genai import types

async def given(typed):
    got = []

    async def ask(node_input):
        yield RequestInput(message="Which one?")

    def use(node_input):
        got.append(node_input)
        return "done"

    runner = InMemoryRunner(Workflow(name="shop", edges=[(START, ask), (ask, use)]), app_name="shop")
    await runner.session_service.create_session(app_name="shop", user_id="u", session_id="s")
    message = types.Content(role="user", parts=[types.Part(text="Go")])
    calls = []
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
        calls += [call for call in event.get_function_calls() if call.id in (event.long_running_tool_ids or ())]
    response = types.FunctionResponse(id=calls[0].id, name=calls[0].name, response={"result": typed})
    message = types.Content(role="user", parts=[types.Part(function_response=response)])
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
        pass
    return got[0] if got else "nothing"

for typed in ["blue", "1e3", "12345678901234567890.50", "true", "null", '"quoted"']:
    print(f"{typed!r} -> {asyncio.run(given(typed))!r}")
PROGRAM
python/bin/python -W ignore ask.py 2>/dev/null | tee said
diff said - <<'EXPECTED'
'blue' -> 'blue'
'1e3' -> 1000.0
'12345678901234567890.50' -> 1.2345678901234567e+19
'true' -> True
'null' -> None
'"quoted"' -> 'quoted'
EXPECTED
