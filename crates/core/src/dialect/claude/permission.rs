//! Permissions of tools, and the end of plan mode: allow once, allow from now on, or deny; the subject of the
//! permission, from the name of the tool and its input; and the lasting permissions that Claude Code suggests, in
//! words. Suggestions that would deny, or whose kind is unknown, are not offered.

use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::tool_call::{EXIT_PLAN_MODE, ToolCall};
use crate::{
    dialect::{
        once,
        permission::{
            PermissionDescription, commands,
            grants::{rule, until},
            input,
        },
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
    // A hook's decision about a plan counts only if the input has the plan.
    let is_bare = is_plan && input["plan"].as_str().is_none_or(|plan| plan.trim().is_empty());
    if is_bare && !call.is_hosted {
        return None;
    }
    let (yes, no) = match is_plan {
        true => ("Yes, carry out the plan", "No, keep planning"),
        false => ("Allow once", "Reject"),
    };
    let shown = shown_rule(call.tool, &input);
    let suggestions: Vec<_> = call
        .suggestions
        .iter()
        .take(MOST_SUGGESTIONS)
        .filter_map(|raw| read_suggestion(raw, &shown))
        .collect();
    let lasting = |(place, suggestion): (usize, &Suggestion<'_>)| {
        let mut lasting = option(&suggestion_value(place), suggestion.label.clone(), Role::AllowAlways);
        lasting.grants.clone_from(&suggestion.grants);
        lasting
    };
    let mut options = vec![option(ALLOW, yes.to_owned(), Role::AllowOnce)];
    options.extend(suggestions.iter().enumerate().map(lasting));
    options.push(option(DENY, no.to_owned(), Role::RejectOnce));
    let (title, mut subject) = read_subject(call.tool, &input, call.input);
    subject.description = subject.description.or_else(|| call.description.map(str::to_owned));
    let unshown = match is_bare && subject.plan_file.is_none() {
        true => vec!["the plan is not shown: the request does not have it".to_owned()],
        false => Vec::new(),
    };
    let described = PermissionDescription {
        tool_call: call.id.map(str::to_owned),
        title,
        subject,
        is_marked: call.is_marked,
        unshown,
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
    let grants = || input.as_object().map(input::of_input).unwrap_or_default();
    match tool {
        "Bash" | "PowerShell" => (
            None,
            Subject {
                command: input.as_object().and_then(commands::of_command),
                description: text("description"),
                grants: grants(),
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
        "ExitPlanMode" => {
            (Some("Carry out this plan?".to_owned()), read_plan(text("plan"), text("planFilePath"), grants()))
        }
        NETWORK => (
            text("host").map(|host| format!("Allow access to {host}?")),
            Subject { raw_input: raw(), ..of_kind("fetch") },
        ),
        _ => (
            Some(title(tool)),
            Subject { raw_input: raw(), locations: at(), grants: grants(), ..of_kind("other") },
        ),
    }
}

/// Returns a plan with what it allows. Its file counts only where the plan itself is not there.
fn read_plan(plan: Option<String>, file: Option<String>, grants: Vec<String>) -> Subject {
    let plan = plan.filter(|plan| !plan.trim().is_empty());
    let plan_file = file.filter(|_| plan.is_none());
    Subject { kind: Some("switch_mode".to_owned()), plan, plan_file, grants, ..Subject::default() }
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

/// Returns the rule that allows no more than the call that is shown: the same command again.
fn shown_rule(tool: &str, input: &Json) -> String {
    input["command"].as_str().map(|command| rule(tool, Some(command))).unwrap_or_default()
}

/// The tool by which a command in the sandbox asks for a host.
const NETWORK: &str = "SandboxNetworkAccess";

/// The maximum number of suggestions that are read. Claude Code makes up to three.
const MOST_SUGGESTIONS: usize = 8;

/// A suggestion of Claude Code, and its text for the user.
struct Suggestion<'a> {
    label: String,
    /// What it allows beyond the call that is shown.
    grants: Vec<String>,
    raw: &'a RawValue,
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

/// `shown` is the rule for the very call that is shown.
fn read_suggestion<'a>(raw: &'a RawValue, shown: &str) -> Option<Suggestion<'a>> {
    let mut grants = Vec::new();
    let label = match serde_json::from_str(raw.get()).ok()? {
        Update::AddRules { rules, behavior, destination } if behavior == "allow" && !rules.is_empty() => {
            let rules: Vec<_> = rules.iter().map(Rule::name).collect();
            let until = until(destination.as_deref());
            grants.extend(rules.iter().filter(|rule| *rule != shown).map(|rule| format!("{rule} {until}")));
            format!("Allow {} {until}", rules.join(", "))
        }
        Update::SetMode { mode, destination } => {
            let until = until(destination.as_deref());
            // These modes ask for everything.
            if !["default", "manual", "plan"].contains(&&*mode) {
                grants.push(format!("Switches to the mode {mode} {until}"));
            }
            format!("Allow, and switch to the mode {mode} {until}")
        }
        Update::AddDirectories { directories, destination } if !directories.is_empty() => {
            let until = until(destination.as_deref());
            grants.extend(directories.iter().map(|folder| format!("Access to {folder} {until}")));
            format!("Allow, and give access to {} {until}", directories.join(", "))
        }
        _ => return None,
    };
    Some(Suggestion { label, grants, raw })
}

impl Rule {
    fn name(&self) -> String {
        rule(&self.tool_name, self.rule_content.as_deref())
    }
}
