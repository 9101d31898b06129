//! The ACP side of the open questions: the id of the agent's request, the id and the way under which the client was
//! asked, the format of the agent's response, how long the client has been silent, and the ids of the questions settled
//! last. The lives of the questions are left to the desk.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use super::config::Presentation;
use crate::{
    dialect::{ReplyFormat, permission},
    limits,
    question::{Purpose, Question},
    wire::id::{RequestId, key, rounded_key},
};

/// One open question.
#[derive(Clone, Debug)]
pub(super) struct OpenQuestion {
    /// The id of the agent's request.
    pub id: RequestId,
    /// Its number at the desk.
    pub number: u64,
    /// The question.
    pub question: Arc<Question>,
    /// How the agent is answered.
    pub reply_format: ReplyFormat,
    /// How the client is asked.
    pub presentation: Presentation,
    /// The id under which the client is asked: the agent's own, unless the client still owes a response under it to an
    /// earlier question.
    pub shown_as: RequestId,
    /// Whether the client was asked and has not responded yet.
    pub awaiting_response: bool,
    /// Why the question is about to end, if it is. The client may still answer until the deadline.
    pub closing: Option<ClosingReason>,
    /// Whether the chat hint was sent or scheduled.
    pub hinted: bool,
    /// The deadline of the client's silence about the question.
    pub silent_at: Option<Duration>,
    /// Whether a turn ran in its session when it was asked. Its agent waits for it until that turn is over.
    pub in_turn: bool,
    /// When the client was asked.
    pub asked_at: Duration,
    /// How the question has changed, if it has.
    pub amended: Option<Amended>,
    /// Whether the agent marked it as dangerous, whatever it would do.
    pub is_marked: bool,
}

/// A question that has changed since it was asked.
#[derive(Clone, Debug)]
pub(super) struct Amended {
    /// The question as it was asked.
    pub first: Arc<Question>,
    /// When it changed last.
    pub at: Duration,
}

/// Why a question is about to end. For a moment, only its client can still answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClosingReason {
    /// The agent withdrew the question.
    Withdrawn,
    /// The client cancelled the turn.
    Cancelled,
}

impl OpenQuestion {
    /// Returns whether the agent withdrew the question.
    pub(super) fn is_withdrawn(&self) -> bool {
        self.closing == Some(ClosingReason::Withdrawn)
    }

    /// Returns whether the agent does not wait for its answer any more once the turn in which it was asked is over.
    pub(super) fn ends_with_turn(&self) -> bool {
        self.is_permission() || permission::ends_by_itself(&self.question)
    }

    /// Returns whether a person who answers at this time, in the client, cannot have read what the question shows now.
    /// A client that answers as fast as this after it was asked answers by itself, and has read nothing at all.
    pub(super) fn is_unread(&self, now: Duration) -> bool {
        let after = |then: Duration| now.saturating_sub(then);
        self.amended.as_ref().is_some_and(|amended| {
            after(amended.at) < limits::REACTION && after(self.asked_at) >= limits::REACTION
        })
    }

    /// Returns whether the question is a permission. The client's response to it is forwarded unchanged.
    pub(super) fn is_permission(&self) -> bool {
        self.question.purpose == Purpose::Permission
    }
}

/// The request that a response with some id belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseTarget {
    /// The open question with this number.
    Question(u64),
    /// A question that is settled, or an open one that the client has responded to already.
    Nothing,
    /// No question of the agent.
    Unknown,
}

/// The meaning of an id on the client's side.
#[derive(Clone, Copy, Debug)]
enum ShownId {
    Open(u64),
    Settled { awaiting_response: bool },
}

/// The open questions of a bridge, and the ids of the last settled ones.
#[derive(Debug, Default)]
pub(super) struct OpenQuestions {
    /// Boxed, since the nodes of a map are half empty and would waste the space of large values.
    open: BTreeMap<u64, Box<OpenQuestion>>,
    /// The numbers of the open questions, by the canonical form of the agent's ID.
    numbers: BTreeMap<Arc<str>, u64>,
    /// The IDs under which the client was asked, by their canonical form.
    shown: BTreeMap<Arc<str>, ShownId>,
    /// The keys of `shown` that change in a peer which reads numbers as floating point, by their rounded form.
    rounded: BTreeMap<Arc<str>, Arc<str>>,
    /// The ids of the settled questions in `shown`, oldest first.
    settled: VecDeque<Arc<str>>,
}

impl OpenQuestions {
    /// Returns whether a response with this ID belongs to a question, open or settled.
    pub(super) fn knows(&self, id: &str) -> bool {
        let key = &*key(id);
        self.shown.contains_key(key) || self.numbers.contains_key(key) || self.unrounded(id).is_some()
    }

