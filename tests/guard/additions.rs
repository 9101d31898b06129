//! Members that are added to the input of a tool: none of them makes a permission less dangerous, and none makes a rule
//! allow it.

use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};
use serde_json::json;

use crate::guard::asked::asked;
use crate::guard::cases::rules;
use crate::guard::project::{Project, decided};
use crate::guard::rewriting::permissions;
use crate::guard::tables::Table;
use crate::guard::tree::Tree;

const NAMES: [&str; 34] = [
    "sandbox",
    "use_sandbox",
    "sandbox_permissions",
    "dangerouslyDisableSandbox",
    "with_escalated_permissions",
    "require_approval",
    "readOnly",
    "dry_run",
    "args",
    "arguments",
    "env",
    "stdin",
    "cwd",
    "path",
    "file_path",
    "paths",
    "url",
    "host",
    "command",
    "Cmd",
    "commands",
    "bashCommand",
    "script",
    "sql",
    "query",
    "pattern",
    "description",
    "timeout",
    "limit",
    "content",
    "edits",
    "options",
    "input",
    "mood",
];

const VALUES: [&str; 18] = [
    "null",
    "false",
    "true",
    "0",
    "1",
    "\"\"",
    "\"off\"",
    "\"none\"",
    "\"src/a.rs\"",
    "\"PROJECT\"",
    "\"ls\"",
    "[]",
    "{}",
    "[\"ls\"]",
    "{\"enabled\":false}",
    "{\"path\":\"src/a.rs\"}",
    "\"{\\\"command\\\":\\\"ls\\\"}\"",
    "\"https://a\"",
];

/// Reasons of a permission that says too little, or contradicts itself: more members may well say it.
const SAYS_LITTLE: [&str; 7] = [
    "does not say",
    "is unknown",
    "not known",
    "is no permission",
    "not shown whole",
    "earlier update",
    "it has no command",
];

/// Returns the line with a member added to the input. `None` if it has no input, or such a member.
fn added(line: &str, name: &str, value: &str) -> Option<String> {
    let (request, earlier) =
        line.split_once(" <- ").map_or((line, None), |(line, earlier)| (line, Some(earlier)));
    let (begin, json) = request.split_at(request.find('{')?);
    let mut tree = Tree::read(json);
    let is_input = begin.starts_with("claude") || begin.starts_with("hook");
    let input = match &mut tree {
        tree if is_input => tree,
        Tree::Object(members) => {
            &mut members.iter_mut().find(|(name, _)| matches!(&**name, "rawInput" | "metadata"))?.1
        }
        _ => return None,
    };
    let Tree::Object(members) = input else { return None };
    let letters = |name: &str| name.replace('_', "").to_lowercase();
    if members.iter().any(|(other, _)| letters(other) == letters(name)) {
        return None;
    }
    members.push((name.to_owned(), Tree::read(value)));
    let earlier = earlier.map(|earlier| format!(" <- {earlier}")).unwrap_or_default();
    Some(format!("{begin}{}{earlier}", tree.write()))
}

fn run(cases: u32, lines: &[String], check: impl Fn(&str, &str) -> Result<(), TestCaseError>) {
    let seeds = FileFailurePersistence::WithSource("seeds");
    let config = ProptestConfig { cases, ..ProptestConfig::with_failure_persistence(seeds) };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let input = (0..lines.len(), select(&NAMES[..]), select(&VALUES[..]));
    let ran = runner.run(&input, |(line, name, value)| match added(&lines[line], name, value) {
        Some(more) => check(&lines[line], &more),
        None => Ok(()),
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn no_member_that_is_added_makes_a_permission_less_dangerous() {
    let project = Project::new(&Table::read("kinds.txt").preamble);
    let risk = |line: &str| {
        let question = asked(&project.path(line), &project.folder())?;
        Some((question.risk().degree(), question.risk_reason.unwrap_or_default()))
    };
    run(4000, &permissions(), |line, more| {
        let Some((before, why)) = risk(line) else { return Ok(()) };
        // What is no permission any more is left to the agent's own dialog.
        let Some((after, _)) = risk(more) else { return Ok(()) };
        let says_little = SAYS_LITTLE.iter().any(|said| why.contains(said));
        prop_assert!(after >= before || says_little, "{before} ({why}) -> {after}: {more}");
        Ok(())
    });
}

#[test]
fn no_member_that_is_added_makes_a_rule_allow() {
    for name in ["inputs.txt", "files.txt", "no-files.txt"] {
        let table = Table::read(name);
        let (project, settings) = (Project::new(&table.preamble), rules(&table.preamble));
        let decide = |line: &str| match asked(&project.path(line), &project.folder()) {
            Some(question) => decided(&settings, question),
            None => Err("is no permission".to_owned()),
        };
        let lines: Vec<_> = table.cases.into_iter().map(|case| case.line).collect();
        run(2000, &lines, |line, more| {
            let Err(why) = decide(line) else { return Ok(()) };
            let says_little = SAYS_LITTLE.iter().any(|said| why.contains(said));
            prop_assert!(decide(more).is_err() || says_little, "{why}: {more}");
            Ok(())
        });
    }
}

#[test]
fn a_member_is_added_to_the_input() {
    let line = r#"acp {"kind":"read","rawInput":{"path":"a"}} <- {"kind":"read"}"#;
    let more = r#"acp {"kind":"read","rawInput":{"path":"a","env":{}}} <- {"kind":"read"}"#;
    assert_eq!(added(line, "env", "{}").as_deref(), Some(more));
    assert_eq!(added(line, "Path", "{}"), None);
    let tool = format!("claude Read {}", json!({ "file_path": "a" }));
    assert!(added(&tool, "env", "0").is_some_and(|more| more.ends_with(r#","env":0}"#)));
}
