//! Renders settings: all of them as TOML or JSON with their layers, and a template with every setting as a comment.
//! Also changes one value in the text of a file, and keeps its comments, order and spaces. Writing the file itself is
//! left to `files.rs`.

use std::{collections::BTreeMap, fmt::Write, path::Path};

use askbridge_core::desk::MachineName;
use serde::Serialize;
use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TomlError, Value as Toml, value};

use super::{
    key::AnyKey,
    keys,
    layers::Settings,
    place::{Layer, Problem, StoredValue},
};

/// The placeholder of a secret.
const HIDDEN: &str = "(hidden: `askbridge config get` prints it)";
/// A rule, as an example.
const RULE: &str =
    "# name = \"tests\"\n# command = \"cargo test *\"\n# dangerous = true\n# then = \"allow\"\n";
/// An MCP server, as an example.
const MCP_SERVER: &str = "# url = \"https://mcp.example.org/mcp\"\n\
    # headers = { Authorization = { env = \"TOKEN\", prefix = \"Bearer \" } }\n";
/// The most characters of a line of a comment.
const WIDTH: usize = 100;

/// Returns a value as TOML.
pub fn toml(value: &Value) -> Toml {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.to_string().into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(entries) => entries.iter().map(toml).collect::<Array>().into(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name, toml(value))).collect::<InlineTable>().into()
        }
        // No setting has such a value.
        Value::Null => Toml::from(value.to_string()),
    }
}

/// Returns a value for a person or a script: a text without quotes, anything else as TOML.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| toml(value).to_string(), str::to_owned)
}

/// Returns a value for display: a secret is replaced by a placeholder.
pub fn shown(key: &dyn AnyKey, value: &Value) -> Value {
    if key.is_secret() && !value.is_null() { HIDDEN.into() } else { value.clone() }
}

/// Returns all settings as a file that would set them. If `with_origin`, a comment names the origin of each.
pub fn file(settings: &Settings, with_origin: bool) -> String {
    let mut out = String::new();
    for (section, _) in keys::SECTIONS {
        let lines =
            of_section(section).map(|(name, key)| line(name, key, &settings.stored(key), with_origin));
        table(&mut out, &format!("[{section}]"), lines);
    }
    for project in settings.projects() {
        let set = keys::of_project().filter_map(|key| Some((key, project.get(key.path())?)));
        let lines = set.map(|(key, stored)| line(key.path(), key, stored, with_origin));
        table(&mut out, &format!("[[{}]]", keys::PROJECTS), lines);
    }
    for rule in settings.rule_tables() {
        let lines = rule.values.iter().map(|(name, stored)| {
            let origin = if with_origin { format!("  # {}", stored.origin) } else { String::new() };
            format!("{name} = {}{origin}\n", toml(&stored.value))
        });
        table(&mut out, &format!("[[{}]]", keys::RULES), lines);
    }
    for machine in settings.machines() {
        let (key, stored) = &machine.value;
        let origin = if with_origin { format!("  # {}", stored.origin) } else { String::new() };
        let line = format!("{key} = {}{origin}\n", toml(&stored.value));
        table(&mut out, &format!("[{}.{}]", keys::MACHINES, quoted_name(&machine.name)), [line].into_iter());
    }
    for server in settings.mcp_servers() {
        let lines = server.values.iter().map(|(name, stored)| {
            let origin = if with_origin { format!("  # {}", stored.origin) } else { String::new() };
            format!("{name} = {}{origin}\n", toml(&stored.value))
        });
        table(&mut out, &format!("[[{}]]", keys::MCP_SERVERS), lines);
    }
    out
}

/// Returns the name of a machine as a key of TOML, in which a dot would begin another table.
pub fn quoted_name(name: &MachineName) -> String {
    if name.as_str().contains('.') { format!("\"{name}\"") } else { name.to_string() }
}

fn table(out: &mut String, head: &str, lines: impl Iterator<Item = String>) {
    let gap = if out.is_empty() { "" } else { "\n" };
    push(out, format_args!("{gap}{head}\n"));
    lines.for_each(|line| out.push_str(&line));
}

fn line(name: &str, key: &dyn AnyKey, stored: &StoredValue, with_origin: bool) -> String {
    let setting = match &stored.value {
        Value::Null => format!("# {name} is not set"),
        value => format!("{name} = {}", toml(&shown(key, value))),
    };
    let origin =
        if with_origin && !stored.value.is_null() { format!("  # {}", stored.origin) } else { String::new() };
    format!("{setting}{origin}\n")
}

