//! What became of a question: answered, or rejected with a reason; and by whom.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values for the fields of a question, by field name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What was chosen or typed. A field that nobody answered is not in it.
    pub values: BTreeMap<String, Value>,
    /// What was remarked beside it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

/// The value of one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A text, or the value of the chosen option.
    Text(String),
    /// The values of the chosen options, and texts that were added.
    Many(Vec<String>),
    /// True or false, or yes or no.
    Flag(bool),
    /// A number.
    Number(#[schemars(with = "f64")] serde_json::Number),
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Somebody answered.
    Answered(Answer),
    /// Nobody will.
    Rejected(Reason),
    /// The client failed, or said something that only the agent may understand: the agent got it as it was.
    Failed,
}

/// Why a question was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The person did not want to answer.
    User,
    /// The turn was cancelled.
    Cancelled,
    /// The agent took it back.
    Withdrawn,
    /// Nobody answered in time.
    Timeout,
    /// The person wrote in the chat instead.
    RepliedInChat,
    /// The client went away.
    ClientGone,
    /// The agent ended.
    AgentGone,
    /// The session was closed or deleted.
    SessionClosed,
    /// The bridge was told to end.
    Shutdown,
    /// A rule says that it is not to be asked.
    Policy,
}

impl Reason {
    /// Returns its name on the wire and in logs.
    pub fn name(self) -> &'static str {
        match self {
            Reason::User => "user",
            Reason::Cancelled => "cancelled",
            Reason::Withdrawn => "withdrawn",
            Reason::Timeout => "timeout",
            Reason::RepliedInChat => "replied_in_chat",
            Reason::ClientGone => "client_gone",
            Reason::AgentGone => "agent_gone",
            Reason::SessionClosed => "session_closed",
            Reason::Shutdown => "shutdown",
            Reason::Policy => "policy",
        }
    }
}

/// Who settled a question, and under which name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// What kind of responder.
    pub responder: Responder,
    /// Its name, where it told one: a client tells its own in `initialize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Provenance {
    /// The bridge itself, because of something that happened.
    pub fn bridge() -> Self {
        Provenance { responder: Responder::Bridge, name: None }
    }
}

/// What can settle a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Responder {
    /// The client, over ACP.
    Client,
    /// The bridge, because of something that happened.
    Bridge,
    /// Somebody at the command line.
    CommandLine,
    /// Somebody over HTTP.
    Http,
    /// Somebody over JSON-RPC.
    Rpc,
}
