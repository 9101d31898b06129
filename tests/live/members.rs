//! The recorded permissions of released agents lose no member: `show` prints each, except for those in `harmless.txt`, of
//! which each row has its reason.

use std::{collections::BTreeSet, time::SystemTime};

use askbridge::present::question::QuestionText;
use askbridge_core::desk::Record;
use serde_json::Value as Json;

use super::permissions::{AGENTS, asked, fixture, read};

/// A value of a request, with the names of the members that lead to it.
type Leaf = (String, String);

/// Adds the values in a request.
fn leaves(json: &Json, path: &str, found: &mut Vec<Leaf>) {
    match json {
        Json::Object(members) => members.iter().for_each(|(name, value)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            leaves(value, &path, found);
        }),
        Json::Array(items) => items.iter().for_each(|item| leaves(item, path, found)),
        // These say that there is nothing.
        Json::Null | Json::Bool(false) => {}
        Json::String(text) => found.push((path.to_owned(), text.clone())),
        Json::Bool(true) | Json::Number(_) => found.push((path.to_owned(), json.to_string())),
    }
}

/// Returns the requests of an agent, in the order of its permissions.
fn requests(agent: &str) -> Vec<Json> {
    let text = read(&fixture(&format!("{agent}.jsonl")));
    let lines = text.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let asking = lines.filter(|line| line.get("id").is_some() || line.get("request_id").is_some());
    let body = |line: Json| ["params", "request"].into_iter().find_map(|name| line.get(name).cloned());
    asking.map(|line| body(line).expect("a body")).collect()
}

/// Returns what `show` prints, without spaces: a narrow terminal wraps, and a change is shown line by line.
fn shown(record: &Record) -> String {
    let now = SystemTime::now().into();
    let text = QuestionText { record, status: None, now, columns: usize::MAX, colour: false, whole: true }
        .to_string();
    bare(&text)
}

fn bare(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

/// Returns whether all lines of a value are printed.
fn is_shown(value: &str, shown: &str) -> bool {
    value.lines().all(|line| shown.contains(&bare(line)))
}

#[test]
fn no_member_of_a_recorded_permission_is_lost() {
    let table = read(&fixture("harmless.txt"));
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<(&str, &str)> = rows
        .map(|row| row.split_once(' ').map(|(path, why)| (path, why.trim())).expect("a reason"))
        .collect();
    let (mut used, mut lost) = (BTreeSet::new(), BTreeSet::new());
    for agent in AGENTS {
        let records = asked(agent);
        let requests = requests(agent);
        assert_eq!(records.len(), requests.len(), "{agent}");
        for (record, request) in records.iter().zip(&requests) {
            let (mut found, shown) = (Vec::new(), shown(record));
            leaves(request, "", &mut found);
            // A file of the session's folder is named from there on.
            let folder = record.question.project.as_deref().map(|folder| format!("{folder}/"));
            let named = |value: &str| {
                folder.as_deref().and_then(|it| value.strip_prefix(it)).unwrap_or(value).to_owned()
            };
            for (path, value) in found.into_iter().filter(|(_, value)| !is_shown(&named(value), &shown)) {
                let known = format!("{agent}:{path}");
                match rows.iter().find(|(row, _)| *row == known || *row == format!("*:{path}")) {
                    Some((row, _)) => drop(used.insert(*row)),
                    None => drop(lost.insert(format!("{known}: {value}"))),
                }
            }
        }
    }
    assert!(lost.is_empty(), "add them to what is shown, or to harmless.txt with the reason: {lost:#?}");
    let unused: Vec<_> = rows.iter().filter(|(row, _)| !used.contains(row)).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}
