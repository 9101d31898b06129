//! The events of opencode's stream, of one project (`/event`) or of all (`/global/event`).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    ending::{Decision, Ending},
    request::OpencodeRequest,
};

/// What an event tells.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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

/// An event, and where it belongs.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedEvent {
    /// The folder of the project, where the stream is of all projects.
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

/// Reads the data of an event. Returns `None` for what is none.
pub fn read_event(data: &[u8]) -> Option<LocatedEvent> {
    let EventEnvelope { directory, payload, kind, properties } = serde_json::from_slice(data).ok()?;
    let (kind, properties) = match payload {
        Some(payload) => {
            let inner: EventEnvelope<'_> = serde_json::from_str(payload.get()).ok()?;
            (inner.kind?, inner.properties)
        }
        None => (kind?, properties),
    };
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

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::question::{Answer, Outcome, Reason};

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
        assert_eq!(options[1].description.as_deref(), Some("From now on: rm *"));
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
}
