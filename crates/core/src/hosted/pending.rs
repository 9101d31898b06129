//! The ids that the lines between agent and host refer to: the agent's open requests with the format of their
//! responses, requests that another responder than the host has answered, and requests of the host whose response has
//! to be read. The lives of the questions are left to the desk, the content of a response to each protocol.

use std::{
    collections::{BTreeMap, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use crate::{
    engine::SettledIds,
    limits,
    question::{Field, Question, Subject},
    wire::id::{RequestId, key},
};

/// One open question.
#[derive(Debug)]
pub(super) struct OpenQuestion<R> {
    /// The id of the agent's request.
    pub id: RequestId,
    /// The question.
    pub question: Arc<Question>,
    /// What it is made of anew, if later lines may change it.
    pub amendable: Option<Box<Amendable>>,
    /// The format of the response to the agent.
    pub reply: R,
}

/// The earlier texts of a question that may change.
#[derive(Debug)]
pub(super) struct Amendable {
    /// The question without what other lines said.
    pub bare: Question,
    /// The question as it was asked at first.
    pub first: Arc<Question>,
}

impl<R> OpenQuestion<R> {
    /// Returns the question as its request alone asks it, as far as that matters.
    pub(super) fn asked(&self) -> &Question {
        self.amendable.as_ref().map_or(&self.question, |texts| &texts.bare)
    }
}

/// The request that a response of the host with some id belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseTarget {
    /// The open question with this number.
    Question(u64),
    /// A question that another responder has settled.
    Nothing,
    /// No question.
    Unknown,
}

/// The open questions of a bridge, and the ids of those that the host may still respond to, too late.
#[derive(Debug)]
pub(super) struct OpenQuestions<R> {
    open: BTreeMap<u64, OpenQuestion<R>>,
    /// The numbers of the open questions, by the canonical form of the agent's IDs.
    numbers: BTreeMap<Arc<str>, u64>,
    /// The IDs of requests that other responders have settled, each with the digest of its question.
    settled: SettledIds,
}

impl<R> Default for OpenQuestions<R> {
    fn default() -> Self {
        OpenQuestions { open: BTreeMap::new(), numbers: BTreeMap::new(), settled: SettledIds::default() }
    }
}

impl<R> OpenQuestions<R> {
    /// Returns the request that a response of the host with this ID belongs to.
    pub(super) fn awaited(&self, id: &str) -> ResponseTarget {
        match self.number(id) {
            Some(number) => ResponseTarget::Question(number),
            None if self.is_settled(id) => ResponseTarget::Nothing,
            None => ResponseTarget::Unknown,
        }
    }

    /// Returns whether another responder than the host has settled the question with this id.
    pub(super) fn is_settled(&self, id: &str) -> bool {
        self.settled.knows(id)
    }

    /// Returns whether another responder than the host has settled this question under this ID: then it is a
    /// retransmission, not a new request.
    pub(super) fn has_settled_as(&self, id: &str, question: &Question) -> bool {
        self.settled.digest(id).is_some_and(|settled| settled == digest(question))
    }

    /// Returns whether there are ids of settled questions.
    pub(super) fn has_settled(&self) -> bool {
        !self.settled.is_empty()
    }

    /// Returns how many questions are open.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns the number of the open question that the agent asked with this id.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        if self.numbers.is_empty() {
            return None;
        }
        self.numbers.get(&*key(id)).copied()
    }

    pub(super) fn get(&self, number: u64) -> Option<&OpenQuestion<R>> {
        self.open.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut OpenQuestion<R>> {
        self.open.get_mut(&number)
    }

    /// Returns the numbers of the open questions that satisfy `holds`, oldest first.
    pub(super) fn numbers(&self, holds: impl Fn(&OpenQuestion<R>) -> bool) -> Vec<u64> {
        self.open.iter().filter(|(_, open)| holds(open)).map(|(number, _)| *number).collect()
    }

    /// Returns the numbers of the open questions, oldest first.
    pub(super) fn all(&self) -> Vec<u64> {
        self.open.keys().copied().collect()
    }

    /// Adds a question that opens. No open question has its ID.
    pub(super) fn open(&mut self, number: u64, open: OpenQuestion<R>) {
        // From now on, a response with this ID is meant for the new question.
        self.forget(open.id.as_str());
        self.numbers.insert(open.id.key(), number);
        self.open.insert(number, open);
    }

    /// Takes a question out.
    pub(super) fn close(&mut self, number: u64) -> Option<OpenQuestion<R>> {
        let open = self.open.remove(&number)?;
        self.numbers.remove(&*key(open.id.as_str()));
        Some(open)
    }

    /// Remembers the id of a question that another responder than the host has settled: the host's response to it comes
    /// too late.
    pub(super) fn remember(&mut self, id: &str, question: &Question) {
        self.settled.remember(id, digest(question));
    }

    /// Forgets a settled question: the host has responded to it, or its id is in use again.
    pub(super) fn forget(&mut self, id: &str) {
        self.settled.forget(id);
    }
}

/// Returns whether two requests ask the same. The parts that come from earlier lines do not count.
pub(super) fn asks_the_same(one: &Question, other: &Question) -> bool {
    content(one) == content(other)
}

/// Returns a digest by which a retransmitted request is recognised. An agent that provokes a collision gains nothing.
fn digest(question: &Question) -> u64 {
    // Many settled questions are remembered, so a digest is kept in place of each (I6).
    let mut hasher = DefaultHasher::new();
    // Serialization cannot fail: there are no maps with other keys than strings.
    serde_json::to_string(&content(question)).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

type Content<'a> = (&'a str, &'a [Field], Option<&'a Subject>);

fn content(question: &Question) -> Content<'_> {
    (&question.message, &question.fields, question.subject.as_deref())
}

/// The host's last requests whose response must be read and has not come yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct AwaitedRequests(VecDeque<RequestId>);

impl AwaitedRequests {
    /// Adds a request. A request with a long ID is ignored. If there are too many, the oldest is dropped.
    pub(super) fn push(&mut self, id: &str) {
        if id.len() > limits::ID {
            return;
        }
        if self.0.len() == limits::REQUESTED_SESSIONS {
            self.0.pop_front();
        }
        self.0.push_back(RequestId::new(id));
    }

    /// Returns whether the response to this request is awaited.
    pub(super) fn awaits(&self, id: &str) -> bool {
        self.0.iter().any(|requested| requested.is(id))
    }

    /// Forgets a request that the agent has answered.
    pub(super) fn responded(&mut self, id: &str) {
        self.0.retain(|requested| !requested.is(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn requests_that_are_never_answered_are_forgotten() {
        let mut requested = AwaitedRequests::default();
        (0..=limits::REQUESTED_SESSIONS).for_each(|number| requested.push(&number.to_string()));
        assert!(!requested.awaits("0") && requested.awaits("1"));
        requested.responded("1");
        assert!(!requested.awaits("1") && requested.awaits("2"));
        requested.push(&"1".repeat(limits::ID + 1));
        assert_eq!(requested.0.len(), limits::REQUESTED_SESSIONS - 1);
    }
}
