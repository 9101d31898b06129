//! The open questions, by the id of their request, and the ids of the last settled ones.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use crate::{
    limits,
    question::Question,
    wire::id::{RequestId, key},
};

/// One open question.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The id of its request.
    pub id: RequestId,
    /// What is asked.
    pub question: Arc<Question>,
    /// The bytes of its parameters, for the limit on all of them.
    pub size: usize,
    /// When it was asked.
    pub since: Duration,
    /// When it ends by itself.
    pub deadline: Option<Duration>,
    /// Whether the agent has taken it back; until the deadline the client may still answer.
    pub withdrawn: bool,
}

/// The open questions of a bridge. Their ids are kept as what ids are compared by.
#[derive(Debug, Default)]
pub(super) struct Pending {
    open: BTreeMap<Box<str>, Open>,
    /// The ids of the open questions, oldest first.
    order: VecDeque<Box<str>>,
    size: usize,
    settled: BTreeSet<Box<str>>,
    /// The ids of the settled questions, oldest first.
    settled_order: VecDeque<Box<str>>,
}

impl Pending {
    /// Says whether a response with this id is to a question, open or settled.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.open.contains_key(&*key(id)) || self.is_settled(id)
    }

    /// Says whether a question with this id was settled, and no request has taken the id since.
    pub(super) fn is_settled(&self, id: &str) -> bool {
        self.settled.contains(&*key(id))
    }

    /// Says whether there are settled questions to remember.
    pub(super) fn remembers(&self) -> bool {
        !self.settled.is_empty()
    }

    /// Returns how many questions are open.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Open> {
        self.open.get(&*key(id))
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Open> {
        self.open.get_mut(&*key(id))
    }

    /// Says what limit one more question of this session and size would break.
    pub(super) fn check_room(&self, session: Option<&str>, size: usize) -> Result<(), String> {
        let in_session =
            self.open.values().filter(|open| open.question.session.as_deref() == session).count();
        let too_many =
            |what: &str, most: usize| Err(format!("{what}; the most is {most}: settle some first"));
        if in_session >= limits::OPEN_PER_SESSION {
            return too_many("too many open questions in the session", limits::OPEN_PER_SESSION);
        }
        if self.open.len() >= limits::OPEN {
            return too_many("too many open questions", limits::OPEN);
        }
        if self.size + size > limits::OPEN_BYTES {
            return too_many("too many bytes of open questions", limits::OPEN_BYTES);
        }
        Ok(())
    }

    /// Opens a question. Its id is not open; if a settled question had it, that one is forgotten.
    pub(super) fn open(&mut self, open: Open) {
        self.forget(open.id.as_str());
        self.size += open.size;
        let key: Box<str> = key(open.id.as_str()).into();
        self.order.push_back(key.clone());
        self.open.insert(key, open);
    }

    /// Takes a question out, and remembers its id as settled.
    pub(super) fn settle(&mut self, id: &str) -> Option<Open> {
        let (key, open) = self.open.remove_entry(&*key(id))?;
        self.size -= open.size;
        self.order.retain(|other| *other != key);
        if self.settled_order.len() == limits::SETTLED
            && let Some(oldest) = self.settled_order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        self.settled_order.push_back(key.clone());
        self.settled.insert(key);
        Some(open)
    }

    /// Forgets a settled question, because its id is in use again.
    pub(super) fn forget(&mut self, id: &str) {
        let key = key(id);
        if self.settled.remove(&*key) {
            self.settled_order.retain(|other| **other != *key);
        }
    }

    /// Returns the ids of the open questions that this holds for, oldest first.
    pub(super) fn ids(&self, mut holds: impl FnMut(&Open) -> bool) -> Vec<RequestId> {
        let open = self.order.iter().filter_map(|key| self.open.get(key));
        open.filter(|open| holds(open)).map(|open| open.id.clone()).collect()
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.open.values().filter_map(|open| open.deadline).min()
    }
}
