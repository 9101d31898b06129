//! Writes settings as TOML: as they count, with where they come from, and as an empty file that has them all as comments.

use std::fmt::Write;

use serde_json::Value;
use toml_edit::{Array, InlineTable, Value as Toml};

use super::{key::AnyKey, keys, layers::Settings, place::StoredValue};

/// What stands in the place of a secret.
const HIDDEN: &str = "(hidden: `askbridge config get` prints it)";
/// A rule, as an example.
const RULE: &str =
    "# name = \"tests\"\n# command = \"cargo test *\"\n# dangerous = true\n# then = \"allow\"\n";
/// Characters of a line of a comment.
const WIDTH: usize = 100;

/// Returns a value as it stands in a file.
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

/// Returns a value for a person or a script: a text without quotes, anything else as it stands in a file.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| toml(value).to_string(), str::to_owned)
}

/// Returns a value as it may be shown.
pub fn shown(key: &dyn AnyKey, value: &Value) -> Value {
    if key.is_secret() && !value.is_null() { HIDDEN.into() } else { value.clone() }
}

/// Returns all settings as a file that would set them, with where each comes from if that is wanted.
pub fn file(settings: &Settings, with_origin: bool) -> String {
    let mut out = String::new();
    for (section, _) in keys::SECTIONS {
        let lines =
            of_section(section).map(|(name, key)| line(name, key, &settings.stored(key), with_origin));
        table(&mut out, &format!("[{section}]"), lines);
    }
    for project in settings.projects() {
        let set = keys::OF_PROJECT.iter().filter_map(|key| Some((key, project.get(key.path())?)));
        let lines = set.map(|(key, stored)| line(key.path(), *key, stored, with_origin));
        table(&mut out, &format!("[[{}]]", keys::PROJECTS), lines);
    }
    for rule in settings.rule_tables() {
        let lines = rule.values.iter().map(|(name, stored)| {
            let origin = if with_origin { format!("  # {}", stored.origin) } else { String::new() };
            format!("{name} = {}{origin}\n", toml(&stored.value))
        });
        table(&mut out, &format!("[[{}]]", keys::RULES), lines);
    }
    out
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

/// Returns the settings of a section, each with its name there.
pub fn of_section(section: &str) -> impl Iterator<Item = (&'static str, &'static dyn AnyKey)> {
    keys::ALL.iter().filter_map(move |key| {
        let name = key.path().strip_prefix(section)?.strip_prefix('.')?;
        (!name.contains('.')).then_some((name, *key))
    })
}

/// Returns a file that sets nothing, with every setting and what it does as comments.
pub fn template() -> String {
    let mut out = String::from(
        "# Settings of askbridge. Remove the # of a line to set it. `askbridge config` shows what counts.\n",
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
    out
}

/// Returns a value for a setting that has none by default.
fn example(key: &dyn AnyKey) -> String {
    match key.schema().get("type").and_then(Value::as_str) {
        Some("array") => "[\"program\", \"argument\"]".to_owned(),
        _ => "\"\"".to_owned(),
    }
}

/// Writes a comment in lines of a bearable length.
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
    // Writing into a text never fails.
    out.write_fmt(text).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{SettingsFile, Sources};

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
            for key in keys::ALL {
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
        assert!(keys::ALL.iter().all(|key| nothing.stored(*key).origin == crate::settings::Layer::Default));
        let all: String = text
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(setting) if setting.contains(" = ") || setting.starts_with('[') => {
                    format!("{setting}\n")
                }
                _ => format!("{line}\n"),
            })
            .collect();
        // Those without a default stand there with a text that is none.
        let all = of(&all);
        let empty =
            keys::ALL.iter().filter(|key| key.default_value().is_null() && key.schema()["type"] == "string");
        assert_eq!(all.problems().len(), empty.count(), "{:?}", all.problems());
        assert_eq!(all.projects().len(), 1);
    }
}
