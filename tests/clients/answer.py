"""Plays a program that knows REST from its generated client alone: lists questions, answers, rejects, asks, extends."""

import json
import subprocess
import sys
import threading
import time

from askbridge_client import AuthenticatedClient
from askbridge_client.api.questions import (
    answer_question,
    ask_question,
    extend_question,
    get_question,
    list_questions,
    reject_session_question,
)
from askbridge_client.models import (
    AnswerByName,
    AnswerByNameValues,
    AnswerByPlace,
    AnsweredOutcome,
    BooleanField,
    ChoiceField,
    Extension,
    KnownReason,
    NewQuestion,
    Problem,
    Question,
    QuestionRecord,
    RejectedOutcome,
    Rejection,
    Settlement,
    UnknownField,
    UnknownOutcome,
)

askbridge, address, token_file = sys.argv[1:]
with open(token_file) as file:
    client = AuthenticatedClient(base_url=address, token=file.read().strip())


class Bridge:
    """A bridge around the mock agent, which asks one question."""

    def __init__(self):
        command = [askbridge, "run", "--client-questions", "none", "--", askbridge, "mock-agent"]
        # On stderr it says how the question can be answered.
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, text=True, **pipes)
        self.send(0, "initialize", {"protocolVersion": 1})
        self.send(1, "session/new", {"cwd": "/", "mcpServers": []})
        self.send(2, "session/prompt", {"sessionId": "session-1", "prompt": [{"type": "text", "text": "question"}]})

    def send(self, id, method, params):
        request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def end(self):
        """Returns all that the agent said."""
        self.process.stdin.close()
        said = self.process.stdout.read()
        self.process.wait()
        return said


def one_question() -> QuestionRecord:
    """Waits until a question is open."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        questions = list_questions.sync(client=client).questions
        if questions:
            return questions[0]
        time.sleep(0.02)
    raise TimeoutError("no question is open")


bridge = Bridge()
record = one_question()
field = record.question.fields[0]
assert isinstance(field, ChoiceField), field
by_name = AnswerByNameValues.from_dict({field.name: field.options[1].value})
answered = answer_question.sync_detailed(record.id, client=client, body=AnswerByName(values=by_name))
assert answered.status_code == 204, answered
assert "You chose: option-b" in bridge.end()
settled = get_question.sync(record.id, client=client)
assert isinstance(settled.settlement.outcome, AnsweredOutcome), settled
other = AnswerByPlace(answers=[[field.options[0].label]])
conflict = answer_question.sync(record.id, client=client, body=other)
assert isinstance(conflict, Problem) and conflict.name == "conflict", conflict
print("listed and answered a question")

bridge = Bridge()
record = one_question()
name = record.question.question_id
rejected = reject_session_question.sync_detailed("session-1", name, client=client, body=Rejection(reason="no time"))
assert rejected.status_code == 204, rejected
outcome = get_question.sync(record.id, client=client).settlement.outcome
assert isinstance(outcome, RejectedOutcome) and outcome.reason == KnownReason.USER, outcome
bridge.end()
print("rejected a question")

settlements = []
form = NewQuestion(fields=[BooleanField(name="go", label="Deploy?", kind="boolean")], timeout_ms=3_600_000)
asking = threading.Thread(target=lambda: settlements.append(ask_question.sync(client=client, body=form)))
asking.start()
record = one_question()
extended = extend_question.sync(record.id, client=client, body=Extension(milliseconds=60_000))
assert isinstance(extended, QuestionRecord) and extended.deadline > record.deadline, extended
yes = AnswerByName(values=AnswerByNameValues.from_dict({"go": True}))
assert answer_question.sync_detailed(record.id, client=client, body=yes).status_code == 204
asking.join(30)
assert isinstance(settlements[0], Settlement) and settlements[0].outcome.values["go"] is True, settlements
print("asked, extended and answered a question")

# What a bridge of another version may say is read, kept, and written again.
field = {"name": "f", "label": "F", "kind": "drawing", "colours": ["red"]}
question = {"questionId": "q", "message": "", "origin": "of_next_year", "dangerous": False, "blocking": True}
question["fields"] = [field]
read = Question.from_dict(question)
assert isinstance(read.fields[0], UnknownField) and read.origin == "of_next_year", read
assert read.to_dict() == question
settlement = {"outcome": {"status": "dreamt", "depth": 2}, "by": {"responder": "phone"}, "at": "now"}
read = Settlement.from_dict(settlement)
assert isinstance(read.outcome, UnknownOutcome) and read.by.responder == "phone", read
assert read.to_dict() == settlement
print("kept the names of another version")
