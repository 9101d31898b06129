//! What a tool would do, by its name and its input.

use serde_json::Value as Json;

use crate::{
    dialect::permission::command,
    question::{Diff, Subject},
};

/// Returns the title of a call, where one says more than its subject, and the subject.
pub(super) fn read_subject(tool: &str, input: &Json, raw: &str) -> (Option<String>, Subject) {
    let text = |name: &str| input[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let of_kind = |kind: &str| Subject { kind: Some(kind.to_owned()), ..Subject::default() };
    let raw = || Some(raw.to_owned()).filter(|raw| !matches!(raw.as_str(), "{}" | "null"));
    let file = text("file_path").or_else(|| text("notebook_path")).or_else(|| text("path"));
    let named = |verb: &str| file.as_ref().map(|file| format!("{verb} {file}"));
    let at = || file.clone().into_iter().collect();
    match tool {
        "Bash" | "PowerShell" => (
            None,
            Subject {
                command: command(&input["command"]),
                description: text("description"),
                raw_input: raw(),
                ..of_kind("execute")
            },
        ),
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
            let verb = if tool == "Write" { "Write" } else { "Edit" };
            (
                named(verb),
                Subject {
                    diffs: diffs(file.as_deref(), input),
                    locations: at(),
                    raw_input: beside(input, file.as_deref()),
                    ..of_kind("edit")
                },
            )
        }
        "Read" => (named("Read"), Subject { locations: at(), raw_input: raw(), ..of_kind("read") }),
        "Grep" | "Glob" => (
            text("pattern").map(|pattern| format!("Search for {pattern}")),
            Subject { locations: at(), raw_input: raw(), ..of_kind("search") },
        ),
        "WebFetch" => (
            text("url").map(|url| format!("Fetch {url}")),
            Subject { raw_input: raw(), description: text("prompt"), ..of_kind("fetch") },
        ),
        "WebSearch" => (
            text("query").map(|query| format!("Search the web for {query}")),
            // What is searched for leaves the machine.
            Subject { raw_input: raw(), ..of_kind("fetch") },
        ),
        "ExitPlanMode" => (
            Some("Carry out this plan?".to_owned()),
            Subject { plan: text("plan"), content: allowed_prompts(input), ..of_kind("switch_mode") },
        ),
        _ => (Some(title(tool)), Subject { raw_input: raw(), locations: at(), ..of_kind("other") }),
    }
}

/// Returns the name of a tool as people read it: `mcp__github__create_issue` is one of the MCP server `github`.
fn title(tool: &str) -> String {
    match tool.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
        Some((server, name)) => format!("{name}, of the MCP server {server}"),
        None => tool.to_owned(),
    }
}

fn diffs(file: Option<&str>, input: &Json) -> Vec<Diff> {
    let Some(file) = file else { return Vec::new() };
    let change =
        |edit: &Json| Some(Diff::new(file, edit["old_string"].as_str(), edit["new_string"].as_str()?));
    let whole = || Some(Diff::new(file, None, input["content"].as_str().or(input["new_source"].as_str())?));
    match input["edits"].as_array() {
        Some(edits) => edits.iter().filter_map(change).collect(),
        None => change(input).or_else(whole).into_iter().collect(),
    }
}

/// Members of a change that its diff shows, or that choose a place in the file.
const SHOWN: [&str; 8] =
    ["cell_id", "cell_type", "content", "edit_mode", "new_source", "new_string", "old_string", "replace_all"];

/// Returns what the input of a change says beside the change, as JSON.
fn beside(input: &Json, file: Option<&str>) -> Option<String> {
    let is_beside = |(name, value): &(&String, &Json)| {
        !SHOWN.contains(&name.as_str()) && (*name == "edits" || value.as_str() != file || file.is_none())
    };
    let of_edits = |edits: &Json| {
        let edits: Vec<_> = edits.as_array()?.iter().filter_map(|edit| beside(edit, file)).collect();
        (!edits.is_empty()).then(|| format!("[{}]", edits.join(",")))
    };
    let members = input.as_object()?.iter().filter(is_beside).filter_map(|(name, value)| {
        let value = if name == "edits" && value.is_array() { of_edits(value)? } else { value.to_string() };
        Some(format!("{}:{value}", Json::from(name.as_str())))
    });
    let members: Vec<_> = members.collect();
    (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
}

/// Returns what the plan would be allowed without another question.
fn allowed_prompts(input: &Json) -> Option<String> {
    let prompts = input["allowedPrompts"].as_array()?.iter();
    let lines: Vec<_> = prompts
        .filter_map(|prompt| Some(format!("{}: {}", prompt["tool"].as_str()?, prompt["prompt"].as_str()?)))
        .collect();
    (!lines.is_empty()).then(|| format!("With it, these are allowed:\n{}", lines.join("\n")))
}
