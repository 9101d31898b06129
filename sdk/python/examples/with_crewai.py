"""A flow of CrewAI that asks before it publishes. Kill it while it waits, and run it again: it goes on where it was.

pip install crewai==1.15.30
python with_crewai.py                       # decide by `askbridge open`, or `askbridge next`
"""

from askbridge.adapters.crewai import AS_CHOSEN, PAUSE, run
from crewai.flow.flow import Flow, listen, start
from crewai.flow.human_feedback import human_feedback
from crewai.flow.persistence import SQLiteFlowPersistence


class Review(Flow):
    @start()
    @human_feedback(message="Publish it?", emit=["approved", "rejected"], llm=AS_CHOSEN, provider=PAUSE)
    def draft(self) -> str:
        return "All about bees"

    @listen("approved")
    def publish(self) -> str:
        return f"published: {self.last_human_feedback.output}"

    @listen("rejected")
    def drop(self) -> str:
        return f"dropped: {self.last_human_feedback.feedback}"


print(run(Review, flow_id="text-1", persistence=SQLiteFlowPersistence("with_crewai.sqlite")))
