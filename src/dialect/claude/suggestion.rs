//! The lasting permissions that Claude Code suggests, in words. Those that would deny, and those of an unknown kind, are not
//! offered.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Suggestions that are read. Claude Code makes up to three.
pub(super) const MOST_SUGGESTIONS: usize = 8;

/// A suggestion, and what it says to the person.
pub(super) struct Suggestion<'a> {
    pub label: String,
    pub raw: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Update {
    AddRules { rules: Vec<Rule>, behavior: String, destination: Option<String> },
    SetMode { mode: String, destination: Option<String> },
    AddDirectories { directories: Vec<String>, destination: Option<String> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    tool_name: String,
    rule_content: Option<String>,
}

pub(super) fn read_suggestion(raw: &RawValue) -> Option<Suggestion<'_>> {
    let label = match serde_json::from_str(raw.get()).ok()? {
        Update::AddRules { rules, behavior, destination } if behavior == "allow" && !rules.is_empty() => {
            let rules: Vec<_> = rules.iter().map(Rule::name).collect();
            format!("Allow {} {}", rules.join(", "), until(destination.as_deref()))
        }
        Update::SetMode { mode, destination } => {
            format!("Allow, and switch to the mode {mode} {}", until(destination.as_deref()))
        }
        Update::AddDirectories { directories, destination } if !directories.is_empty() => {
            format!("Allow, and give access to {} {}", directories.join(", "), until(destination.as_deref()))
        }
        _ => return None,
    };
    Some(Suggestion { label, raw })
}

impl Rule {
    fn name(&self) -> String {
        match &self.rule_content {
            Some(content) => format!("{}({content})", self.tool_name),
            None => format!("all of {}", self.tool_name),
        }
    }
}

/// Returns where a permission is kept, which says how long it lasts.
fn until(destination: Option<&str>) -> &'static str {
    match destination {
        Some("session") => "until this session ends",
        Some("localSettings") => "from now on, for you in this project",
        Some("projectSettings") => "from now on, for everybody in this project",
        Some("userSettings") => "from now on, in all your projects",
        _ => "from now on",
    }
}
