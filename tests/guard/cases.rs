//! Every line of the tables in `fixtures/guard`. What its heading expects is said in `fixtures/guard/README.md`.

use std::{collections::BTreeSet, fs};

use askbridge_core::question::Question;
use askbridge_settings::Settings;
use serde_json::json;

use crate::guard::{
    asked::asked,
    project::{Project, decided, problems, settings},
    shapes::{changes, shapes},
    tables::{Case, Table, hold},
};

/// The tables, each of which is read by a test: below, or in `promises`.
const TABLES: [&str; 14] = [
    "active.txt",
    "commands.txt",
    "dangerous.txt",
    "everyday.txt",
    "files.txt",
    "holes.txt",
    "inputs.txt",
    "kinds.txt",
    "looks.txt",
    "no-files.txt",
    "patterns.txt",
    "promises.txt",
    "rules.txt",
    "tables.txt",
];

#[test]
fn every_table_is_read_by_a_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/guard");
    let names: BTreeSet<_> = fs::read_dir(folder)
        .expect("the tables")
        .map(|file| file.expect("a file").file_name().into_string().expect("Unicode"))
        .filter(|name| name.ends_with(".txt"))
        .collect();
    assert_eq!(names, TABLES.map(str::to_owned).into());
}

/// Returns how a question differs from what a case expects of it.
fn differs(case: &Case, question: Option<&Question>, about: &str) -> Option<String> {
    let Some(question) = question else { return Some(format!("{}: is no permission: {about}", case.place)) };
    let (risk, why) = (question.risk(), question.risk_reason.as_deref().unwrap_or_default());
    let is_like = risk.name() == case.expected
        && question.dangerous == (case.expected != "plain")
        && case.reason.as_deref().is_none_or(|reason| why.contains(reason));
    (!is_like).then(|| format!("{}: {} ({why}), and not {}: {about}", case.place, risk.name(), case.expected))
}

/// The beginnings of requests that say nothing but a command.
const WHOLE: [&str; 7] = [
    "claude Bash",
    "hook Bash",
    "acp2",
    "codex-command",
    "codex-1-command",
    r#"acp {"kind":"execute","rawInput":{"command":""#,
    "copilot-request",
];

