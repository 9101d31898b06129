"""The adapter of the OpenAI Agents SDK, against the real one."""

from __future__ import annotations

import unittest
from typing import Any

from agents import Agent, Runner, RunState, ShellCommandRequest, ShellTool, function_tool
from askbridge.adapters.openai_agents import decide, run, spend
from openai.types.responses.response_function_shell_tool_call import Action, ResponseFunctionShellToolCall
from person import ALLOW, Case, arguments
from stub_openai import Stub, call


class OpenAiAgents(Case, unittest.IsolatedAsyncioTestCase):
    def agent(self, *calls: Any, **options: Any) -> Agent[Any]:
        self.ran: list[int] = []

        @function_tool(needs_approval=True, tool_input_guardrails=[spend])
        async def refund(order: int) -> str:
            self.ran.append(order)
            return f"refunded {order}"

        return Agent(name="shop", model=Stub(*calls), tools=[refund], **options)

    async def test_an_approved_tool_runs(self) -> None:
        person = self.person(lambda record: ALLOW)
        result = await run(self.agent(call("refund", "1", order=7)), "Refund 7", name="order-7")
        self.assertEqual((result.final_output, self.ran), ("refunded 7", [7]))
        asked = person.asked[0]["question"]
        self.assertEqual(
            (asked["purpose"], asked["agent"], arguments(person.asked[0])), ("permission", "shop", {"order": 7})
        )

    async def test_the_model_hears_why_a_call_was_rejected(self) -> None:
        self.person(lambda record: "it was sent yesterday")
        result = await run(self.agent(call("refund", "1", order=7)), "Refund 7", name="order-7")
        self.assertEqual(result.final_output, "The user rejected this tool call: it was sent yesterday")
        self.assertEqual(self.ran, [])

    async def test_calls_of_one_step_are_open_at_once(self) -> None:
        person = self.person(lambda record: None)

        def decide_both() -> None:
            for record in person.wait_for(2):
                self.inbox.reject(record, "no") if arguments(record) == {"order": 7} else self.inbox.answer(
                    record, ALLOW
                )

        with self.beside(decide_both):
            agent = self.agent(call("refund", "1", order=7), call("refund", "2", order=8))
            result = await run(agent, "Refund both", name="orders")
        self.assertEqual(result.final_output, "The user rejected this tool call: no | refunded 8")

    async def test_a_stored_state_runs_its_tool_once(self) -> None:
        person = self.person(lambda record: ALLOW)
        agent = self.agent(call("refund", "1", order=7))
        text = (await Runner.run(agent, "Refund 7")).to_state().to_string()
        said = []
        for _ in range(2):
            state = await RunState.from_string(agent, text)
            await decide(state, name="order-7")
            said.append((await Runner.run(agent, state)).final_output)
        self.assertEqual(said[0], "refunded 7")
        self.assertIn("approved and begun before", said[1])
        self.assertEqual((self.ran, len(person.asked)), ([7], 1))

    async def test_the_same_call_of_another_run_is_asked_again(self) -> None:
        person = self.person(lambda record: ALLOW)
        for _ in range(2):
            result = await run(self.agent(call("refund", "1", order=7)), "Refund 7", name="order-7")
            self.assertEqual((result.final_output, self.ran), ("refunded 7", [7]))
        self.assertEqual(len(person.asked), 2)

    async def test_an_interruption_of_an_agent_that_is_a_tool(self) -> None:
        person = self.person(lambda record: ALLOW)
        inner = self.agent(call("refund", "inner", order=7))
        tool = inner.as_tool("clerk", "A clerk")
        outer = Agent(name="boss", model=Stub(call("clerk", "outer", input="Refund 7")), tools=[tool])
        result = await run(outer, "Refund 7", name="order-7")
        self.assertEqual((result.final_output, self.ran, len(person.asked)), ("refunded 7", [7], 1))

    async def test_a_command_is_shown_as_a_command(self) -> None:
        person = self.person(lambda record: ALLOW)
        ran = []

        async def execute(request: ShellCommandRequest) -> str:
            ran.extend(request.data.action.commands)
            return "done"

        action = Action(commands=["make clean"])
        command = ResponseFunctionShellToolCall(
            id="i", type="shell_call", call_id="1", action=action, status="completed"
        )
        agent = Agent(name="builder", model=Stub(command), tools=[ShellTool(executor=execute, needs_approval=True)])
        await run(agent, "Clean up", name="clean")
        self.assertEqual((person.asked[0]["question"]["subject"]["command"], ran), ("make clean", ["make clean"]))

    async def test_a_process_that_is_killed_and_runs_again_asks_once(self) -> None:
        self.assertEqual(self.run_twice("with_openai_agents.py", ALLOW), "refunded order 7\n")
        self.assertEqual(list(self.inbox.home.glob("with_*")), [])


if __name__ == "__main__":
    unittest.main()
