//! The ACP side of the open questions: the ID of the agent's request, the ID, the way and the time of the request to the
//! client, the format of the agent's response, how long the client has been silent, and the IDs of earlier requests. The
//! lives of the questions are left to the desk.

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
    /// The last request to the client, if there was one.
    pub asked: Option<ClientRequest>,
    /// Whether the client has not responded to that request yet.
    pub awaiting_response: bool,
    /// Why the question is about to end, if it is. The client may still answer until the deadline.
    pub closing: Option<ClosingReason>,
    /// Whether the chat hint was sent or scheduled.
    pub hinted: bool,
    /// The deadline of the client's silence about the question.
    pub silent_at: Option<Duration>,
    /// Whether a turn ran in its session when it was asked. Its agent waits for it until that turn is over.
    pub in_turn: bool,
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

/// A request to the client.
#[derive(Clone, Debug)]
pub(super) struct ClientRequest {
    /// Its ID: that of the agent for the agent's own request, unless the ID is taken, and a new one for every request
    /// of the bridge's own. Some clients end the connection if an ID comes twice.
    pub id: RequestId,
    /// When it was sent.
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

    /// Returns whether the agent does not wait for its answer any more once its tool call, or the turn in which it was
    /// asked, is over.
    pub(super) fn ends_with_turn(&self) -> bool {
        self.is_permission() || permission::ends_by_itself(&self.question)
    }

    /// Returns whether a person who answers at this time, in the client, cannot have read what the question shows now.
    /// A client that answers as fast as this after it was asked answers by itself, and has read nothing at all.
    pub(super) fn is_unread(&self, now: Duration) -> bool {
        let is_later = |then: Duration| now.saturating_sub(then) >= limits::REACTION;
        let is_read = self.asked.as_ref().is_some_and(|asked| is_later(asked.at));
        is_read && self.amended.as_ref().is_some_and(|amended| !is_later(amended.at))
    }

    /// Returns whether the question is a permission. The client's response to it is forwarded unchanged.
    pub(super) fn is_permission(&self) -> bool {
        self.question.purpose == Purpose::Permission
    }

    /// Returns how long ago the client was asked, if that is less than a person needs to read the request. Its refusal
    /// is then its own. A question that is about to end is refused for that reason.
    pub(super) fn reaction(&self, now: Duration) -> Option<Duration> {
        let since = now.saturating_sub(self.asked.as_ref()?.at);
        (self.closing.is_none() && since < limits::REACTION).then_some(since)
    }
}

/// What a person is told whose answer comes too late, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LateNote {
    pub session: String,
    pub text: String,
    /// The number of the question.
    pub number: u64,
}

/// The request that a response with some id belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResponseTarget {
    /// The open question with this number.
    Question(u64),
    /// A question that was settled before its client responded, with what the person is told of that.
    Late(Box<LateNote>),
    /// A question that is settled, or an open one that the client has responded to already, or was asked again.
    Nothing,
    /// No question of the agent.
    Unknown,
}

/// The meaning of an ID on the client's side.
#[derive(Clone, Debug)]
enum ShownId {
    /// The last request for the open question with this number.
    Open(u64),
    /// An earlier request, or a request of the agent for which the client was asked under another ID.
    Settled { awaiting_response: bool, note: Option<Box<LateNote>> },
}

