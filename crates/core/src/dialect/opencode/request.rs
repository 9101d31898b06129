//! opencode's HTTP interface: the open questions and permissions, the calls that answer them, the events of the stream
//! of one project (`/event`) or of all (`/global/event`), the encoding of a path, and the projects that a server knows,
//! of which few are open in it. Sending and receiving is left to the adapter.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::question::{self, Decision, Ending, PermissionRequest, QuestionRequest};
use crate::{
    dialect::unshown,
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
    /// The end of the question that the call causes.
    pub ending: Ending,
}

/// The meaning of a response to a [`Call`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// opencode has the answer.
    Taken,
    /// The question is not open any more.
    TooLate,
    /// The response is not one of opencode's interface, or an error. The text says which.
    Failed(String),
    /// opencode, or a proxy in front of it, failed: it is not known whether opencode has the answer. The text says how.
    Unclear(String),
}

impl OpencodeRequest {
    /// Reads the properties of `question.asked` or an entry of `GET /question`.
    pub(super) fn question(json: &str) -> Option<Self> {
        Self::read(json, false, |json| serde_json::from_str::<QuestionRequest>(json).ok()?.into_question())
    }

    /// Reads the properties of `permission.asked` or an entry of `GET /permission`.
    pub(super) fn permission(json: &str) -> Option<Self> {
        Self::read(json, true, |json| {
            serde_json::from_str::<PermissionRequest>(json).ok()?.into_question(json)
        })
    }

    fn read(json: &str, is_permission: bool, read: impl Fn(&str) -> Option<Question>) -> Option<Self> {
        let mut question = Some(json).filter(|json| !unshown::is_too_long(json.as_bytes())).and_then(read)?;
        unshown::add(&mut question, json.as_bytes());
        // opencode would respond to a call with an empty ID with its web page, and 200.
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

/// Returns the decision on a permission. Only the choice of an option that allows it allows a permission (I12).
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

/// Reads the body of `GET /question` or `GET /permission`. An entry that is not understood is left out. `None` if
/// the body is no list, such as the web page that opencode returns for an unknown path.
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
        // The server may have taken the answer before it failed.
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

/// The meaning of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum OpencodeEvent {
    /// A question or a permission is open.
    Asked(Box<OpencodeRequest>),
    /// A question or a permission has ended.
    Ended {
        /// Its ID.
        id: String,
        /// How it ended.
        ending: Ending,
    },
    /// opencode has closed a project: nothing in it is open any more.
    Disposed,
    /// Something else.
    Other,
}

/// An event, and the project that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedEvent {
    /// The folder of the project, if the stream is of all projects.
    pub directory: Option<String>,
    /// The event.
    pub event: OpencodeEvent,
}

/// An event of `/event`, or the envelope of one in `/global/event`.
#[derive(Deserialize)]
struct EventEnvelope<'a> {
    directory: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ReplyProperties {
    #[serde(rename = "requestID")]
    id: String,
    answers: Option<Vec<Vec<String>>>,
    reply: Option<Decision>,
}

/// An event of either stream.
pub(super) struct Happened<'a> {
    directory: Option<String>,
    pub(super) kind: String,
    pub(super) properties: Option<&'a RawValue>,
}

impl<'a> Happened<'a> {
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let EventEnvelope { directory, payload, kind, properties } = serde_json::from_slice(data).ok()?;
        let (kind, properties) = match payload {
            Some(payload) => {
                let inner: EventEnvelope<'_> = serde_json::from_str(payload.get()).ok()?;
                (inner.kind?, inner.properties)
            }
            None => (kind?, properties),
        };
        Some(Happened { directory, kind, properties })
    }
}

/// Reads the data of an event. Returns `None` for any other line.
pub fn read_event(data: &[u8]) -> Option<LocatedEvent> {
    let Happened { directory, kind, properties } = Happened::read(data)?;
    let event =
        properties.and_then(|properties| of_kind(&kind, properties.get())).unwrap_or(OpencodeEvent::Other);
    Some(LocatedEvent { directory, event })
}

fn of_kind(kind: &str, properties: &str) -> Option<OpencodeEvent> {
    let replied = || serde_json::from_str::<ReplyProperties>(properties).ok();
    let ended = |id: String, ending| Some(OpencodeEvent::Ended { id, ending });
    match kind {
        "question.asked" => {
            OpencodeRequest::question(properties).map(|request| OpencodeEvent::Asked(Box::new(request)))
        }
        "permission.asked" => {
            OpencodeRequest::permission(properties).map(|request| OpencodeEvent::Asked(Box::new(request)))
        }
        "question.replied" => replied().and_then(|end| ended(end.id, Ending::Answered(end.answers?))),
        "question.rejected" => replied().and_then(|end| ended(end.id, Ending::Rejected)),
        "permission.replied" => replied().and_then(|end| ended(end.id, Ending::Decided(end.reply?))),
        "server.instance.disposed" => Some(OpencodeEvent::Disposed),
        _ => None,
    }
}

