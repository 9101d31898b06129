//! The requests of the host whose response by the agent has to be read. What the response says is left to each protocol.

use std::collections::VecDeque;

use crate::{limits, wire::id::RequestId};

/// The last such requests that the agent has not answered yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct AwaitedRequests(VecDeque<RequestId>);

impl AwaitedRequests {
    /// Takes in a request. One with a long ID is left out, and so is the oldest where there are too many.
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