/// The open questions of a bridge, and the IDs of the last earlier requests.
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
    /// The settled IDs in `shown`, oldest first.
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

    /// Returns whether this is the ID of an earlier request, and no request has taken it since.
    pub(super) fn is_settled(&self, id: &str) -> bool {
        matches!(self.shown.get(&*key(id)), Some(ShownId::Settled { .. }))
    }

    /// Returns whether the client could take a request with this ID for another one: that of an open question, or one
    /// that it has not responded to yet.
    pub(super) fn is_taken(&self, id: &str) -> bool {
        match self.shown.get(&*key(id)) {
            Some(ShownId::Open(_)) => true,
            Some(ShownId::Settled { awaiting_response, .. }) => *awaiting_response,
            None => false,
        }
    }

    /// Returns whether there are IDs of earlier requests.
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
            Some(ShownId::Settled { awaiting_response, note }) => {
                *awaiting_response = false;
                note.take().map_or(ResponseTarget::Nothing, ResponseTarget::Late)
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

    /// Adds a question that the client was not asked yet. No open question may have its ID.
    pub(super) fn open(&mut self, open: OpenQuestion) {
        self.numbers.insert(open.id.key(), open.number);
        self.open.insert(open.number, Box::new(open));
    }

    /// Returns whether a question is open that may change or end with its tool call.
    pub(super) fn waits_for_call(&self) -> bool {
        self.open.values().any(|open| open.ends_with_turn())
    }

    /// Records that the client is asked by a request with this ID, and awaits its response. From now on, a response to
    /// the request before it counts no more.
    pub(super) fn ask(&mut self, number: u64, id: RequestId, now: Duration) {
        self.forget(id.as_str());
        let Some(open) = self.open.get_mut(&number) else { return };
        let before = open.asked.replace(ClientRequest { id: id.clone(), at: now });
        let was_awaited = std::mem::replace(&mut open.awaiting_response, true);
        if let Some(before) = before {
            self.outdate(before.id.key(), was_awaited);
        }
        let shown_as = id.key();
        if let Some(rounded) = rounded_key(id.as_str()) {
            self.rounded.entry(rounded.into()).or_insert_with(|| Arc::clone(&shown_as));
        }
        self.shown.insert(shown_as, ShownId::Open(number));
    }

    /// Takes a question out. The IDs of its requests are remembered, so that no late response with one of them reaches
    /// the agent.
    pub(super) fn settle(&mut self, number: u64) -> Option<OpenQuestion> {
        let open = self.open.remove(&number)?;
        self.numbers.remove(&*key(open.id.as_str()));
        if let Some(asked) = &open.asked {
            self.outdate(asked.id.key(), open.awaiting_response);
        }
        if !self.shown.contains_key(&*open.id.key()) {
            self.outdate(open.id.key(), false);
        }
        Some(*open)
    }

    /// Remembers the ID of a request that counts no more.
    fn outdate(&mut self, id: Arc<str>, awaiting_response: bool) {
        if self.settled.len() == limits::SETTLED
            && let Some(oldest) = self.settled.pop_front()
        {
            self.remove_shown(&oldest);
        }
        self.settled.push_back(Arc::clone(&id));
        self.shown.insert(id, ShownId::Settled { awaiting_response, note: None });
    }

    /// Keeps what the person is told who answers the settled request with this ID after all.
    pub(super) fn note(&mut self, id: &RequestId, told: LateNote) {
        if let Some(ShownId::Settled { awaiting_response: true, note }) = self.shown.get_mut(&*id.key()) {
            *note = Some(Box::new(told));
        }
    }

    /// Takes a question out and forgets it: responses with its id are forwarded unchanged.
    pub(super) fn abandon(&mut self, number: u64) {
        if let Some(open) = self.settle(number) {
            self.forget(open.id.as_str());
            if let Some(asked) = &open.asked {
                self.forget(asked.id.as_str());
            }
        }
    }

    /// Forgets an earlier request, because its ID is in use again.
    pub(super) fn forget(&mut self, id: &str) {
        let key = key(id);
        if self.is_settled(id) {
            self.remove_shown(&key);
            self.settled.retain(|other| **other != *key);
        }
    }

    /// Forgets the earlier requests that the client has responded to.
    pub(super) fn forget_responded(&mut self) {
        for key in std::mem::take(&mut self.settled) {
            match self.shown.get(&key) {
                Some(ShownId::Settled { awaiting_response: true, .. }) => self.settled.push_back(key),
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
