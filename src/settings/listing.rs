//! All settings as `askbridge config --json` prints them.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::{
    keys,
    layers::Settings,
    place::{Layer, Problem, StoredValue},
    render::shown,
};

/// All settings, where they come from, and what is wrong.
#[derive(Debug, Serialize)]
pub struct SettingsList {
    /// The person's own file, whether or not it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Every setting.
    pub settings: Vec<SettingEntry>,
    /// The tables of projects, each with what it sets.
    pub projects: Vec<Vec<SettingEntry>>,
    /// The rules in their order, each with what it sets.
    pub rules: Vec<Vec<SettingEntry>>,
    /// What does not count.
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

/// Something that does not count.
#[derive(Debug, Serialize)]
pub struct ProblemEntry {
    /// What is wrong and what to do.
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
        let all = keys::ALL.iter().map(|key| {
            let stored = settings.stored(*key);
            let value = shown(*key, &stored.value);
            entry(key.path(), &StoredValue { value, ..stored })
        });
        let projects = settings.projects().iter();
        let projects = projects.map(|table| table.iter().map(|(key, stored)| entry(key, stored)).collect());
        let rules = settings.rule_tables().iter();
        let rules = rules.map(|table| table.values.iter().map(|(key, stored)| entry(key, stored)).collect());
        let problems = settings.problems().iter().map(ProblemEntry::from);
        let file = file.map(|path| path.display().to_string());
        SettingsList {
            file,
            settings: all.collect(),
            projects: projects.collect(),
            rules: rules.collect(),
            problems: problems.collect(),
        }
    }
}
