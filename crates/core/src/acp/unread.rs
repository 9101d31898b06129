//! Requests of the agent that seem to ask a person, in a shape whose response the bridge does not know: by which names they
//! are recognised, and the last ones that the client has not responded to. What is said of them is left to `reading.rs`.

use std::collections::VecDeque;

use crate::{
    limits,
    wire::{id::RequestId, scan},
};

/// The requests that the client has not responded to, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Unread(VecDeque<UnreadRequest>);

/// A request that seems to ask a person.
#[derive(Debug)]
pub(super) struct UnreadRequest {
    pub id: RequestId,
    pub session: String,
    /// What it asks, as far as the chat says it.
    pub asks: String,
}

/// How the names of extension methods end that ask a person.
const ENDINGS: [&str; 11] = [
    "ask_user",
    "askUser",
    "ask_user_question",
    "askUserQuestion",
    "ask_question",
    "askQuestion",
    "request_user_input",
    "requestUserInput",
    "request_question",
    "user_input",
    "userInput",
];

/// Members that have the text of a question.
const TEXTS: [&str; 3] = ["question", "prompt", "message"];

/// Returns whether an extension method seems to ask a person. `ends` says whether its name ends like this.
pub(super) fn seems_to_ask(ends: impl Fn(&str) -> bool) -> bool {
    ENDINGS.iter().any(|ending| ends(ending))
}

impl Unread {
    /// Returns whether this is the ID of such a request.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.0.iter().any(|request| request.id.is(id))
    }

    /// Takes out the request with this ID.
    pub(super) fn take(&mut self, id: &str) -> Option<UnreadRequest> {
        let place = self.0.iter().position(|request| request.id.is(id))?;
        self.0.remove(place)
    }

    /// Adds a request. If there is no room, the oldest one is forgotten.
    pub(super) fn put(&mut self, request: UnreadRequest) {
        if self.0.len() == limits::REQUESTED_SESSIONS {
            self.0.pop_front();
        }
        self.0.push_back(request);
    }
}

/// Returns the text of the first question in the parameters of a request.
pub(super) fn text(params: &[u8]) -> Option<String> {
    let member = |json: &[u8]| {
        let texts = TEXTS.iter().filter_map(|name| scan::text(scan::member(json, name)?));
        texts.map(|text| text.into_owned()).find(|text| !text.trim().is_empty())
    };
    let of_first = || {
        let questions: Vec<&serde_json::value::RawValue> =
            serde_json::from_slice(scan::member(params, "questions")?).ok()?;
        member(questions.first()?.get().as_bytes())
    };
    member(params).or_else(of_first)
}
