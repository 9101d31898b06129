//! The manners of released clients that reply to a request without a person, or end the connection because of it. Which
//! client and version has which manner is left to `docs/mocks.md`.

use serde_json::{Value, json};

use super::permission;
use crate::message::{METHOD_NOT_FOUND, RpcError};

/// JSON-RPC: the handler failed.
const INTERNAL_ERROR: i64 = -32603;

/// Declares the manners, and the list of them.
macro_rules! manners {
    ($($(#[doc = $summary:literal])+ $variant:ident = $name:literal,)+) => {
        /// How a client replies without a person.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Manner {
            $($(#[doc = $summary])+ $variant,)+
        }

        impl Manner {
            /// All manners, in the order of the help text.
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// Returns its name on the command line.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns its line in the help text.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($summary),+).trim_ascii(),)+
                }
            }
        }
    };
}

manners! {
    /// Takes the first option that rejects, and declines forms
    DeclinesAtOnce = "declines-at-once",
    /// Cancels, although nobody cancelled the turn
    CancelsAtOnce = "cancels-at-once",
    /// Takes the first option that allows
    ApprovesFirst = "approves-first",
    /// Responds with an internal error
    Errors = "errors",
    /// Responds with the result `null`
    AnswersNull = "answers-null",
    /// Responds with an object that no request asks for
    AnswersObject = "answers-object",
    /// Never replies
    NeverReplies = "never-replies",
    /// Has one button for each kind of option, which takes the last option of that kind
    LabelsByKind = "labels-by-kind",
    /// Asks its person, and ends the connection if the ID of a request comes twice
    OneIdOnce = "one-id-once",
    /// Responds to a permission with the kind of an option in the place of the outcome
    MalformedOutcome = "malformed-outcome",
}

/// What a client does about a request.
#[derive(Debug)]
pub(super) enum MannerReply {
    Result(Value),
    Error(RpcError),
    /// No reply at all.
    Nothing,
    /// The person is asked.
    AskPerson,
}

impl Manner {
    /// Returns the name that the client gives itself, if its manner is known by the name.
    pub(super) fn client_name(self) -> Option<&'static str> {
        (self == Self::LabelsByKind).then_some("CodeCompanion.nvim")
    }

    /// Returns the reply to a request.
    pub(super) fn reply(self, method: &str, params: &Value) -> MannerReply {
        match (self, method) {
            (Self::OneIdOnce, _) => MannerReply::AskPerson,
            (Self::NeverReplies, _) => MannerReply::Nothing,
            (Self::Errors, _) => MannerReply::Error(RpcError::new(INTERNAL_ERROR, "internal error")),
            (Self::AnswersNull, _) => MannerReply::Result(Value::Null),
            (Self::AnswersObject, "session/request_permission") => MannerReply::Result(json!({})),
            (Self::AnswersObject, _) => MannerReply::Result(permission::cancelled()),
            (_, "session/request_permission") => MannerReply::Result(self.decide(params)),
            (Self::MalformedOutcome, _) => MannerReply::Nothing,
            (Self::DeclinesAtOnce, "elicitation/create") => {
                MannerReply::Result(json!({ "action": "decline" }))
            }
            (Self::DeclinesAtOnce, NATIVE) => MannerReply::Result(json!({ "status": "rejected" })),
            (Self::CancelsAtOnce, "elicitation/create") => MannerReply::Result(json!({ "action": "cancel" })),
            (Self::CancelsAtOnce, NATIVE) => MannerReply::Result(json!({ "outcome": "cancelled" })),
            _ => MannerReply::Error(RpcError::new(METHOD_NOT_FOUND, "method not found")),
        }
    }

    /// Returns the result for a permission request.
    fn decide(self, params: &Value) -> Value {
        let options = params["options"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is = |kind: &'static str| {
            move |option: &&Value| option["kind"].as_str().is_some_and(|it| it.starts_with(kind))
        };
        let taken = match self {
            Self::DeclinesAtOnce => options.iter().find(is("reject")),
            Self::ApprovesFirst => options.iter().find(is("allow")),
            Self::LabelsByKind => options.iter().rfind(is("allow_once")),
            Self::MalformedOutcome => return json!({ "outcome": "allow_once" }),
            _ => None,
        };
        let id = taken.and_then(|option| option["optionId"].as_str());
        id.map_or_else(permission::cancelled, permission::selected)
    }
}

/// The native request.
const NATIVE: &str = "_sandboxagent/session/request_question";
