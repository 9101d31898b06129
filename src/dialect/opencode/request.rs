//! An open question or permission of opencode's, and the call that answers it.

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{
    ending::{Decision, Ending},
    path::encode,
    permission::PermissionRequest,
    question::{self, QuestionRequest},
};
use crate::{
    limits,
    question::{Outcome, Question, Value},
};

/// An open question or permission.
#[derive(Clone, Debug, PartialEq)]
pub struct OpencodeRequest {
    /// The question, with opencode's ID.
    pub question: Question,
    is_permission: bool,
}

/// A request over HTTP that answers a question or a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The path.
    pub path: String,
    /// The body, as JSON.
    pub body: Option<String>,
    /// How the question ends by it.
    pub ending: Ending,
}

/// What a response to a [`Call`] means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// opencode has the answer.
    Taken,
    /// The question is not open any more.
    TooLate,
    /// The response is not one of opencode's interface, or an error. The text says which.
    Failed(String),
    /// opencode, or what stands before it, failed: it is not known whether it has the answer. The text says how.
    Unclear(String),
}

impl OpencodeRequest {
    /// Reads the properties of `question.asked` or an entry of `GET /question`.
    pub(super) fn question(json: &str) -> Option<Self> {
        Self::read(json, false, |json| serde_json::from_str::<QuestionRequest>(json).ok()?.into_question())
    }

    /// Reads the properties of `permission.asked` or an entry of `GET /permission`.
    pub(super) fn permission(json: &str) -> Option<Self> {
        Self::read(json, true, |json| serde_json::from_str::<PermissionRequest>(json).ok()?.into_question())
    }

    fn read(json: &str, is_permission: bool, read: impl Fn(&str) -> Option<Question>) -> Option<Self> {
        let question = Some(json).filter(|json| json.len() <= limits::QUESTION).and_then(read)?;
        // A reply to an empty ID would be answered by the web page with 200.
        is_id(&question.id).then_some(OpencodeRequest { question, is_permission })
    }

    /// Returns the call that answers or rejects it. `remark` is why it is rejected, in the person's own words.
    pub fn call(&self, outcome: &Outcome, remark: Option<&str>) -> Call {
        let id = encode(&self.question.id);
        if self.is_permission {
            let decision = decision(outcome);
            let message = remark.filter(|_| decision == Decision::Reject);
            let body = match message {
                Some(message) => json!({ "reply": decision, "message": message }),
                None => json!({ "reply": decision }),
            };
            let path = format!("/permission/{id}/reply");
            return Call { path, body: Some(body.to_string()), ending: Ending::Decided(decision) };
        }
        match outcome {
            Outcome::Answered(answer) => {
                let ending = question::ending(&self.question, answer);
                let Ending::Answered(answers) = &ending else { return self.rejection(&id) };
                let body = json!({ "answers": answers }).to_string();
                Call { path: format!("/question/{id}/reply"), body: Some(body), ending }
            }
            _ => self.rejection(&id),
        }
    }

    fn rejection(&self, id: &str) -> Call {
        Call { path: format!("/question/{id}/reject"), body: None, ending: Ending::Rejected }
    }
}

/// Returns what to say to a permission. Only its own option allows it (I12).
fn decision(outcome: &Outcome) -> Decision {
    let Outcome::Answered(answer) = outcome else { return Decision::Reject };
    let chosen = answer.values.values().find_map(|value| match value {
        Value::Text(text) => Some(&**text),
        _ => None,
    });
    match chosen {
        Some("once") => Decision::Once,
        Some("always") => Decision::Always,
        _ => Decision::Reject,
    }
}

fn is_id(id: &str) -> bool {
    id.len() <= limits::ID && id.starts_with(|char: char| char.is_ascii_alphanumeric())
}

/// Reads the body of `GET /question` or `GET /permission`. An entry that is not understood is left out. `None` where the
/// body is no list, such as the web page that opencode returns for an unknown path.
pub fn list(body: &[u8], permissions: bool) -> Option<Vec<OpencodeRequest>> {
    let entries: Vec<&RawValue> = serde_json::from_slice(body).ok()?;
    let read = if permissions { OpencodeRequest::permission } else { OpencodeRequest::question };
    Some(entries.into_iter().filter_map(|entry| read(entry.get())).collect())
}

/// Reads the response to a [`Call`].
pub fn verdict(status: u16, body: &[u8]) -> Verdict {
    #[derive(Deserialize)]
    struct Failure {
        #[serde(rename = "_tag")]
        tag: Option<String>,
        name: Option<String>,
    }
    match (status, serde_json::from_slice::<Failure>(body)) {
        (500.., _) => Verdict::Unclear(status.to_string()),
        // An unknown path is answered with the web page and 200.
        (200, _) if body.trim_ascii() == b"true" => Verdict::Taken,
        (404, Ok(Failure { tag: None, name: None })) | (404, Err(_)) => {
            Verdict::Failed("404 without opencode's error".to_owned())
        }
        (404, Ok(_)) => Verdict::TooLate,
        (200, _) => Verdict::Failed("200 with a body that is not opencode's".to_owned()),
        (status, Ok(Failure { tag, name })) => {
            Verdict::Failed(format!("{status} {}", tag.or(name).unwrap_or_default()))
        }
        (status, Err(_)) => Verdict::Failed(status.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_judged() {
        let late = br#"{"_tag":"QuestionNotFoundError","requestID":"q","message":"m"}"#;
        assert_eq!(verdict(200, b"true\n"), Verdict::Taken);
        assert_eq!(verdict(404, late), Verdict::TooLate);
        assert_eq!(verdict(404, br#"{"name":"NotFoundError","data":{}}"#), Verdict::TooLate);
        assert_eq!(verdict(502, br#"{"name":"UnknownError"}"#), Verdict::Unclear("502".to_owned()));
        for (status, body) in [
            (200, &b"<!doctype html>"[..]),
            (404, b"<html>"),
            (404, b"{}"),
            (400, b"{}"),
            (401, b""),
            (200, b"false"),
        ] {
            assert!(matches!(verdict(status, body), Verdict::Failed(_)), "{status}");
        }
    }

    #[test]
    fn a_list_leaves_out_what_is_not_understood() {
        let entry = r#"{"id":"q","sessionID":"s","questions":[{"question":"?","header":"","options":[]}]}"#;
        let listed = list(format!("[5,{entry},{{}}]").as_bytes(), false).expect("a list");
        assert_eq!(listed.len(), 1);
        assert_eq!(list(b"<!doctype html>", false), None);
        assert_eq!(list(b"{}", true), None);
        assert_eq!(list(b"[]", true), Some(Vec::new()));
    }
}
