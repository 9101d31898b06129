//! The open questions, with what is to be done when each of them ends, and the IDs of requests that the host may still
//! respond to, too late. The lives of the questions are left to the desk.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{
    dialect::mcp::{Batch, Mode},
    engine::SettledIds,
    limits,
    question::Question,
    wire::id::{RequestId, key},
};

/// One open question.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub question: Arc<Question>,
    pub source: Source,
    /// The calls that the server worked on when it asked. It does not say which of them needs the answer.
    pub calls: Vec<u64>,
    /// When the host was asked as well, unless it has responded.
    pub host_asked: Option<Duration>,
}

/// Where a question came from.
#[derive(Debug)]
pub(super) enum Source {
    /// A request of the server.
    Request(Box<Request>),
    /// A call that needs something before it can go on.
    Errand(u64),
    /// A call that needs a permission.
    Gate(u64),
}

/// A request of the server.
#[derive(Debug)]
pub(super) struct Request {
    pub id: RequestId,
    pub batch: Batch,
    pub mode: Mode,
    /// The token with which the server wants to know that the person is still asked, as JSON.
    pub token: Option<String>,
    /// The ID by which the server says that a page is done with.
    pub page: Option<String>,
}

impl OpenQuestion {
    /// Returns the request of the server that it came from.
    pub(super) fn request(&self) -> Option<&Request> {
        match &self.source {
            Source::Request(request) => Some(request),
            Source::Errand(_) | Source::Gate(_) => None,
        }
    }

    /// Returns the call that waits for it.
    pub(super) fn call(&self) -> Option<u64> {
        match self.source {
            Source::Request(_) => None,
            Source::Errand(call) | Source::Gate(call) => Some(call),
        }
    }

    /// Returns how long ago the host was asked, if that is less than a person needs to read what it shows.
    pub(super) fn reaction(&self, now: Duration) -> Option<Duration> {
        let since = now.saturating_sub(self.host_asked?);
        (since < limits::REACTION).then_some(since)
    }
}

/// The open questions of a bridge.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions {
    open: BTreeMap<u64, OpenQuestion>,
    /// The numbers of those that are requests, by the canonical form of the ID.
    requests: BTreeMap<Arc<str>, u64>,
    /// The IDs of requests that the host was sent, and another responder has settled.
    pub settled: SettledIds,
}

impl OpenQuestions {
    /// Returns how many questions are open.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns whether a response of the host with this ID is to a question.
    pub(super) fn awaits(&self, id: &str) -> bool {
        self.number(id).is_some() || self.settled.knows(id)
    }

    /// Returns the number of the open question that the server asked with this ID.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        if self.requests.is_empty() { None } else { self.requests.get(&*key(id)).copied() }
    }

    pub(super) fn get(&self, number: u64) -> Option<&OpenQuestion> {
        self.open.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut OpenQuestion> {
        self.open.get_mut(&number)
    }

    /// Returns the open questions with their numbers, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &OpenQuestion)> {
        self.open.iter().map(|(number, open)| (*number, open))
    }

    /// Returns the numbers of the open questions that satisfy `holds`, oldest first.
    pub(super) fn numbers(&self, holds: impl Fn(&OpenQuestion) -> bool) -> Vec<u64> {
        self.iter().filter(|(_, open)| holds(open)).map(|(number, _)| number).collect()
    }

    /// Adds a question that opens. No open question has its ID.
    pub(super) fn open(&mut self, number: u64, open: OpenQuestion) {
        if let Some(request) = open.request() {
            // From now on, a response with this ID is meant for the new question.
            self.settled.forget(request.id.as_str());
            self.requests.insert(request.id.key(), number);
        }
        self.open.insert(number, open);
    }

    /// Takes a question out.
    pub(super) fn close(&mut self, number: u64) -> Option<OpenQuestion> {
        let open = self.open.remove(&number)?;
        if let Some(request) = open.request() {
            self.requests.remove(&*request.id.key());
        }
        Some(open)
    }
}