/// Returns the settings of a section, each with its name within the section.
pub fn of_section(section: &str) -> impl Iterator<Item = (&'static str, &'static dyn AnyKey)> {
    keys::all().filter_map(move |key| {
        let name = key.path().strip_prefix(section)?.strip_prefix('.')?;
        (!name.contains('.')).then_some((name, key))
    })
}

/// Returns a file that sets nothing, with every setting and what it does as comments.
pub fn template() -> String {
    let mut out = String::from(
        "# Settings of askbridge. Remove the # of a line to set it. `askbridge config` shows the effective values.\n",
    );
    for (section, about) in keys::SECTIONS {
        push(&mut out, format_args!("\n# {about}.\n[{section}]\n"));
        for (name, key) in of_section(section) {
            comment(&mut out, &format!("{}.", key.about()));
            let value = match key.default_value() {
                Value::Null => example(key),
                value => toml(&value).to_string(),
            };
            push(&mut out, format_args!("# {name} = {value}\n"));
        }
    }
    comment(&mut out, "");
    comment(&mut out, &format!("{}.", keys::PROJECTS_ABOUT));
    push(&mut out, format_args!("# [[{}]]\n# folder = \"~/src/shop\"\n# enabled = false\n", keys::PROJECTS));
    comment(&mut out, "");
    comment(&mut out, &format!("{}.", keys::RULES_ABOUT));
    push(&mut out, format_args!("# [[{}]]\n{RULE}", keys::RULES));
    comment(&mut out, "");
    comment(&mut out, &format!("{}.", keys::MACHINES_ABOUT));
    push(&mut out, format_args!("# [{}.box]\n# ssh = \"me@box.lan\"\n", keys::MACHINES));
    comment(&mut out, "");
    comment(&mut out, &format!("{}.", keys::MCP_SERVERS_ABOUT));
    push(&mut out, format_args!("# [[{}]]\n{MCP_SERVER}", keys::MCP_SERVERS));
    out
}

/// Returns an example value for a setting without a default.
fn example(key: &dyn AnyKey) -> String {
    match key.schema().get("type").and_then(Value::as_str) {
        Some("array") => "[\"program\", \"argument\"]".to_owned(),
        _ => "\"\"".to_owned(),
    }
}

