//! Plain settings of the mock agent, the mock client and the demo, and the names of dialects and client kinds.
//! How they are typed on a command line is left to the caller.

use std::{convert::Infallible, ffi::OsString, path::PathBuf, str::FromStr, time::Duration};

use crate::{AgentFault, Manner};

/// Settings of the mock agent.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// The dialect in which it asks.
    pub dialect: MockDialect,
    /// A transcript whose agent part is played instead of the built-in behaviour.
    pub script: Option<PathBuf>,
    /// Whether every line that is read or written is shown on stderr.
    pub wire: bool,
    /// The rule that the built-in behaviour breaks.
    pub fault: Option<AgentFault>,
}

impl AgentSettings {
    /// Returns settings for the built-in behaviour in this dialect.
    pub fn new(dialect: MockDialect) -> Self {
        Self { dialect, script: None, wire: false, fault: None }
    }
}

/// How long a person takes to read a request and to refuse it, at least. A bridge may take a client that is faster for
/// one that refuses by itself.
pub const REACTION: Duration = Duration::from_secs(1);

/// Settings of the mock client.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// What the client can show.
    pub kind: ClientKind,
    /// One answer for each field in turn; the last one is used for all further fields.
    pub answers: Vec<String>,
    /// What happens to a field if there are no answers at all.
    pub fallback: Fallback,
    /// The answer to each permission request, before all other settings.
    pub permission: Option<PermissionAnswer>,
    /// How the client replies without its person, before all other settings.
    pub manner: Option<Manner>,
    /// How long the person takes to refuse a request, at least.
    pub reaction: Duration,
    /// The prompt of the turn.
    pub prompt: String,
    /// How long the turn may take, from the start of the program.
    pub timeout: Option<Duration>,
    /// Whether every line is shown with its direction.
    pub wire: bool,
    /// The agent's command and its arguments.
    pub agent: Vec<OsString>,
}

impl ClientSettings {
    /// Returns settings for a client of this kind, which takes the first option of everything that this agent asks.
    pub fn new(kind: ClientKind, prompt: String, agent: Vec<OsString>) -> Self {
        let fallback = Fallback::TakeFirst;
        Self {
            kind,
            answers: Vec::new(),
            fallback,
            permission: None,
            manner: None,
            reaction: REACTION,
            prompt,
            timeout: None,
            wire: false,
            agent,
        }
    }
}

/// Settings of the demo: the bridge around the mock agent, with a client in this process.
#[derive(Clone, Debug)]
pub struct DemoSettings {
    /// The dialect in which the mock agent asks.
    pub dialect: MockDialect,
    /// What the client can show.
    pub kind: ClientKind,
    /// One answer for each field in turn; the last one is used for all further fields.
    pub answers: Vec<String>,
    /// Whether every line is shown with its direction.
    pub wire: bool,
    /// The prompt of each turn.
    pub prompts: Vec<String>,
    /// Whether the questions are shown on the page as well, in a browser.
    pub page: bool,
}

impl DemoSettings {
    /// Returns settings for a demo that asks at the terminal.
    pub fn new(dialect: MockDialect, kind: ClientKind, prompts: Vec<String>) -> Self {
        Self { dialect, kind, answers: Vec::new(), wire: false, prompts, page: false }
    }
}

/// What a client answers to every permission request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// The first option that allows once.
    Allow,
    /// The first option that allows always.
    Always,
    /// The first option that rejects.
    Reject,
    /// No option: the outcome is `cancelled`.
    Cancel,
    /// No reply at all, not even once the request is withdrawn.
    Ignore,
    /// The option with this ID.
    Option(String),
}

impl FromStr for PermissionAnswer {
    type Err = Infallible;

    fn from_str(typed: &str) -> Result<Self, Infallible> {
        Ok(match typed {
            "allow" => Self::Allow,
            "always" => Self::Always,
            "reject" => Self::Reject,
            "cancel" => Self::Cancel,
            "ignore" => Self::Ignore,
            // The prefix `id:` names an option whose ID is one of the words above. Some agents have an option
            // `cancel`.
            id => Self::Option(id.strip_prefix("id:").unwrap_or(id).to_owned()),
        })
    }
}

