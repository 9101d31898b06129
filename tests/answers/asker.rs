//! A bridge without an agent: a desk and its inbox, in this process. A test says when the agent gets an answer.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use askbridge_control::inbox::{BridgeInbox, Identity, Port, Work};
use askbridge_core::{
    desk::{Asker, Desk, Notice, Opening, QuestionId, Setup},
    question::{Field, Kind, Origin, Question},
};

/// A desk, and the bridge's end of its inbox.
pub(crate) struct TestAsker {
    pub(crate) inbox: BridgeInbox,
    pub(crate) desk: Desk,
    port: Port,
}

/// A question with one text field.
pub(crate) fn question() -> Question {
    let field = Field::at(0, "?".to_owned(), None, Kind::free_text());
    Question::new(Origin::SandboxAgent, "q", vec![field])
}

impl TestAsker {
    /// Returns a desk, and what has to run for its inbox.
    pub(crate) fn new() -> (Self, Work) {
        let bridge: askbridge_core::desk::BridgeName = "bridge".parse().unwrap();
        let started = SystemTime::now().into();
        let agent = "agent".to_owned();
        let identity = Identity { bridge: bridge.clone(), agent, folder: String::new(), started_at: started };
        let (inbox, port, work) = BridgeInbox::new(identity, 1);
        let desk = Desk::new(Setup { bridge, asker: Asker::Agent, started, key: 1 });
        (TestAsker { inbox, desk, port }, work)
    }

    /// Starts one whose inbox runs in this runtime.
    pub(crate) fn start() -> Self {
        let (asker, work) = Self::new();
        tokio::spawn(work.run());
        asker
    }

    /// Asks, and returns the question's ID once the inbox has it.
    pub(crate) async fn open(&mut self, question: Question, timeout: Option<Duration>) -> QuestionId {
        let opening =
            Opening { question: Arc::new(question), weight: 1, timeout, elsewhere: false, context: None };
        let number = self.desk.open(opening, Duration::ZERO);
        self.hand_over().await;
        self.desk.id(number)
    }

    /// Judges the next submission. Returns the number of the question that it settles, if it does.
    pub(crate) async fn judge(&mut self) -> Option<u64> {
        let submitted = poll_fn(|cx| self.port.poll_next(cx)).await;
        let number = submitted.number;
        let settles = self.desk.submit(submitted, Duration::ZERO).is_some();
        self.hand_over().await;
        settles.then_some(number)
    }

    /// The agent gets the answer to a question.
    pub(crate) async fn deliver(&mut self, number: u64) {
        self.desk.delivered(number);
        self.hand_over().await;
    }

    /// Hands over what changed, and returns once the inbox has taken it over.
    pub(crate) async fn hand_over(&mut self) {
        poll_fn(|cx| self.poll_hand_over(cx)).await;
        self.port.taken().await;
    }

    fn poll_hand_over(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(notice) = self.desk.poll() {
            if let Notice::Verdict(ticket, verdict) = notice {
                self.port.verdict(ticket, verdict);
            }
        }
        let (port, desk) = (&mut self.port, &mut self.desk);
        let has_changes = desk.has_changes();
        match port.poll_hand_over(cx, has_changes, || desk.take_changes()) {
            // Nothing is left to hand over.
            Poll::Pending if !has_changes => Poll::Ready(()),
            handed_over => handed_over,
        }
    }
}
