//! Permissions of tools, and the end of plan mode: allow once, allow from now on, or deny; the subject of the
//! permission, from the name of the tool and its input; and the lasting permissions that Claude Code suggests, in
//! words. Suggestions that would deny, or whose kind is unknown, are not offered.

use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::tool_call::{EXIT_PLAN_MODE, ToolCall};
use crate::{
    dialect::{
        once,
        permission::{PermissionDescription, command},
    },
    question::{Answer, Diff, FieldOption, Origin, Question, Role, Subject, Value},
};

/// The values of the options that every permission has.
pub(super) const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// The lasting permissions, by the values of their options.
pub(super) type LastingPermissions = Vec<(String, Box<RawValue>)>;

pub(super) fn read(call: &ToolCall<'_>, id: &str) -> Option<(Question, LastingPermissions)> {
    let input = once::from_slice(call.input.as_bytes())?;
    let is_plan = call.tool == EXIT_PLAN_MODE;
    // Without a plan there is nothing to judge, and Claude Code ignores a decision without a plan.
    if is_plan && input["plan"].as_str().is_none_or(|plan| plan.trim().is_empty()) {
        return None;
    }
    let (yes, no) = match is_plan {
        true => ("Yes, carry out the plan", "No, keep planning"),
        false => ("Allow once", "Reject"),
    };
    let suggestions: Vec<_> =
        call.suggestions.iter().take(MOST_SUGGESTIONS).filter_map(|raw| read_suggestion(raw)).collect();
    let lasting = |(place, suggestion): (usize, &Suggestion<'_>)| {
        option(&suggestion_value(place), suggestion.label.clone(), Role::AllowAlways)
    };
    let mut options = vec![option(ALLOW, yes.to_owned(), Role::AllowOnce)];
    options.extend(suggestions.iter().enumerate().map(lasting));
    options.push(option(DENY, no.to_owned(), Role::RejectOnce));
    let (title, mut subject) = read_subject(call.tool, &input, call.input);
    subject.description = subject.description.or_else(|| call.description.map(str::to_owned));
    let described = PermissionDescription {
        tool_call: call.id.map(str::to_owned),
        title,
        subject,
        is_marked: call.is_marked,
        options,
        ..PermissionDescription::default()
    };
    let question = described.question(Origin::Claude, id)?;
    let lasting = suggestions.iter().enumerate();
    let lasting = lasting.map(|(place, suggestion)| (suggestion_value(place), suggestion.raw.to_owned()));
    Some((question, lasting.collect()))
}

fn suggestion_value(place: usize) -> String {
    format!("always-{}", place + 1)
}

fn option(value: &str, label: String, role: Role) -> FieldOption {
    FieldOption { value: value.to_owned(), label, role: Some(Box::new(role)), ..FieldOption::default() }
}

/// Returns the value of the option that an answer chooses.
pub(super) fn chosen<'a>(question: &Question, answer: &'a Answer) -> Option<&'a str> {
    match answer.values.get(&question.fields.first()?.name)? {
        Value::Text(chosen) => Some(chosen),
        _ => None,
    }
}

/// Returns the answer to a permission that was granted elsewhere, with these lasting permissions.
pub(super) fn granted(
    question: &Question,
    lasting: &[(String, Box<RawValue>)],
    permissions: &Json,
) -> Answer {
    let first = permissions.as_array().and_then(|permissions| permissions.first());
    // The host may have written the suggestion in another spelling, so this compares values and not texts.
    let is_given = |raw: &RawValue| serde_json::from_str::<Json>(raw.get()).ok().as_ref() == first;
    let given = lasting.iter().find(|(_, raw)| first.is_some() && is_given(raw));
    let value = given.map_or(ALLOW, |(value, _)| value);
    question.fields.first().map(|field| Answer::text(&field.name, value)).unwrap_or_default()
}

/// Returns the title of a call, if it says more than the subject, and the subject.
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
                    // Rules and the person must also see the members that the diff does not show.
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
            // A search term leaves the machine.
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

/// Returns the members of a change's input that its diff does not show, as JSON.
fn beside(input: &Json, file: Option<&str>) -> Option<String> {
    // The diff shows the file. The members of each edit are checked on their own.
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

/// Returns what the plan allows to be done without another question.
fn allowed_prompts(input: &Json) -> Option<String> {
    let prompts = input["allowedPrompts"].as_array()?.iter();
    let lines: Vec<_> = prompts
        .filter_map(|prompt| Some(format!("{}: {}", prompt["tool"].as_str()?, prompt["prompt"].as_str()?)))
        .collect();
    (!lines.is_empty()).then(|| format!("With it, these are allowed:\n{}", lines.join("\n")))
}

/// The maximum number of suggestions that are read. Claude Code makes up to three.
pub(super) const MOST_SUGGESTIONS: usize = 8;

/// A suggestion of Claude Code, and its text for the user.
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

/// Returns how long a permission lasts, by the place where Claude Code stores it.
fn until(destination: Option<&str>) -> &'static str {
    match destination {
        Some("session") => "until this session ends",
        Some("localSettings") => "from now on, for you in this project",
        Some("projectSettings") => "from now on, for everybody in this project",
        Some("userSettings") => "from now on, in all your projects",
        _ => "from now on",
    }
}
