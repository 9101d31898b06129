//! The folders of the sessions, as the peers name them when a session opens. A question of a session says which project
//! it belongs to. Sessions that were not opened through this bridge have no folder here.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use crate::{
    limits,
    wire::{id::RequestId, scan},
};

/// The folders of the last sessions.
#[derive(Debug, Default)]
pub struct Sessions {
    folders: BTreeMap<String, Arc<str>>,
    /// The sessions in `folders`, oldest first.
    order: VecDeque<String>,
    /// The folder of each request for a new session that the agent has not answered yet, oldest first.
    requested: VecDeque<(RequestId, Arc<str>)>,
}

impl Sessions {
    /// Remembers that the client requests a new session in this folder. The agent's response will name the session.
    pub fn request(&mut self, id: &str, folder: &str) {
        if id.len() > limits::ID || folder.len() > limits::FOLDER {
            return;
        }
        if self.requested.len() == limits::REQUESTED_SESSIONS {
            self.requested.pop_front();
        }
        self.requested.push_back((RequestId::new(id), folder.into()));
    }

    /// Returns whether this is the id of a request for a new session.
    pub fn awaits(&self, id: &str) -> bool {
        self.requested.iter().any(|(requested, _)| requested.is(id))
    }

    /// Records that the agent has answered a request for a new session: with this result, or with none.
    pub fn responded(&mut self, id: &str, result: Option<&[u8]>) {
        let place = self.requested.iter().position(|(requested, _)| requested.is(id));
        let Some((_, folder)) = place.and_then(|place| self.requested.remove(place)) else { return };
        if let Some(session) = result.and_then(|result| scan::text(scan::member(result, "sessionId")?)) {
            self.insert(&session, folder);
        }
    }

    /// Records the folder of a session whose ID the client names.
    pub fn open(&mut self, session: &str, folder: &str) {
        if folder.len() <= limits::FOLDER {
            self.insert(session, folder.into());
        }
    }

    fn insert(&mut self, session: &str, folder: Arc<str>) {
        if session.len() > limits::SESSION {
            return;
        }
        if self.folders.insert(session.to_owned(), folder).is_none() {
            self.order.push_back(session.to_owned());
        }
        if self.order.len() > limits::SESSIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.folders.remove(&oldest);
        }
    }

    /// Returns the folder of a session.
    pub fn folder(&self, session: &str) -> Option<&Arc<str>> {
        self.folders.get(session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn only_the_last_sessions_are_remembered() {
        let mut sessions = Sessions::default();
        for number in 0..=limits::SESSIONS {
            sessions.open(&number.to_string(), "/tmp");
            sessions.open(&number.to_string(), "/home");
        }
        assert_eq!(sessions.folder("0"), None);
        assert_eq!(sessions.folder("1").map(|folder| &**folder), Some("/home"));
        assert_eq!(sessions.order.len(), limits::SESSIONS);
    }

    #[test]
    fn requests_that_are_never_answered_are_forgotten() {
        let mut sessions = Sessions::default();
        for number in 0..=limits::REQUESTED_SESSIONS {
            sessions.request(&number.to_string(), "/tmp");
        }
        assert!(!sessions.awaits("0") && sessions.awaits("1"));
    }

    #[test]
    fn what_is_too_long_is_not_remembered() {
        let mut sessions = Sessions::default();
        let long = "x".repeat(limits::SESSION.max(limits::FOLDER).max(limits::ID) + 1);
        sessions.request(&long, "/tmp");
        sessions.request("0", &long);
        sessions.open(&long, "/tmp");
        sessions.open("s", &long);
        assert!(sessions.requested.is_empty() && sessions.folders.is_empty());
    }
}
