#!/usr/bin/env bash
# crewai 1.15.30 (PyPI): a method of a flow asks for feedback with the outcomes "approved" and "rejected", and its person
# answers "rejected". One would guess that an answer which is the name of an outcome is that outcome. It is given to a
# model, and what the model says counts: here one that makes a mistake, and then one whose words are not those of an
# outcome, in which the longest name that occurs is looked for. A person who chose between two buttons is overruled.
#
# Output:
#   the person says 'rejected', the model 'approved': approved
#   the person says 'rejected', the model 'It is not approved.': approved
#   the person says 'rejected', the model 'disapproved': approved
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export HOME=$folder CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true CREWAI_TRACING_ENABLED=false
python3 -m venv python
python/bin/pip install -q crewai==1.15.30
cat >review.py <<'PROGRAM'
from crewai.flow.flow import Flow, listen, start
from crewai.flow.human_feedback import human_feedback
from crewai.llms.base_llm import BaseLLM

class Person:
    def request_feedback(self, context, flow):
        return "rejected"

class StandIn(BaseLLM):
    def call(self, messages, *given, **more):
        return says

model = StandIn(model="stand-in")

class Review(Flow):
    @start()
    @human_feedback(message="Publish it?", emit=["approved", "rejected"], llm=model, provider=Person())
    def draft(self):
        return "A text"

    @listen("approved")
    def publish(self):
        return "approved"

    @listen("rejected")
    def drop(self):
        return "rejected"

for says in ["approved", "It is not approved.", "disapproved"]:
    outcome = Review(suppress_flow_events=True).kickoff()
    print(f"the person says 'rejected', the model {says!r}: {outcome}")
PROGRAM
python/bin/python review.py 2>/dev/null | grep '^the person' | tee said
diff said - <<'EXPECTED'
the person says 'rejected', the model 'approved': approved
the person says 'rejected', the model 'It is not approved.': approved
the person says 'rejected', the model 'disapproved': approved
EXPECTED
