//! The state of a conversation with a client: the client's capabilities, and the requests that are open.
//! How lines change it is left to `receive.rs`.

use std::collections::{BTreeMap, BTreeSet};

use askbridge_core::dialect::methods;
use serde_json::Value;

use super::{
    action::Promise,
    driver::{Driver, Persons},
};

/// The ID of the only session.
pub(crate) const SESSION: &str = "session-1";

/// The conversation with a client.
#[derive(Debug)]
pub(crate) struct Served {
    /// Who answers the questions that the client shows.
    pub(super) persons: Persons,
    /// The command that answers now, in the place of a person.
    pub(super) driver: Option<Driver>,
    /// The IDs of the requests for which it was started.
    pub(super) driven: BTreeSet<String>,
    /// The client's capabilities, from `initialize`.
    pub(super) capabilities: Value,
    /// The agent's requests without a response, by their IDs in the agent's spelling.
    pub(super) open: BTreeMap<String, Request>,
    /// The IDs of the agent's requests that have a response.
    pub(super) answered: BTreeSet<String>,
    /// The number of responses to requests that the agent has not sent.
    pub(super) strays: usize,
    /// The number of responses that steps have heard of, whatever their IDs are.
    pub(super) heard: usize,
    /// The responses that no step has expected yet, with their requests.
    pub(super) responses: Vec<Response>,
    /// The ID of the prompt whose turn runs, in the client's own spelling.
    pub(super) prompt: Option<String>,
}

/// A request of the agent.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) params: String,
}

impl Request {
    /// Returns the request as a line.
    pub(super) fn line(&self, id: &str) -> String {
        let (method, params) = (Value::from(self.method.as_str()), &self.params);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
    }
}

/// A response of the client.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) id: String,
    pub(super) request: Request,
    pub(super) line: Vec<u8>,
}

impl Served {
    pub(crate) fn new(persons: Persons) -> Self {
        Self {
            persons,
            driver: None,
            driven: BTreeSet::new(),
            capabilities: Value::Null,
            open: BTreeMap::new(),
            answered: BTreeSet::new(),
            strays: 0,
            heard: 0,
            responses: Vec::new(),
            prompt: None,
        }
    }

    /// Notes a line that the agent wrote.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(bytes) else { return };
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            let params = message.get("params").map_or_else(|| "{}".to_owned(), Value::to_string);
            self.open.insert(id.to_string(), Request { method: method.to_owned(), params });
        }
    }

    pub(super) fn promised(&self, what: Promise) -> bool {
        let place = match what {
            Promise::Forms => "/elicitation/form",
            Promise::Urls => "/elicitation/url",
            Promise::Files => "/fs/readTextFile",
            Promise::Terminals => "/terminal",
        };
        self.capabilities.pointer(place).is_some_and(|it| it.is_object() || *it == Value::Bool(true))
    }

    /// Returns the ID of this question, or of any, if it is open and the driver was not run for it yet.
    pub(super) fn take_undriven(&mut self, id: Option<&str>) -> Option<String> {
        let is_question = |request: &Request| methods().any(|method| method == request.method);
        let mut open = self.open.iter().filter(|(open, _)| id.is_none_or(|id| id == *open));
        let found = open.find(|(open, request)| is_question(request) && !self.driven.contains(*open))?;
        let id = found.0.clone();
        self.driven.insert(id.clone());
        Some(id)
    }

    pub(super) fn take_response(&mut self, id: &str) -> Option<Response> {
        let at = self.responses.iter().position(|response| response.id == id)?;
        Some(self.responses.remove(at))
    }
}