/// Writes a comment, wrapped at [`WIDTH`].
fn comment(out: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            push(out, format_args!("{line}\n"));
            line = String::from("#");
        }
        push(&mut line, format_args!(" {word}"));
    }
    if text.is_empty() { out.push('\n') } else { push(out, format_args!("{line}\n")) }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` never fails.
    out.write_fmt(text).unwrap_or_default();
}

/// Why a text cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// It is not TOML.
    #[error("line {0}: {1}")]
    Syntax(usize, String),
    /// There is another value where a table is expected.
    #[error("`{0}` is not a table there")]
    NoTable(String),
}

pub(super) fn syntax(text: &str, error: &TomlError) -> EditError {
    let at = error.span().map_or(0, |span| span.start);
    let before = text.get(..at).unwrap_or(text);
    EditError::Syntax(before.matches('\n').count() + 1, error.message().to_owned())
}

/// Returns the text with one setting changed to a value.
///
/// # Errors
/// Fails if the text is not TOML, or has another value where a table is expected.
pub fn set(text: &str, key: &dyn AnyKey, new: &Value) -> Result<String, EditError> {
    let mut document: DocumentMut = text.parse().map_err(|error| syntax(text, &error))?;
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let mut names: Vec<_> = key.path().split('.').collect();
    let name = names.pop().unwrap_or_default();
    for (depth, section) in (1..).zip(&names) {
        let entry = table.entry(section).or_insert_with(|| {
            let mut table = Table::new();
            // A table that contains only tables needs no head.
            table.set_implicit(depth < names.len());
            Item::Table(table)
        });
        table = entry.as_table_like_mut().ok_or_else(|| EditError::NoTable(names[..depth].join(".")))?;
    }
    let mut new = toml(new);
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            // The spaces and the comment beside the old value stay.
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        None => {
            table.insert(name, value(new));
        }
    }
    Ok(document.to_string())
}

/// Checks that a text can get one more rule at its end.
///
/// # Errors
/// Fails if the text is not TOML, or has another value where the rules are expected.
pub fn check_rules(text: &str) -> Result<(), EditError> {
    let document: DocumentMut = text.parse().map_err(|error| syntax(text, &error))?;
    match document.get(keys::RULES) {
        None | Some(Item::ArrayOfTables(_)) => Ok(()),
        Some(_) => Err(EditError::NoTable(keys::RULES.to_owned())),
    }
}

/// Returns the text without a setting. `None` if the text does not set it.
///
/// # Errors
/// Fails if the text is not TOML.
pub fn unset(text: &str, key: &dyn AnyKey) -> Result<Option<String>, EditError> {
    let mut document: DocumentMut = text.parse().map_err(|error| syntax(text, &error))?;
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let mut names: Vec<_> = key.path().split('.').collect();
    let name = names.pop().unwrap_or_default();
    for section in names {
        match table.get_mut(section).and_then(Item::as_table_like_mut) {
            Some(inner) => table = inner,
            None => return Ok(None),
        }
    }
    let removed = table.remove(name);
    Ok(removed.map(|_| document.to_string()))
}

/// All settings, their sources, and the mistakes.
#[derive(Debug, Serialize)]
pub struct SettingsList {
    /// The person's own file, whether or not it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Every setting.
    pub settings: Vec<SettingEntry>,
    /// The tables of projects, each with its values.
    pub projects: Vec<Vec<SettingEntry>>,
    /// The rules in their order, each with its values.
    pub rules: Vec<Vec<SettingEntry>>,
    /// The machines by their names, each with its value.
    pub machines: BTreeMap<String, SettingEntry>,
    /// The MCP servers over HTTP in their order, each with its values. Texts of headers are replaced.
    pub mcp_servers: Vec<Vec<SettingEntry>>,
    /// The values that are ignored.
    pub problems: Vec<ProblemEntry>,
}

/// A setting.
#[derive(Debug, Serialize)]
pub struct SettingEntry {
    /// Its name with its sections.
    pub key: &'static str,
    /// Its value; `null` if it has none. Secrets are replaced.
    pub value: Value,
    /// Where it comes from.
    pub origin: LayerEntry,
}

/// Where a value comes from.
#[derive(Debug, Default, Serialize)]
pub struct LayerEntry {
    /// `default`, `user`, `project` or `environment`.
    pub layer: &'static str,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The character of the line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The environment variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
}

/// A problem in the settings.
#[derive(Debug, Serialize)]
pub struct ProblemEntry {
    /// The mistake and its remedy.
    pub message: String,
    /// Where it is, if it is at one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<LayerEntry>,
}

impl From<&Layer> for LayerEntry {
    fn from(origin: &Layer) -> Self {
        let place = origin.place();
        LayerEntry {
            layer: origin.layer(),
            path: place.map(|place| place.path.display().to_string()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            variable: match origin {
                Layer::Environment(name) => Some(name.clone()),
                _ => None,
            },
        }
    }
}

impl From<&Problem> for ProblemEntry {
    fn from(problem: &Problem) -> Self {
        let origin = problem.origin.as_ref().map(LayerEntry::from);
        ProblemEntry { message: problem.message.clone(), origin }
    }
}

impl SettingsList {
    /// Lists these settings.
    pub fn new(settings: &Settings, file: Option<&Path>) -> Self {
        let entry = |key, stored: &StoredValue| SettingEntry {
            key,
            value: stored.value.clone(),
            origin: LayerEntry::from(&stored.origin),
        };
        let all = keys::all().map(|key| {
            let stored = settings.stored(key);
            let value = shown(key, &stored.value);
            entry(key.path(), &StoredValue { value, ..stored })
        });
        let projects = settings.projects().iter();
        let projects = projects.map(|table| table.iter().map(|(key, stored)| entry(key, stored)).collect());
        let rules = settings.rule_tables().iter();
        let rules = rules.map(|table| table.values.iter().map(|(key, stored)| entry(key, stored)).collect());
        let machines = settings.machines().iter();
        let machines =
            machines.map(|machine| (machine.name.to_string(), entry(machine.value.0, &machine.value.1)));
        let servers = settings.mcp_servers().iter();
        let servers =
            servers.map(|server| server.values.iter().map(|(key, stored)| entry(key, stored)).collect());
        let problems = settings.problems().iter().map(ProblemEntry::from);
        let file = file.map(|path| path.display().to_string());
        SettingsList {
            file,
            settings: all.collect(),
            projects: projects.collect(),
            rules: rules.collect(),
            machines: machines.collect(),
            mcp_servers: servers.collect(),
            problems: problems.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{SettingsFile, Sources, keys};

    fn of(text: &str) -> Settings {
        let user = Some(SettingsFile {
            path: "config.toml".into(),
            text: text.to_owned(),
            is_readable_by_others: false,
        });
        Settings::of(Sources { user, ..Sources::default() })
    }

    #[test]
    fn what_is_shown_is_a_file_that_sets_the_same() {
        let all = of(
            "[notify]\nquiet = ['22:00-07:00']\n[bridge]\nserve = 80\n[[notify.project]]\nfolder = '~/a'\n",
        );
        for with_origin in [false, true] {
            let shown = of(&file(&all, with_origin));
            assert_eq!(shown.problems(), []);
            for key in keys::all() {
                assert_eq!(shown.stored(key).value, all.stored(key).value, "{}", key.path());
            }
            assert_eq!(shown.projects().len(), 1);
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let all = of(
            "[notify.ntfy]\ntoken = 'tk_s3cret'\ntopic = 's3cret'\n[notify.webhook]\nurl = 'https://a/s3cret'\n",
        );
        assert_eq!(all.problems(), []);
        assert!(!file(&all, true).contains("s3cret"), "{}", file(&all, true));
    }

    #[test]
    fn the_empty_file_sets_nothing_and_has_every_setting() {
        let text = template();
        let nothing = of(&text);
        assert_eq!(nothing.problems(), []);
        assert!(keys::all().all(|key| nothing.stored(key).origin == crate::Layer::Default));
        let all: String = text
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(setting) if setting.contains(" = ") || setting.starts_with('[') => {
                    format!("{setting}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        // Settings without a default are listed with a placeholder.
        let all = of(&all);
        let empty =
            keys::all().filter(|key| key.default_value().is_null() && key.schema()["type"] == "string");
        assert_eq!(all.problems().len(), empty.count(), "{:?}", all.problems());
        assert_eq!(all.projects().len(), 1);
    }

    #[track_caller]
    fn changed(text: &str, path: &str, new: Value) -> String {
        set(text, keys::find(path).unwrap(), &new).unwrap()
    }

    #[test]
    fn comments_order_and_spaces_stay() {
        let text =
            "# mine\n\n[notify]   # tell me\n  delay   =   '5s' # soon\nquiet = [ '1:00-2:00' ]\n\n# end\n";
        let new = changed(text, "notify.delay", json!("1m"));
        assert_eq!(new, text.replace("'5s'", "\"1m\""));
        let unset = unset(&new, keys::find("notify.delay").unwrap()).unwrap().unwrap();
        assert_eq!(unset, "# mine\n\n[notify]   # tell me\nquiet = [ '1:00-2:00' ]\n\n# end\n");
    }

    #[test]
    fn tables_that_are_missing_are_added() {
        assert_eq!(changed("", "notify.ntfy.topic", json!("t")), "[notify.ntfy]\ntopic = \"t\"\n");
        let text = "[notify.sound]\ncommand = [\"a\"]\n";
        let new = changed(text, "notify.delay", json!("1m"));
        assert_eq!(changed(&new, "notify.delay", json!("2m")).matches("2m").count(), 1);
        assert!(new.contains("[notify]\ndelay = \"1m\"\n") && new.contains(text), "{new}");
        let inline = "notify = { ntfy = { topic = 't' } }\n";
        assert_eq!(changed(inline, "notify.ntfy.topic", json!("u")), inline.replace("'t'", "\"u\""));
        assert_eq!(changed("bridge.grace = '1s'\n", "bridge.grace", json!("2s")), "bridge.grace = \"2s\"\n");
    }

    #[test]
    fn broken_files_are_not_changed() {
        let key = keys::find("notify.delay").unwrap();
        let error = set("[bridge]\ntimeout = \n", key, &json!("1m")).unwrap_err();
        assert!(error.to_string().starts_with("line 2: "), "{error}");
        assert!(
            set("notify = 1", key, &json!("1m")).is_err_and(|error| error.to_string().contains("`notify`"))
        );
        assert!(unset("", key).unwrap().is_none());
    }
}
