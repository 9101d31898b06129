//! What a tool call does, in a few words: by the input of the tool, whose members have the same names in many agents.

use serde::Deserialize;

/// The members of an input that say what the tool does.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ToolInput {
    command: Option<String>,
    file_path: Option<String>,
    path: Option<String>,
    pattern: Option<String>,
    url: Option<String>,
    query: Option<String>,
    description: Option<String>,
}

/// Returns what a call does: its command, or its tool and what it is used on. `title` is the agent's own.
pub(super) fn title(tool: &str, title: Option<String>, input: ToolInput) -> String {
    if let Some(command) = input.command {
        return command;
    }
    let on = [title, input.file_path, input.path, input.pattern, input.url, input.query, input.description];
    match on.into_iter().flatten().find(|it| !it.trim().is_empty()) {
        Some(on) => format!("{tool} {on}"),
        None => tool.to_owned(),
    }
}