    /// Returns whether no id is known.
    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.numbers.is_empty()
    }

    /// Returns whether a question with this id was settled, and no request has taken the id since.
    pub(super) fn is_settled(&self, id: &str) -> bool {
        matches!(self.shown.get(&*key(id)), Some(ShownId::Settled { .. }))
    }

    /// Returns whether the client still has to respond under this id to a question that is settled.
    pub(super) fn is_awaited(&self, id: &str) -> bool {
        matches!(self.shown.get(&*key(id)), Some(ShownId::Settled { awaiting_response: true }))
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
        self.numbers.get(&*key(id)).copied()
    }

    pub(super) fn get(&self, number: u64) -> Option<&OpenQuestion> {
        self.open.get(&number).map(|open| &**open)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut OpenQuestion> {
        self.open.get_mut(&number).map(|open| &mut **open)
    }

    /// Returns the target of a response that arrived with this ID. The question does not await a response any more.
    pub(super) fn responded(&mut self, id: &str) -> ResponseTarget {
        let key = key(id);
        let unrounded = || self.unrounded(id).map(|key| &**key);
        let place = if self.shown.contains_key(&*key) { Some(&*key) } else { unrounded() };
        // The key is owned, since the entry cannot be changed while a key within `self` is borrowed.
        let place = place.map(str::to_owned);
        match place.and_then(|key| self.shown.get_mut(&*key)) {
            Some(ShownId::Settled { awaiting_response }) => {
                *awaiting_response = false;
                ResponseTarget::Nothing
            }
            Some(ShownId::Open(number)) => match self.open.get_mut(number) {
                Some(open) if open.awaiting_response => {
                    open.awaiting_response = false;
                    ResponseTarget::Question(*number)
                }
                _ => ResponseTarget::Nothing,
            },
            // The client never saw the agent's own ID: it was asked under another one.
            None if self.numbers.contains_key(&*key) => ResponseTarget::Nothing,
            None => ResponseTarget::Unknown,
        }
    }

    /// Adds a question. No open question may have its ID. A settled question that the client was asked under the same
    /// ID is forgotten.
    pub(super) fn open(&mut self, open: OpenQuestion) {
        self.forget(open.shown_as.as_str());
        let shown_as = open.shown_as.key();
        if let Some(rounded) = rounded_key(open.shown_as.as_str()) {
            self.rounded.entry(rounded.into()).or_insert_with(|| Arc::clone(&shown_as));
        }
        self.shown.insert(shown_as, ShownId::Open(open.number));
        self.numbers.insert(open.id.key(), open.number);
        self.open.insert(open.number, Box::new(open));
    }

    /// Records that the client is asked again, under this ID. A response under the earlier ID means nothing.
    pub(super) fn ask_again(&mut self, number: u64, id: RequestId) {
        let Some(mut open) = self.settle(number) else { return };
        (open.shown_as, open.awaiting_response) = (id, true);
        self.open(open);
    }

    /// Returns whether a permission is open.
    pub(super) fn has_permission(&self) -> bool {
        self.open.values().any(|open| open.is_permission())
    }

    /// Takes a question out, and remembers the id under which the client was asked.
    pub(super) fn settle(&mut self, number: u64) -> Option<OpenQuestion> {
        let open = self.open.remove(&number)?;
        self.numbers.remove(&*key(open.id.as_str()));
        if self.settled.len() == limits::SETTLED
            && let Some(oldest) = self.settled.pop_front()
        {
            self.remove_shown(&oldest);
        }
        let shown_as = open.shown_as.key();
        self.settled.push_back(Arc::clone(&shown_as));
        self.shown.insert(shown_as, ShownId::Settled { awaiting_response: open.awaiting_response });
        Some(*open)
    }

    /// Takes a question out and forgets it: responses with its id are forwarded unchanged.
    pub(super) fn abandon(&mut self, number: u64) {
        if let Some(open) = self.settle(number) {
            self.forget(open.shown_as.as_str());
        }
    }

    /// Forgets a settled question, because its id is in use again.
    pub(super) fn forget(&mut self, id: &str) {
        let key = key(id);
        if self.is_settled(id) {
            self.remove_shown(&key);
            self.settled.retain(|other| **other != *key);
        }
    }

    /// Forgets the settled questions that the client has responded to.
    pub(super) fn forget_responded(&mut self) {
        for key in std::mem::take(&mut self.settled) {
            match self.shown.get(&key) {
                Some(ShownId::Settled { awaiting_response: true }) => self.settled.push_back(key),
                _ => self.remove_shown(&key),
            }
        }
    }

    /// Returns the numbers of the open questions that satisfy `holds`, oldest first.
    pub(super) fn numbers(&self, mut holds: impl FnMut(&OpenQuestion) -> bool) -> Vec<u64> {
        self.open.values().filter(|open| holds(open)).map(|open| open.number).collect()
    }

    /// Returns the key of the ID that a peer which reads numbers as floating point rounded to this one.
    fn unrounded(&self, id: &str) -> Option<&Arc<str>> {
        // Ordinary IDs need no rounding.
        if self.rounded.is_empty() {
            return None;
        }
        let rounded = rounded_key(id);
        self.rounded.get(&*key(id)).or_else(|| self.rounded.get(rounded.as_deref()?))
    }

    fn remove_shown(&mut self, key: &str) {
        self.shown.remove(key);
        // The entry may belong to another ID that rounds to the same number.
        if let Some(rounded) = rounded_key(key)
            && self.rounded.get(&*rounded).is_some_and(|id| **id == *key)
        {
            self.rounded.remove(&*rounded);
        }
    }
}

/// The deadlines of the client's silence, each with the number of its question.
#[derive(Debug, Default)]
pub(super) struct Silence(BTreeSet<(Duration, u64)>);

impl Silence {
    /// Returns the earliest deadline.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.0.first().map(|(due, _)| *due)
    }

    /// Starts the silence about this question. Returns its deadline.
    pub(super) fn begin(&mut self, number: u64, now: Duration) -> Duration {
        let due = now.saturating_add(limits::SILENCE);
        self.0.insert((due, number));
        due
    }

    /// Ends the silence that has this deadline.
    pub(super) fn end(&mut self, number: u64, due: Option<Duration>) {
        if let Some(due) = due {
            self.0.remove(&(due, number));
        }
    }

    /// Takes out a question that the client has said nothing about for too long.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<u64> {
        let first = *self.0.first().filter(|(due, _)| *due <= now)?;
        self.0.remove(&first);
        Some(first.1)
    }
}
