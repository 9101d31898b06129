//! The closed list of dialects: which dialect a request belongs to, and how its agent is answered.
//! How a dialect looks on the wire is left to its own module. Dialects do not know this file.

use serde_json::value::RawValue;

use super::{
    agent_dialect::{AgentDialect, Rejection, Reply, ShownBy},
    ask_user::{self, AskUserReply},
    cursor::CursorReply,
    elicitation::FormReply,
    grok::GrokReply,
    kiro::KiroReply,
    permission::PermissionReply,
    sandboxagent::ExtensionReply,
    unshown,
};
use crate::{
    question::{Answer, Origin, Question},
    wire::scan::Text,
};

/// A question, and how to answer the agent that asked it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentQuestion {
    /// The question.
    pub question: Question,
    /// The format of the reply.
    pub reply_format: ReplyFormat,
}

/// Defines [`ReplyFormat`] and the functions below from one list, so that a dialect is registered in one row.
macro_rules! dialects {
    ($($(#[$doc:meta])+ $name:ident($format:ty),)+) => {
        /// The format of the reply to the agent that asked: its dialect, and what its request said about the reply.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum ReplyFormat {
            $($(#[$doc])+ $name($format),)+
        }

        impl ReplyFormat {
            /// Returns which clients show the agent's own request.
            pub fn shown_by(&self) -> Option<ShownBy> {
                match self {
                    $(ReplyFormat::$name(format) => format.shown_by(),)+
                }
            }

            /// Writes an answer that fits the question, as the `result` for the agent.
            pub fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
                match self {
                    $(ReplyFormat::$name(format) => format.write_answer(question, answer),)+
                }
            }

            /// Writes a rejection, as the `result` for the agent.
            pub fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
                match self {
                    $(ReplyFormat::$name(format) => format.write_rejection(rejection),)+
                }
            }

            /// Reads the `result` of a client that was sent the agent's own request.
            pub fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
                match self {
                    $(ReplyFormat::$name(format) => format.read_reply(question, result),)+
                }
            }
        }

        /// The origins of the dialects. Each row has the name of the origin of its questions.
        pub const ORIGINS: &[Origin] = &[$(Origin::$name),+];

        /// The methods of each dialect.
        const METHODS: &[&[&str]] = &[$(<$format as AgentDialect>::METHODS),+];

        /// The methods whose requests some clients show.
        const SHOWN: &[Option<(&str, ShownBy)>] = &[$(<$format as AgentDialect>::SHOWN_BY),+];

        /// Reads a request in the first dialect that has its method.
        fn read_registered(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<AgentQuestion>, String> {
            $(
                if <$format as AgentDialect>::reads(method) {
                    let read = <$format as AgentDialect>::read(method, params, fallback_id)?;
                    return Ok(read.map(|(question, format)| AgentQuestion {
                        question,
                        reply_format: ReplyFormat::$name(format),
                    }));
                }
            )+
            Ok(None)
        }
    };
}

// The dialects in the order in which a method is looked up. To add one, add its file and one row here.
dialects! {
    /// The extension `_sandboxagent/session/request_question`.
    SandboxAgent(ExtensionReply),
    /// A permission request that is a question.
    Permission(PermissionReply),
    /// A form of the ACP standard.
    Elicitation(FormReply),
    /// Cursor's extension.
    Cursor(CursorReply),
    /// Grok's extension.
    Grok(GrokReply),
    /// Kiro's extension.
    Kiro(KiroReply),
    /// The extension `…/ask_user` of several agents.
    AskUser(AskUserReply),
}

/// Returns the methods of requests that may be questions, as far as they are known by name.
pub fn methods() -> impl Iterator<Item = &'static str> {
    METHODS.iter().copied().flatten().copied()
}

/// Returns whether a request with this method may be a question.
pub fn may_ask(method: &Text<'_>) -> bool {
    methods().any(|known| method.is(known)) || ask_user::may_ask(method)
}

/// Returns which clients show requests with this method.
pub fn shown_by(method: &str) -> Option<ShownBy> {
    SHOWN.iter().flatten().find(|(shown, _)| *shown == method).map(|(_, clients)| *clients)
}

/// Reads a request as a question. `fallback_id` is the question's id if the agent did not name it.
///
/// Returns `None` if the request is not a question, and is forwarded to the client unchanged. The error says what is
/// wrong and where, for the agent's developer.
pub fn read(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<AgentQuestion>, String> {
    let mut asked = read_registered(method, params, fallback_id)?;
    if let Some(AgentQuestion { question, .. }) = &mut asked {
        unshown::add(question, params);
        question.check_limits()?;
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_belongs_to_one_dialect() {
        let mut methods: Vec<_> = methods().collect();
        let count = methods.len();
        methods.sort_unstable();
        methods.dedup();
        assert_eq!(methods.len(), count);
    }
}
