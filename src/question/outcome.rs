//! How a question ended: answered, or rejected with a reason; and which responder settled it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Answer, names::open_enum};

/// How a question ended. On the wire it is one object with a `status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "TaggedOutcome", into = "TaggedOutcome")]
#[non_exhaustive]
pub enum Outcome {
    /// A responder answered.
    Answered(Answer),
    /// The question ended without an answer.
    Rejected(Reason),
    /// The client failed, or replied with something that only the agent may understand: the agent got the reply as it was.
    Failed,
    /// An outcome of another version, with all its members. It is written again as it was.
    Unknown(Map<String, Json>),
}

impl Outcome {
    /// Returns the name of the outcome, as it stands in `status`.
    pub fn status(&self) -> &str {
        match self {
            Outcome::Answered(_) => "answered",
            Outcome::Rejected(_) => "rejected",
            Outcome::Failed => "failed",
            Outcome::Unknown(members) => members.get("status").and_then(Json::as_str).unwrap_or("unknown"),
        }
    }
}

/// How a question ended: one object with a `status`.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "Outcome", title = "Outcome"))]
enum TaggedOutcome {
    /// A responder answered.
    Answered(Answer),
    /// The question ended without an answer.
    Rejected {
        /// Why it was rejected.
        reason: Reason,
    },
    /// The client failed, or replied with something that only the agent may understand.
    Failed,
    /// An outcome that this version does not know, with all its members.
    #[serde(untagged)]
    Unknown(Map<String, Json>),
}

impl From<TaggedOutcome> for Outcome {
    fn from(tagged: TaggedOutcome) -> Self {
        match tagged {
            TaggedOutcome::Answered(answer) => Outcome::Answered(answer),
            TaggedOutcome::Rejected { reason } => Outcome::Rejected(reason),
            TaggedOutcome::Failed => Outcome::Failed,
            TaggedOutcome::Unknown(members) => Outcome::Unknown(members),
        }
    }
}

impl From<Outcome> for TaggedOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answered(answer) => TaggedOutcome::Answered(answer),
            Outcome::Rejected(reason) => TaggedOutcome::Rejected { reason },
            Outcome::Failed => TaggedOutcome::Failed,
            Outcome::Unknown(members) => TaggedOutcome::Unknown(members),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Outcome {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        TaggedOutcome::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        TaggedOutcome::json_schema(generator)
    }
}

open_enum! {
    /// Why a question was rejected.
    pub enum Reason {
        /// The person did not want to answer.
        User = "user",
        /// The turn was cancelled.
        Cancelled = "cancelled",
        /// The agent took the question back.
        Withdrawn = "withdrawn",
        /// No answer came in time.
        Timeout = "timeout",
        /// The person wrote in the chat instead.
        RepliedInChat = "replied_in_chat",
        /// The client went away.
        ClientGone = "client_gone",
        /// The agent ended.
        AgentGone = "agent_gone",
        /// The session was closed or deleted.
        SessionClosed = "session_closed",
        /// The bridge was told to end.
        Shutdown = "shutdown",
        /// A rule of the person's rejects such questions.
        Policy = "policy",
    }
}

/// The responder that settled a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The kind of responder.
    pub responder: Responder,
    /// The name that the responder gave itself, such as that of a client in `initialize`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Provenance {
    /// Returns the bridge itself, which settles a question because of something that happened.
    pub fn bridge() -> Self {
        Provenance { responder: Responder::Bridge, name: None }
    }
}

open_enum! {
    /// What can settle a question.
    pub enum Responder {
        /// The client, over ACP.
        Client = "client",
        /// The person, at the dialog that the agent itself shows, such as in its terminal.
        Dialog = "dialog",
        /// The bridge itself, because of something that happened.
        Bridge = "bridge",
        /// A person or a script at the command line.
        CommandLine = "command_line",
        /// A person at the full-screen inbox in a terminal.
        Terminal = "terminal",
        /// A client of the REST interface.
        Http = "http",
        /// A client of the control protocol.
        Rpc = "rpc",
        /// A person at the page that the HTTP server shows in a browser.
        Page = "page",
        /// A person at a notification: of the desktop, or of a phone.
        Notification = "notification",
        /// A rule that the person wrote beforehand, by its name.
        Rule = "rule",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_outcome_is_one_tagged_object() {
        let answer: Answer = serde_json::from_value(json!({ "values": { "f": "a" } })).expect("an answer");
        for (outcome, expected) in [
            (Outcome::Answered(answer), json!({ "status": "answered", "values": { "f": "a" } })),
            (Outcome::Rejected(Reason::User), json!({ "status": "rejected", "reason": "user" })),
            (Outcome::Failed, json!({ "status": "failed" })),
        ] {
            let written = serde_json::to_value(&outcome).expect("JSON");
            assert_eq!(written, expected);
            assert_eq!(serde_json::from_value::<Outcome>(written).expect("an outcome"), outcome);
        }
    }

    #[test]
    fn an_outcome_of_another_version_survives_a_round_trip() {
        for json in [
            json!({ "status": "escalated", "to": ["a"] }),
            json!({ "status": "rejected", "reason": "of_next_year" }),
            json!({ "status": "answered", "pages": 2 }),
            json!({ "status": "answered", "values": { "f": { "x": 1, "y": 2 } } }),
            json!({ "status": "rejected", "reason": "x".repeat(99) }),
            json!({ "status": 5 }),
            json!({}),
        ] {
            let outcome: Outcome = serde_json::from_value(json.clone()).expect("an outcome");
            assert_eq!(serde_json::to_value(&outcome).expect("JSON"), json);
        }
    }

    #[test]
    fn unknown_members_beside_known_ones_are_ignored_and_optional_ones_may_be_missing() {
        let read = |json| serde_json::from_value::<Outcome>(json).expect("an outcome");
        assert_eq!(
            read(json!({ "status": "answered", "values": {}, "mood": "grim" })),
            Outcome::Answered(Answer::default())
        );
        assert_eq!(
            read(json!({ "status": "rejected", "reason": "user", "mood": 1 })),
            Outcome::Rejected(Reason::User)
        );
        assert_eq!(read(json!({ "status": "failed", "mood": [] })), Outcome::Failed);
        let provenance = json!({ "responder": "phone", "app": "x" });
        let provenance: Provenance = serde_json::from_value(provenance).expect("a provenance");
        assert_eq!((provenance.responder.name(), provenance.name), ("phone", None));
    }
}
