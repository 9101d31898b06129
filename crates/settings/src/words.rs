//! The types of values that are one of a set of words. The settings and the command line share them.

use askbridge_core::{
    acp::Tier,
    mcp::{Elicitation, Session},
    question::{Purpose, Risk},
};
use askbridge_os::log::{LogFormat, LogLevel};
use serde_json::{Value, json};

use super::{
    key::{Setting, quoted},
    resolved::{Protocol, UnattendedAction},
};

/// A type of values that are one of a set of words, in the settings and on the command line.
pub trait Word: Copy + PartialEq + Send + Sync + 'static {
    /// Each word, its value, and its line in the help.
    const WORDS: &'static [(&'static str, Self, &'static str)];

    /// Returns the word for this value.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, meaning, _)| *meaning == self).map_or("", |(word, ..)| word)
    }

    /// Returns whether a project may replace `held`, the user's value, with this one.
    fn is_narrower(self, held: Self) -> bool {
        let _ = held;
        true
    }
}

impl<T: Word> Setting for T {
    fn read(value: &Value) -> Result<Self, String> {
        let found = value.as_str().and_then(|text| T::WORDS.iter().find(|(word, ..)| *word == text));
        found.map(|(_, meaning, _)| *meaning).ok_or_else(|| {
            let words: Vec<_> = T::WORDS.iter().map(|(word, ..)| format!("\"{word}\"")).collect();
            format!("{} is not one of {}", quoted(value), words.join(", "))
        })
    }

    fn to_value(&self) -> Value {
        self.word().into()
    }

    fn narrows(&self, held: &Self) -> bool {
        self.is_narrower(*held)
    }

    fn schema() -> Value {
        json!({ "enum": T::WORDS.iter().map(|(word, ..)| *word).collect::<Vec<_>>() })
    }
}

/// How questions are shown to the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientQuestions(pub Option<Tier>);

impl Word for ClientQuestions {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("auto", ClientQuestions(None), "In the best way that it declares; if that fails, in the next one"),
        (
            "native",
            ClientQuestions(Some(Tier::Extension)),
            "By the extension `_sandboxagent/session/request_question`",
        ),
        ("elicitation", ClientQuestions(Some(Tier::Elicitation)), "By a form, `elicitation/create`"),
        (
            "permission",
            ClientQuestions(Some(Tier::Permission)),
            "By permission prompts, one field after the other",
        ),
        ("none", ClientQuestions(Some(Tier::None)), "Not at all: only other responders answer"),
    ];
}

impl Word for Elicitation {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        (
            "both",
            Elicitation::Both,
            "The inbox, and the host where it shows elicitations: the first answer wins",
        ),
        ("inbox", Elicitation::Inbox, "The inbox alone, also where the host shows elicitations"),
        ("host", Elicitation::Host, "The host alone"),
    ];
}

impl Word for Session {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("handshake", Session::Handshake, "By `initialize`, so that the server can ask at any time"),
        ("any", Session::Any, "As the host and the server choose; since MCP 2026-07-28, few servers can ask"),
    ];
}

/// Where the agent's permission prompts can be answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permissions {
    /// In the client, and by other responders like a question.
    #[default]
    Inbox,
    /// In the client alone.
    Client,
}

impl Word for Permissions {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("inbox", Permissions::Inbox, "Like a question: in the client, and by every other responder"),
        ("client", Permissions::Client, "In the client alone, such as the editor"),
    ];

    /// A project may only leave permissions to fewer responders (I12).
    fn is_narrower(self, held: Self) -> bool {
        self == held || self == Permissions::Client
    }
}

impl Word for UnattendedAction {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("wait", UnattendedAction::Wait, "It waits"),
        ("reject", UnattendedAction::Reject, "It is rejected"),
        ("fail", UnattendedAction::Fail, "The agent is ended, and the exit code is 9"),
    ];
}

impl Word for Protocol {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("acp", Protocol::Acp, "The Agent Client Protocol"),
        ("claude", Protocol::Claude, "The stream-json of `claude -p`, with a host that answers permissions"),
        ("codex", Protocol::Codex, "The JSON lines of `codex app-server`"),
    ];
}

impl Word for LogLevel {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("off", LogLevel::Off, "No lines"),
        ("error", LogLevel::Error, "Problems that ended the bridge"),
        ("warn", LogLevel::Warn, "Problems that did not stop the bridge"),
        ("info", LogLevel::Info, "Questions as they open and settle, without their text"),
        ("debug", LogLevel::Debug, "Each intercepted line, without its text"),
        ("trace", LogLevel::Trace, "The intercepted lines themselves, prompts and answers included"),
    ];
}

impl Word for LogFormat {
    const WORDS: &'static [(&'static str, Self, &'static str)] =
        &[("text", LogFormat::Text, "For people"), ("json", LogFormat::Json, "One JSON object a line")];
}

/// How much of a question leaves the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disclosure {
    /// That a question waits, and in which project.
    #[default]
    None,
    /// Its headline as well.
    Title,
    /// All that is asked.
    All,
}

impl Word for Disclosure {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("none", Disclosure::None, "That a question waits, and in which project"),
        ("title", Disclosure::Title, "Its headline as well"),
        ("all", Disclosure::All, "The whole question"),
    ];

    fn is_narrower(self, held: Self) -> bool {
        self <= held
    }
}

impl Word for Purpose {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("question", Purpose::Question, "Questions of an agent"),
        ("permission", Purpose::Permission, "Permissions that an agent asks for"),
    ];
}

/// The least risk of a permission that takes a second step before it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmRisk(pub Risk);

impl Default for ConfirmRisk {
    fn default() -> Self {
        ConfirmRisk(Risk::Dangerous)
    }
}

impl Word for ConfirmRisk {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("dangerous", ConfirmRisk(Risk::Dangerous), "Dangerous permissions"),
        ("acts", ConfirmRisk(Risk::Acts), "Every permission that changes something"),
    ];
}

/// The risk of a command that only looks at files of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LooksRisk(pub Risk);

impl Default for LooksRisk {
    fn default() -> Self {
        LooksRisk(Risk::Plain)
    }
}

impl Word for LooksRisk {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("plain", LooksRisk(Risk::Plain), "As reading a file"),
        ("acts", LooksRisk(Risk::Acts), "As any other command"),
    ];
}

/// The highest risk of a permission that one tap on a notification may allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneTapRisk(pub Risk);

impl Default for OneTapRisk {
    fn default() -> Self {
        OneTapRisk(Risk::Plain)
    }
}

impl Word for OneTapRisk {
    const WORDS: &'static [(&'static str, Self, &'static str)] = &[
        ("plain", OneTapRisk(Risk::Plain), "Permissions that change nothing"),
        ("acts", OneTapRisk(Risk::Acts), "Permissions that change something, unless they are dangerous"),
    ];
}