#[test]
fn commands_have_their_risk_in_whatever_words_they_are_asked() {
    let table = Table::read("commands.txt");
    let mut wrong = Vec::new();
    for case in &table.cases {
        let ask = |line: &String| differs(case, asked(line, "/people/ada/shop").as_ref(), line);
        // What only looks is plain where nothing else is said; in other words, it may be more.
        let shapes = shapes(&case.line);
        let is_whole = |line: &&String| {
            let is_alone = line.matches(r#""command":"#).count() == 1;
            case.expected != "plain" || (is_alone && WHOLE.iter().any(|it| line.starts_with(it)))
        };
        wrong.extend(shapes.iter().filter(is_whole).find_map(ask));
    }
    hold(&wrong, table.cases.len());
}

#[test]
fn kinds_and_subjects_have_their_risk() {
    let table = Table::read("kinds.txt");
    let project = Project::new(&table.preamble);
    let wrong: Vec<_> = table
        .cases
        .iter()
        .filter_map(|case| {
            let line = project.path(&case.line);
            differs(case, asked(&line, &project.folder()).as_ref(), &line)
        })
        .collect();
    hold(&wrong, table.cases.len());
}

/// Returns the ways in which agents name a file of a project.
fn named(path: &str) -> Vec<String> {
    match path.starts_with(['/', '~', '$']) {
        true => vec![path.to_owned()],
        false => vec![path.to_owned(), format!("/people/ada/shop/{path}"), format!("./{path}")],
    }
}

#[test]
fn changes_of_active_files_have_their_risk_in_whatever_words_they_are_asked() {
    let table = Table::read("active.txt");
    let mut wrong = Vec::new();
    for case in &table.cases {
        let lines = named(&case.line).into_iter().flat_map(|path| changes(&path));
        let ask = |line: String| differs(case, asked(&line, "/people/ada/shop").as_ref(), &line);
        wrong.extend(lines.into_iter().find_map(ask));
    }
    hold(&wrong, table.cases.len());
}

#[test]
fn a_rule_for_changes_allows_an_active_file_only_if_it_says_so() {
    let table = Table::read("active.txt");
    let (project, mut wrong) = (Project::new(""), Vec::new());
    let usual = rules("rule tool = 'edit' ⏎ then = 'allow'");
    let dangerous = rules("rule tool = 'edit' ⏎ dangerous = true ⏎ then = 'allow'");
    for case in &table.cases {
        let ask = || {
            asked(
                &format!("claude Write {}", json!({ "file_path": case.line, "content": "b" })),
                &project.folder(),
            )
        };
        let is_usual = decided(&usual, ask().expect("a permission")).is_ok();
        // A file outside of the project, or with another name than it seems, is allowed by no rule.
        let is_plain = !case.line.contains(['$', '\\', '\u{200b}', '\u{200c}', '\u{feff}'])
            && !case.line.starts_with(['/', '~'])
            && !case.line.split('/').any(|part| part == "..");
        let is_dangerous = decided(&dangerous, ask().expect("a permission")).is_ok();
        if is_usual != (case.expected == "plain") || is_dangerous != (case.expected != "plain" && is_plain) {
            wrong.push(format!("{}: {is_usual}, {is_dangerous}: {}", case.place, case.line));
        }
    }
    hold(&wrong, table.cases.len());
}

/// Returns the rules in a text, each of which is a line: `rule KEY = VALUE ⏎ KEY = VALUE`.
pub(crate) fn rules(preamble: &str) -> Settings {
    let rules = preamble.lines().filter_map(|line| line.strip_prefix("rule "));
    let rules: String = rules
        .enumerate()
        .map(|(number, rule)| format!("[[rule]]\nname = 'r{number}'\n{}\n", rule.replace(" ⏎ ", "\n")))
        .collect();
    let settings = settings(&rules);
    assert_eq!(problems(&settings), [""; 0]);
    settings
}

/// Returns how what the rules decide differs from what a case expects.
fn decides_otherwise(case: &Case, settings: &Settings, question: Option<Question>) -> Option<String> {
    let decided = match question {
        Some(question) => decided(settings, question),
        None => Err("it is no permission".to_owned()),
    };
    let is_like = match (&*case.expected, &decided) {
        ("allowed", Ok(())) => true,
        ("person", Err(why)) => case.reason.as_deref().is_none_or(|reason| why.contains(reason)),
        _ => false,
    };
    (!is_like).then(|| format!("{}: {decided:?}, and not {}: {}", case.place, case.expected, case.line))
}

fn check_requests(name: &str) {
    let table = Table::read(name);
    let (project, settings) = (Project::new(&table.preamble), rules(&table.preamble));
    let wrong: Vec<_> = table
        .cases
        .iter()
        .filter_map(|case| {
            let question = asked(&project.path(&case.line), &project.folder());
            decides_otherwise(case, &settings, question)
        })
        .collect();
    hold(&wrong, table.cases.len());
}

#[test]
fn rules_for_files_allow_what_is_plainly_in_the_project() {
    check_requests("files.txt");
}

#[test]
fn rules_for_thoughts_and_addresses_allow_no_command_and_no_file() {
    check_requests("no-files.txt");
}

#[test]
fn rules_for_commands_allow_nothing_beside_the_command() {
    check_requests("inputs.txt");
}

/// Returns a permission to run a command.
pub(crate) fn runs(command: &str) -> Option<Question> {
    asked(&format!("claude Bash {}", json!({ "command": command })), "/people/ada/shop")
}

#[test]
fn what_a_broken_rule_was_to_keep_is_kept() {
    let table = Table::read("rules.txt");
    let rule = table.preamble.replace(" ⏎ ", "\n");
    let mut wrong = Vec::new();
    for case in &table.cases {
        let settings = settings(&format!("{}\n{rule}", case.line.replace(" \n ", "\n")));
        let problems = problems(&settings);
        let is_said =
            case.reason.as_deref().is_none_or(|said| problems.iter().any(|problem| problem.contains(said)));
        let decided = decided(&settings, runs("cargo test").expect("a permission"));
        let is_like = match &*case.expected {
            "kept" => decided.is_err() && !problems.is_empty() && is_said,
            "allowed" => decided.is_ok() && is_said,
            other => panic!("{}: {other} is not \"kept\" or \"allowed\"", case.place),
        };
        if !is_like {
            wrong.push(format!(
                "{}: {decided:?}, {problems:?}, and not {}: {}",
                case.place, case.expected, case.line
            ));
        }
    }
    hold(&wrong, table.cases.len());
}

#[test]
fn a_pattern_of_commands_allows_what_it_says_and_is_refused_where_that_is_anything() {
    let table = Table::read("patterns.txt");
    let mut wrong = Vec::new();
    for case in &table.cases {
        let (pattern, command) = match case.line.split_once(" => ") {
            Some((pattern, command)) => (pattern, Some(command)),
            None => (&*case.line, None),
        };
        // A list has the exact words.
        let value = if pattern.starts_with('[') { pattern.to_owned() } else { json!(pattern).to_string() };
        let settings =
            settings(&format!("[[rule]]\nname = 'r'\ncommand = {value}\ndangerous = true\nthen = 'allow'\n"));
        let problems = problems(&settings);
        let said = match (&*case.expected, command) {
            ("refused", None) => {
                let is_said =
                    |problem: &String| case.reason.as_deref().is_none_or(|said| problem.contains(said));
                (!problems.iter().any(is_said)).then(|| format!("{problems:?}"))
            }
            ("taken", None) => (!problems.is_empty()).then(|| format!("{problems:?}")),
            (_, Some(command)) if problems.is_empty() => decides_otherwise(case, &settings, runs(command)),
            _ => Some(format!("{problems:?}")),
        };
        wrong.extend(
            said.map(|said| format!("{}: {} is not {}: {said}", case.place, case.line, case.expected)),
        );
    }
    hold(&wrong, table.cases.len());
}