/// Encodes a text so that it is one segment of a path, or one value of a query.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'.' => encoded.push(byte.into()),
            // Writing to a `String` does not fail.
            _ => write!(encoded, "%{byte:02X}").unwrap_or_default(),
        }
    }
    encoded
}

/// A project of `GET /project`.
#[derive(Deserialize)]
struct Project {
    worktree: String,
    time: ProjectTime,
}

#[derive(Deserialize)]
struct ProjectTime {
    updated: f64,
}

/// Reads the body of `GET /project`, and returns the folders of the projects that were used since this time, in
/// milliseconds since 1970, most recent first.
///
/// Only these projects are asked for open requests: any request about a project makes opencode start it, with its
/// servers.
pub fn used_since(body: &[u8], since: f64) -> Vec<String> {
    let mut projects: Vec<Project> = serde_json::from_slice(body).unwrap_or_default();
    // `/` stands for all folders that belong to no project.
    projects.retain(|project| project.time.updated >= since && project.worktree != "/");
    projects.sort_by(|left, right| right.time.updated.total_cmp(&left.time.updated));
    projects.into_iter().map(|project| project.worktree).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::question::{Answer, Outcome, Reason};

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

    fn read(json: Json) -> LocatedEvent {
        super::read_event(json.to_string().as_bytes()).expect("an event")
    }

    fn asked(json: Json) -> OpencodeRequest {
        match read(json).event {
            OpencodeEvent::Asked(request) => *request,
            event => panic!("{event:?}"),
        }
    }

    fn question() -> OpencodeRequest {
        asked(json!({ "id": "evt_1", "type": "question.asked", "properties": {
            "id": "que_1", "sessionID": "ses_1", "tool": { "messageID": "m", "callID": "call_1" },
            "questions": [
                { "question": "Which?", "header": "DB", "options": [{ "label": "A", "description": "a" }, { "label": "B", "description": "" }] },
                { "question": "Which parts?", "header": "", "multiple": true, "custom": false, "options": [{ "label": "C", "description": "" }] },
                { "question": "Why?", "header": "", "options": [] },
            ],
        } }))
    }

    fn answer(values: Json) -> Outcome {
        Outcome::Answered(Answer {
            values: serde_json::from_value(values).expect("values"),
            ..Answer::default()
        })
    }

    #[test]
    fn a_question_is_read_and_answered() {
        let request = question();
        let json = serde_json::to_value(&request.question).expect("JSON");
        assert_eq!(json["questionId"], "que_1");
        assert_eq!((&json["sessionId"], &json["toolCallId"]), (&json!("ses_1"), &json!("call_1")));
        let kinds = ["choice", "choices", "text"];
        for (field, kind) in json["fields"].as_array().expect("fields").iter().zip(kinds) {
            assert_eq!(field["kind"], kind);
        }
        assert_eq!((&json["fields"][0]["other"], &json["fields"][1]["other"]), (&json!(true), &json!(false)));
        let call = request.call(&answer(json!({ "q0": "typed", "q1": ["C"], "q2": "so" })), Some("unused"));
        assert_eq!(call.path, "/question/que_1/reply");
        assert_eq!(call.body.as_deref(), Some(r#"{"answers":[["typed"],["C"],["so"]]}"#));
        let call = request.call(&Outcome::Rejected(Reason::User), Some("no"));
        assert_eq!((&*call.path, call.body, call.ending), ("/question/que_1/reject", None, Ending::Rejected));
    }

    #[test]
    fn the_end_of_a_question_is_the_outcome_that_a_call_leads_to() {
        let request = question();
        let outcome = answer(json!({ "q0": "B", "q1": ["C"], "q2": "so" }));
        let replied = read(json!({ "directory": "/p", "project": "x", "payload": {
            "id": "e", "type": "question.replied",
            "properties": { "sessionID": "s", "requestID": "que_1", "answers": [["B"], ["C"], ["so"]] },
        } }));
        assert_eq!(replied.directory.as_deref(), Some("/p"));
        let ending = request.call(&outcome, None).ending;
        assert_eq!(replied.event, OpencodeEvent::Ended { id: "que_1".to_owned(), ending: ending.clone() });
        assert_eq!(ending.outcome(&request.question), outcome);
        let rejected =
            json!({ "type": "question.rejected", "properties": { "sessionID": "s", "requestID": "q" } });
        let rejected = read(rejected).event;
        assert_eq!(rejected, OpencodeEvent::Ended { id: "q".to_owned(), ending: Ending::Rejected });
        assert_eq!(Ending::Rejected.outcome(&request.question), Outcome::Rejected(Reason::User));
    }

    fn permission(permission: &str, patterns: Json, metadata: Json, always: Json) -> OpencodeRequest {
        asked(json!({ "id": "e", "type": "permission.asked", "properties": {
            "id": "per_1", "sessionID": "s", "permission": permission, "patterns": patterns,
            "metadata": metadata, "always": always,
        } }))
    }

    #[test]
    fn a_command_is_allowed_by_its_own_options_only() {
        let request = permission("bash", json!(["rm -rf x"]), json!({}), json!(["rm *"]));
        let question = &request.question;
        assert_eq!(question.message, "rm -rf x");
        let command = question.subject.as_ref().and_then(|subject| subject.command.as_deref());
        assert_eq!(command, Some("rm -rf x"));
        let options = question.fields[0].kind.options();
        let values: Vec<_> = options.iter().map(|option| &*option.value).collect();
        assert_eq!(values, ["once", "always", "reject"]);
        assert_eq!(options[1].grants, ["From now on: rm *"]);
        for (outcome, remark, body) in [
            (answer(json!({ "q0": "once" })), Some("x"), json!({"reply":"once"})),
            (answer(json!({ "q0": "always" })), None, json!({"reply":"always"})),
            (answer(json!({ "q0": "reject" })), None, json!({"reply":"reject"})),
            (answer(json!({ "q0": "ALWAYS" })), None, json!({"reply":"reject"})),
            (answer(json!({})), None, json!({"reply":"reject"})),
            (Outcome::Failed, None, json!({"reply":"reject"})),
            (Outcome::Rejected(Reason::User), Some("no"), json!({"message":"no","reply":"reject"})),
        ] {
            let call = request.call(&outcome, remark);
            assert_eq!(call.path, "/permission/per_1/reply");
            let written: Json = serde_json::from_str(&call.body.expect("a body")).expect("JSON");
            assert_eq!(written, body);
        }
    }

    #[test]
    fn the_subject_of_a_permission_says_what_would_happen() {
        let edit = permission(
            "edit",
            json!(["src/main.rs"]),
            json!({ "filepath": "/p/src/main.rs", "diff": "-a\n+b\n" }),
            json!([]),
        );
        let subject = edit.question.subject.as_ref().expect("a subject");
        assert_eq!((subject.kind.as_deref(), subject.patch.as_deref()), (Some("edit"), Some("-a\n+b\n")));
        assert_eq!(subject.locations, ["/p/src/main.rs"]);
        assert_eq!(edit.question.message, "/p/src/main.rs");
        assert_eq!(edit.question.fields[0].kind.options().len(), 2, "nothing would be remembered");
        for (name, patterns, message) in [
            ("webfetch", json!([]), "Permission to use webfetch"),
            ("docs_search", json!(["*"]), "Permission to use docs_search"),
            ("external_directory", json!(["/etc/*"]), "external_directory: /etc/*"),
        ] {
            assert_eq!(permission(name, patterns, json!({}), json!([])).question.message, message);
        }
    }

    #[test]
    fn the_end_of_a_permission_says_what_was_chosen() {
        let request = permission("bash", json!(["ls"]), json!({}), json!(["ls"]));
        for (reply, outcome) in [
            ("once", answer(json!({ "q0": "once" }))),
            ("always", answer(json!({ "q0": "always" }))),
            ("reject", Outcome::Rejected(Reason::User)),
        ] {
            let event = json!({ "type": "permission.replied", "properties": { "requestID": "per_1", "reply": reply } });
            let OpencodeEvent::Ended { ending, .. } = read(event).event else { panic!("no end") };
            assert_eq!(ending.outcome(&request.question), outcome);
        }
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for (kind, properties) in [
            ("question.asked", json!({ "id": "", "sessionID": "s", "questions": [{ "question": "?" }] })),
            ("question.asked", json!({ "id": "../x", "sessionID": "s", "questions": [{ "question": "?" }] })),
            ("question.asked", json!({ "id": "q", "sessionID": "s", "questions": [] })),
            ("question.asked", json!({ "id": "q", "questions": 5 })),
            ("question.v2.asked", json!({ "id": "q", "sessionID": "s", "questions": [{ "question": "?" }] })),
            ("permission.asked", json!({ "id": "p", "sessionID": "s" })),
            ("permission.replied", json!({ "requestID": "p", "reply": "maybe" })),
            ("message.part.updated", json!({})),
        ] {
            assert_eq!(
                read(json!({ "type": kind, "properties": properties })).event,
                OpencodeEvent::Other,
                "{kind}"
            );
        }
        for text in ["", "<!doctype html>", "[]", "{}", r#"{"payload":5}"#] {
            assert_eq!(super::read_event(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn everything_but_unreserved_characters_is_encoded() {
        assert_eq!(encode("/src/a b&c=ä"), "%2Fsrc%2Fa%20b%26c%3D%C3%A4");
        assert_eq!(encode("que_1-2.3~X"), "que_1-2.3~X");
    }

    #[test]
    fn only_projects_of_late_are_returned() {
        let body = br#"[{"id":"a","worktree":"/a","time":{"created":1,"updated":50}},
            {"id":"b","worktree":"/b","time":{"created":1,"updated":99.5}},
            {"id":"c","worktree":"/c","time":{"created":1,"updated":9}},
            {"id":"global","worktree":"/","time":{"created":1,"updated":70}}]"#;
        assert_eq!(used_since(body, 50.0), ["/b", "/a"]);
        assert!(used_since(b"<html>", 0.0).is_empty());
    }
}
