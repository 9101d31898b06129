//! The tables of a file. What can be set in them is left to `keys`.

/// The tables of a file, each with what is in it.
pub const SECTIONS: [(&str, &str); 15] = [
    ("bridge", "What a bridge does with questions: `askbridge run` and `askbridge proxy`"),
    ("permission", "What you are asked before something is allowed"),
    ("inbox", "Questions over HTTP: `askbridge inbox`, and bridges with `serve`"),
    ("claude", "Claude Code in a terminal: `askbridge hook claude`"),
    ("journal", "The file of questions and answers: `askbridge history`"),
    ("unattended", "What becomes of a question that no person can answer, such as in CI"),
    ("log", "The log of every command"),
    ("notify", "When you are told that a question waits"),
    ("notify.heartbeat", "A command that runs again and again while a question stays open"),
    ("notify.desktop", "A notification of the desktop"),
    ("notify.sound", "A sound, or speech"),
    ("notify.command", "A command of your own"),
    ("notify.webhook", "A request to a server of your own"),
    ("notify.ntfy", "A message to your phone, by an ntfy server"),
    ("notify.terminal", "Terminals in which askbridge runs"),
];

/// The table that repeats, one for each project.
pub const PROJECTS: &str = "notify.project";
/// What is in that table.
pub const PROJECTS_ABOUT: &str =
    "What is different for one project; the one with the longest fitting `folder` counts";

/// The table that repeats, one for each rule.
pub const RULES: &str = "rule";
/// What is in that table.
pub const RULES_ABOUT: &str = "What you decided beforehand about questions to come, rule by rule; the first that applies decides. \
     Only your own file can have rules";

/// Returns whether there is a table of this name.
pub fn is_section(path: &str) -> bool {
    SECTIONS.iter().any(|(name, _)| *name == path)
}
