//! The settings of a bridge that speaks ACP, and the ways in which a client can be asked a question. Choosing one of
//! them is left to `asking.rs`.

use crate::{
    dialect::{elicitation::FormReply, permission},
    engine,
};

/// The settings of a bridge.
#[derive(Clone, Debug)]
pub struct Config {
    /// The configuration of a bridge of any protocol.
    pub common: engine::Config,
    /// The only way to ask the client; `None` uses every capability that it declares.
    pub tier: Option<Tier>,
    /// Whether `initialize` advertises to each peer what the bridge adds to the other.
    pub advertise: bool,
    /// Whether the bridge says in the chat that a question waits for other responders.
    pub chat_hint: bool,
}

impl Default for Config {
    /// Asks the client in the way that it can show, and advertises what the bridge adds.
    fn default() -> Self {
        Config { common: engine::Config::default(), tier: None, advertise: true, chat_hint: true }
    }
}

/// One way to ask the client. They are tried in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// `_sandboxagent/session/request_question`.
    Extension,
    /// `elicitation/create`, as a form.
    Elicitation,
    /// `session/request_permission`, one field after the other.
    Permission,
    /// Not at all: other responders answer.
    None,
}

/// How the client is asked a question.
#[derive(Clone, Debug)]
pub(super) enum Presentation {
    /// By the agent's own request.
    Own,
    /// By the extension `_sandboxagent/session/request_question`.
    Extension,
    /// By a form, and how its content is read.
    Form(FormReply),
    /// By permission prompts, and how far they have come.
    Prompts(permission::PromptFlow),
    /// Not at all, or not any more.
    None,
}

impl Presentation {
    /// Returns its place in the order of the ways. The agent's own request comes before all of them.
    pub(super) fn tier(&self) -> Option<Tier> {
        match self {
            Presentation::Own => None,
            Presentation::Extension => Some(Tier::Extension),
            Presentation::Form(_) => Some(Tier::Elicitation),
            Presentation::Prompts(_) => Some(Tier::Permission),
            Presentation::None => Some(Tier::None),
        }
    }
}