/// What a client does about a field that has no prepared answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Asks at the terminal.
    AskPerson,
    /// Takes the first option, or `text`, 1 or true where there are no options.
    TakeFirst,
    /// Rejects the question.
    Reject,
    /// Leaves the question open until the agent withdraws it.
    LeaveOpen,
}

/// Declares the dialects, and the list of them.
macro_rules! dialects {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// The dialect in which a mock agent asks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MockDialect {
            $($(#[$doc])+ $name,)+
        }

        impl MockDialect {
            /// All dialects, in the order of the help text.
            pub const ALL: [Self; [$(Self::$name),+].len()] = [$(Self::$name),+];
        }
    };
}

dialects! {
    /// `_sandboxagent/session/request_question`.
    Sandboxagent,
    /// Claude: a form, with a second property for the free text of each field.
    Claude,
    /// Codex: a form whose titles are the questions, with a note for each field.
    Codex,
    /// Codex while it continues to work: it withdraws the question at the end of the turn.
    CodexAsync,
    /// Kimi: a form without free texts, or [`MockDialect::KimiPermission`] for a client without forms.
    Kimi,
    /// Kimi for a client without forms: one permission request for the first field.
    KimiPermission,
    /// oh-my-pi: a form with recommended options.
    OhMyPi,
    /// Devin: a form that accepts other texts than its options.
    Devin,
    /// A plain form of the standard.
    Form,
    /// The plain form under its first method name, `session/elicitation`.
    Historic,
    /// Qwen: a permission request, with the answers beside the outcome.
    Qwen,
    /// pi-acp: a permission request whose options are the choices.
    Pi,
    /// Cursor: `cursor/ask_question`, which has no session ID.
    Cursor,
    /// Grok: `_x.ai/ask_user_question`.
    Grok,
    /// Kiro: `_kiro/userInput`.
    Kiro,
    /// agentao: `_agentao.cn/ask_user`, one question that is answered with a text.
    Agentao,
    /// hrns: `_hrns/ask_user`, which has no session ID.
    Hrns,
    /// Gemini: permissions only.
    Gemini,
    /// opencode: permissions only.
    Opencode,
}

impl MockDialect {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns its line in the help text.
    pub fn summary(self) -> &'static str {
        self.spec().summary
    }
}

/// What a mock client can show, and what it does with requests that it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKind {
    /// Knows `_sandboxagent/session/request_question` and permission requests.
    Native,
    /// Knows forms (`elicitation/create`) and permission requests.
    Forms,
    /// Knows permission requests only, and answers other requests with an error.
    Permission,
    /// Knows permission requests only, and never replies to other requests.
    Silent,
    /// Approves every permission request at once, without asking.
    Approve,
}

impl ClientKind {
    /// All kinds, in the order of the help text.
    pub const ALL: [Self; 5] = [Self::Native, Self::Forms, Self::Permission, Self::Silent, Self::Approve];

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Forms => "forms",
            Self::Permission => "permission",
            Self::Silent => "silent",
            Self::Approve => "approve",
        }
    }

    /// Returns its line in the help text.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Native => "Knows `_sandboxagent/session/request_question`, and permission requests",
            Self::Forms => "Knows forms, `elicitation/create`, and permission requests",
            Self::Permission => "Knows permission requests only, and answers all others with an error",
            Self::Silent => "Knows permission requests only, and never replies to others",
            Self::Approve => "Approves of every permission request at once, without asking the person",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientKind, MockDialect};

    #[test]
    fn every_dialect_and_kind_has_its_own_name() {
        let mut names = MockDialect::ALL.map(MockDialect::name).to_vec();
        names.extend(ClientKind::ALL.map(ClientKind::name));
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
