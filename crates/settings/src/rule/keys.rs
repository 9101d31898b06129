//! The keys of a rule's table, with the purpose of each. The settings, their schema and `docs/rules.md` are made from
//! this list.

/// A key of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleKey {
    /// Its name.
    pub name: &'static str,
    /// The kind of its value.
    pub takes: KeyKind,
    /// Its purpose, without a full stop.
    pub about: &'static str,
}

/// The kind of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A text.
    Text,
    /// One of these names.
    One(&'static [&'static str]),
    /// One text or several, one of which must match.
    Texts,
    /// Several texts, all of which apply.
    List,
    /// A text, or the words of a command.
    Command,
    /// True or false.
    Flag,
    /// One value, several values, or a table of values by the names of the fields.
    Answer,
}

/// The actions of a rule.
pub const ACTIONS: &[&str] = &["allow", "reject", "answer", "hold", "notify"];

/// The actions that allow or answer. All others only keep a question from later rules that might.
pub(super) const DECIDING: &[&str] = &["allow", "answer"];

/// The ways in which the user can be notified.
pub const WAYS: &[&str] = &["terminal", "sound", "desktop", "command", "webhook", "ntfy"];

/// The purposes that a rule can name.
const PURPOSES: &[&str] = &["question", "permission"];

const fn key(name: &'static str, takes: KeyKind, about: &'static str) -> RuleKey {
    RuleKey { name, takes, about }
}

/// All keys, in the order in which they are shown.
pub const KEYS: [RuleKey; 14] = [
    key("name", KeyKind::Text, "The unique name of the rule, which is shown with its decisions"),
    key(
        "agent",
        KeyKind::Texts,
        "The agent's own name, as `askbridge show --json` has it; `*` and `?` are wildcards",
    ),
    key(
        "project",
        KeyKind::Texts,
        "The folder of the session, which begins with `/` or `~/`; `*` and `?` are wildcards",
    ),
    key("session", KeyKind::Texts, "The ID of the session; `*` and `?` are wildcards"),
    key("purpose", KeyKind::One(PURPOSES), "The purpose of the question"),
    key(
        "tool",
        KeyKind::Texts,
        "The kind of the tool: `read`, `edit`, `delete`, `move`, `search`, `execute`, `fetch` and so on",
    ),
    key(
        "command",
        KeyKind::Command,
        "The command: a text whose words may have wildcards, where a last `*` stands for all further words; or a list of its exact words",
    ),
    key("options", KeyKind::List, "Labels of options, all of which the question must have"),
    key(
        "origin",
        KeyKind::Texts,
        "The protocol in which it was asked: `elicitation`, `claude`, `codex`, `program` and so on",
    ),
    key(
        "dangerous",
        KeyKind::Flag,
        "Whether its risk is more than `plain`, or it runs a command; without `true`, the rule settles \
        nothing that is `dangerous`",
    ),
    key(
        "then",
        KeyKind::One(ACTIONS),
        "The action: `allow` it once, `reject` it, `answer` it, `hold` it for you, or `notify` you",
    ),
    key(
        "answer",
        KeyKind::Answer,
        "With `answer`: the value or label of an option, or a text; for several fields, a table by their names",
    ),
    key("reason", KeyKind::Text, "With `reject`: the reason that the agent gets"),
    key("by", KeyKind::Texts, "With `notify`: the ways to notify you, such as `[\"desktop\", \"ntfy\"]`"),
];
