//! A call that a server cannot finish before its person has done something: the result that asks for input, and the error
//! that asks for a page to be opened. The call is sent again once that is done.

use serde_json::value::RawValue;

use super::{Batch, elicitation::Mode};
use crate::{
    dialect::values::json,
    question::Question,
    wire::{
        method::ELICITATION_CREATE,
        scan::{self, Members, member},
        splice,
    },
};

/// The kind of a result that asks for input.
const INPUT_REQUIRED: &str = "input_required";
/// The members of a call that goes on.
const INPUT_RESPONSES: &str = "inputResponses";
const REQUEST_STATE: &str = "requestState";
/// The code of an error that asks for pages to be opened. MCP 2025-11-25 alone has it.
pub const URLS_REQUIRED: i32 = -32042;

/// The result of a call that needs input.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired {
    /// What to ask.
    pub batch: Batch,
    /// What the server wants to have back, as JSON.
    pub state: Option<String>,
    /// Whether it asks for more than elicitations, which the host alone has.
    pub is_mixed: bool,
}

impl InputRequired {
    /// Reads the `result` of a call. `None` if it asks for no elicitation, or the mode of one is unknown.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn read(result: &[u8]) -> Result<Option<(Question, Self)>, String> {
        let kind = member(result, "resultType").and_then(scan::text);
        let Some(requests) =
            member(result, "inputRequests").filter(|_| kind.as_deref() == Some(INPUT_REQUIRED))
        else {
            return Ok(None);
        };
        let all = entries(requests).ok_or("inputRequests is not an object")?;
        let params = |request| {
            let method = member(request, "method").and_then(scan::text);
            member(request, "params").filter(|_| method.as_deref() == Some(ELICITATION_CREATE))
        };
        let elicitations: Vec<_> =
            all.iter().filter_map(|(key, request)| Some((key.clone(), params(request)?))).collect();
        let is_mixed = elicitations.len() < all.len();
        let state = member(result, REQUEST_STATE).and_then(|state| std::str::from_utf8(state).ok());
        let read = Batch::read(elicitations).map_err(|why| format!("inputRequests.{why}"))?;
        Ok(read.map(|(question, batch)| {
            (question, InputRequired { batch, state: state.map(str::to_owned), is_mixed })
        }))
    }

    /// Returns how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        self.batch.bytes() + self.state.as_ref().map_or(0, String::len)
    }

    /// Returns the request of a call with the results of the elicitations, under this ID. The results of other requests that
    /// the call has already stay, those of an earlier round do not.
    pub fn retry(&self, call: &[u8], id: &str, results: &[(&str, Box<RawValue>)]) -> Option<Vec<u8>> {
        let params = member(call, "params")?;
        let known =
            member(params, "inputResponses").filter(|_| self.is_mixed).and_then(entries).unwrap_or_default();
        let is_asked = |key: &str| results.iter().any(|(asked, _)| *asked == key);
        let kept = known.iter().filter(|(key, _)| !is_asked(key));
        let kept = kept.filter_map(|(key, value)| Some((&**key, std::str::from_utf8(value).ok()?)));
        let all = kept.chain(results.iter().map(|(key, value)| (*key, value.get())));
        let members: Vec<_> = all.map(|(key, value)| format!("{}:{value}", json(&key))).collect();
        let params = put(params, INPUT_RESPONSES, &format!("{{{}}}", members.join(",")))?;
        let params = match &self.state {
            Some(state) => put(&params, REQUEST_STATE, state)?,
            None => splice::remove_member(&params, REQUEST_STATE).unwrap_or(params),
        };
        with_params(call, &params, id)
    }

    /// Returns whether these `params` are those of a call that goes on from here.
    pub fn is_continued_by(&self, params: &[u8]) -> bool {
        match &self.state {
            Some(state) => member(params, REQUEST_STATE) == Some(state.as_bytes()),
            None => {
                let given = member(params, INPUT_RESPONSES).and_then(entries).unwrap_or_default();
                member(params, REQUEST_STATE).is_none()
                    && self.batch.has_keys(|key| given.iter().any(|(it, _)| it == key))
            }
        }
    }
}

/// The error of a call that needs pages to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlsRequired {
    /// What to open.
    pub batch: Batch,
    /// The IDs by which the server says that a page is done with.
    pub ids: Vec<String>,
}

impl UrlsRequired {
    /// Reads the `error` of a call. `None` if it asks for no page, or for something else as well.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn read(error: &[u8]) -> Result<Option<(Question, Self)>, String> {
        let code = member(error, "code").and_then(|code| std::str::from_utf8(code).ok()?.parse::<i32>().ok());
        if code != Some(URLS_REQUIRED) {
            return Ok(None);
        }
        let listed = member(error, "data").and_then(|data| member(data, "elicitations")).unwrap_or_default();
        let all: Vec<&RawValue> =
            serde_json::from_slice(listed).map_err(|_| "data.elicitations is not a list")?;
        if all.iter().any(|one| Mode::of(one.get().as_bytes()) != Some(Mode::Url)) {
            return Ok(None);
        }
        let named = |one: &RawValue| elicitation_id(one.get().as_bytes());
        let ids = all.iter().filter_map(|one| named(one)).collect();
        let keyed = all.iter().enumerate().map(|(place, one)| (place.to_string(), one.get().as_bytes()));
        let read = Batch::read(keyed).map_err(|why| format!("data.elicitations.{why}"))?;
        Ok(read.map(|(question, batch)| (question, UrlsRequired { batch, ids })))
    }
}

/// Returns the ID by which the server says that a page is done with.
pub fn elicitation_id(params: &[u8]) -> Option<String> {
    Some(scan::text(member(params, "elicitationId")?)?.into_owned())
}

/// Returns the request of a call as it was before the server needed anything, under this ID.
pub fn from_the_start(call: &[u8], id: &str) -> Option<Vec<u8>> {
    let params = member(call, "params")?.to_vec();
    let params = splice::remove_member(&params, INPUT_RESPONSES).unwrap_or(params);
    let params = splice::remove_member(&params, REQUEST_STATE).unwrap_or(params);
    with_params(call, &params, id)
}

/// Returns whether an error says that the state of a call has expired: mcp 2.3.0 takes it back for ten minutes.
pub fn is_expired(error: &[u8]) -> bool {
    let reason = member(error, "data").and_then(|data| scan::text(member(data, "reason")?));
    reason.as_deref() == Some("invalid_request_state")
}

fn with_params(call: &[u8], params: &[u8], id: &str) -> Option<Vec<u8>> {
    let call = splice::replace_member(call, "params", std::str::from_utf8(params).ok()?)?;
    splice::replace_member(&call, "id", id)
}

/// Returns the members of an object. `None` if it is none, or has a member twice.
fn entries(object: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let mut members = Members::enter(object).ok()?;
    let mut all: Vec<(String, &[u8])> = Vec::new();
    while let Some(key) = members.key().ok()? {
        let key = key.unescaped()?.into_owned();
        if all.iter().any(|(other, _)| *other == key) {
            return None;
        }
        all.push((key, members.value().ok()?));
    }
    Some(all)
}

/// Gives an object this value for a member, which it may have already.
fn put(object: &[u8], name: &str, value: &str) -> Option<Vec<u8>> {
    splice::replace_member(object, name, value).or_else(|| splice::insert(object, &[name], value))
}
