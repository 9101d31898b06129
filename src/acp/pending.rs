//! The open questions, by the id of their request, and the ids of the last settled ones.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use super::{event::Opened, presentation::Way};
use crate::{
    dialect::ReplyFormat,
    limits,
    question::Question,
    wire::id::{RequestId, key},
};

impl Open {
    /// Gives it a deadline, and a warning when four fifths of the time are over.
    pub(super) fn set_deadline(&mut self, deadline: Option<Duration>) {
        let since = self.opened.since;
        self.deadline = deadline;
        self.warning = deadline.map(|deadline| {
            let time = deadline.saturating_sub(since);
            since.saturating_add(time - time / 5)
        });
    }

    pub(super) fn question(&self) -> &Arc<Question> {
        &self.opened.question
    }
}

/// One open question.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The id of its request.
    pub id: RequestId,
    /// What is asked, and since when.
    pub opened: Arc<Opened>,
    /// How the agent is answered.
    pub words: ReplyFormat,
    /// How the client is asked.
    pub way: Way,
    /// The id under which the client is asked: the agent's, unless the client owes a response under that to an
    /// earlier question.
    pub shown_as: RequestId,
    /// Whether the client was asked, and has not responded yet.
    pub owes: bool,
    /// The bytes of its parameters, for the limit on all of them.
    pub size: usize,
    /// When it ends by itself.
    pub deadline: Option<Duration>,
    /// When others are warned of that.
    pub warning: Option<Duration>,
    /// Why it is rejected, in the words of who does.
    pub remark: Option<String>,
    /// Whether the agent has taken it back; until the deadline the client may still answer.
    pub withdrawn: bool,
}

/// Whose response it is that has this id.
#[derive(Debug)]
pub(super) enum Awaited<'a> {
    /// That to this question.
    By(&'a Open),
    /// That to a question that is settled, or one too many to an open one.
    ByNobody,
    /// None of ours.
    NotHere,
}

/// The open questions of a bridge. Their ids are kept as what ids are compared by.
#[derive(Debug, Default)]
pub(super) struct Pending {
    open: BTreeMap<Arc<str>, Open>,
    /// The ids of the open questions, oldest first.
    order: VecDeque<Arc<str>>,
    /// The ids of the open questions that the client is asked under another one, by that.
    aliases: BTreeMap<Arc<str>, Arc<str>>,
    size: usize,
    /// The ids of settled questions, and whether the client still owes a response.
    settled: BTreeMap<Arc<str>, bool>,
    /// The ids of the settled questions, oldest first.
    settled_order: VecDeque<Arc<str>>,
}

impl Pending {
    /// Says whether a response with this id is to a question, open or settled.
    pub(super) fn knows(&self, id: &str) -> bool {
        let key = &*key(id);
        self.open.contains_key(key) || self.aliases.contains_key(key) || self.settled.contains_key(key)
    }

    /// Says whether a question with this id was settled, and no request has taken the id since.
    pub(super) fn is_settled(&self, id: &str) -> bool {
        self.settled.contains_key(&*key(id))
    }

    /// Says whether the client owes a response with this id to a question that is settled.
    pub(super) fn is_owed(&self, id: &str) -> bool {
        self.settled.get(&*key(id)) == Some(&true)
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

    /// Says whose response it is that has come with this id. It is owed no longer.
    pub(super) fn responded(&mut self, id: &str) -> Awaited<'_> {
        let key = key(id);
        if let Some(owed) = self.settled.get_mut(&*key) {
            *owed = false;
            return Awaited::ByNobody;
        }
        let key = self.aliases.get(&*key).map_or(&*key, |id| id);
        match self.open.get_mut(key) {
            Some(open) if open.owes && open.shown_as.is(id) => {
                open.owes = false;
                Awaited::By(open)
            }
            Some(_) => Awaited::ByNobody,
            None => Awaited::NotHere,
        }
    }

    /// Says what limit one more question of this session and size would break.
    pub(super) fn check_room(&self, session: Option<&str>, size: usize) -> Result<(), String> {
        let in_session =
            self.open.values().filter(|open| open.opened.question.session.as_deref() == session).count();
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

    /// Opens a question. Its id is not open; if the client is asked under it, a settled question that had it is
    /// forgotten.
    pub(super) fn open(&mut self, open: Open) {
        let key: Arc<str> = key(open.id.as_str()).into();
        if open.shown_as == open.id {
            self.forget(open.id.as_str());
        } else {
            self.aliases.insert(self::key(open.shown_as.as_str()).into(), key.clone());
        }
        self.size += open.size;
        self.order.push_back(key.clone());
        self.open.insert(key, open);
    }

    /// Takes a question out, and remembers the id under which the client was asked.
    pub(super) fn settle(&mut self, id: &str) -> Option<Open> {
        let (key, open) = self.open.remove_entry(&*key(id))?;
        self.size -= open.size;
        self.order.retain(|other| *other != key);
        let shown_as: Arc<str> = self::key(open.shown_as.as_str()).into();
        self.aliases.remove(&shown_as);
        if self.settled_order.len() == limits::SETTLED
            && let Some(oldest) = self.settled_order.pop_front()
        {
            self.settled.remove(&oldest);
        }
        self.settled_order.push_back(shown_as.clone());
        self.settled.insert(shown_as, open.owes);
        Some(open)
    }

    /// Forgets a settled question, because its id is in use again.
    pub(super) fn forget(&mut self, id: &str) {
        let key = key(id);
        if self.settled.remove(&*key).is_some() {
            self.settled_order.retain(|other| **other != *key);
        }
    }

    /// Forgets the settled questions that the client owes no response to.
    pub(super) fn forget_responded(&mut self) {
        self.settled.retain(|_, owed| *owed);
        self.settled_order.retain(|id| self.settled.contains_key(id));
    }

    /// Returns the ids of the open questions that this holds for, oldest first.
    pub(super) fn ids(&self, mut holds: impl FnMut(&Open) -> bool) -> Vec<RequestId> {
        let open = self.order.iter().filter_map(|key| self.open.get(key));
        open.filter(|open| holds(open)).map(|open| open.id.clone()).collect()
    }

    /// Returns the id of the open question with this number.
    pub(super) fn id_of(&self, number: u64) -> Option<&RequestId> {
        self.open.values().find(|open| open.opened.number == number).map(|open| &open.id)
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.open.values().flat_map(|open| [open.deadline, open.warning]).flatten().min()
    }
}
