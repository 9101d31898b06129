//! What `docs/rules.md` and `SECURITY.md` promise: each sentence names tests, or cases of `askbridge check`, in
//! `fixtures/guard/promises.txt`, and each row of the table of cases is decided as it says. That the examples of the page
//! are rules is left to `tests/answers`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::guard::asked::asked;
use crate::guard::project::{Project, decided, problems, settings};
use crate::guard::tables::{Table, hold};

/// The pages, and their sections whose list items are promises.
const SECTIONS: [(&str, &str); 2] =
    [("docs/rules.md", "What rules promise"), ("SECURITY.md", "What askbridge promises")];

/// The files that the table of cases says there are.
const FILES: &str = "file PROJECT/src/a.rs\nfile OUTSIDE/key\nlink PROJECT/notes.md -> OUTSIDE/key";

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns what stands under a heading of a page, up to the next heading of any level.
fn section(page: &str, heading: &str) -> String {
    let text = read(page);
    let mut lines = text.lines().skip_while(|line| line.trim_start_matches('#') != format!(" {heading}"));
    assert!(lines.next().is_some(), "{page} has no section {heading:?}");
    lines.take_while(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

/// Returns the sentences of the list items in a text. A period in backticks ends none.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for item in text.lines().filter_map(|line| line.strip_prefix("- ")) {
        let mut sentence = String::new();
        for part in item.split_inclusive(". ") {
            sentence.push_str(part);
            if sentence.matches('`').count().is_multiple_of(2) {
                sentences.push(std::mem::take(&mut sentence).trim_end().to_owned());
            }
        }
        assert!(sentence.is_empty(), "a backtick without its end: {item}");
    }
    sentences
}

/// Returns the text of all Rust files below a folder.
fn code(folder: PathBuf, texts: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            code(path, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(fs::read_to_string(path).expect("Unicode"));
        }
    }
}

/// Returns whether a text has a test of this name.
fn has_test(text: &str, name: &str) -> bool {
    let begin = format!("fn {name}(");
    text.match_indices(&begin).any(|(at, _)| {
        let above = text[..at].rfind('\n').map_or("", |end| &text[..end]).lines().rev().map(str::trim);
        let mut attributes = above.take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        attributes.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

#[test]
fn each_promise_names_the_tests_that_hold_it() {
    let held = Table::read("promises.txt").cases;
    let promised: Vec<_> =
        SECTIONS.iter().flat_map(|(page, heading)| sentences(&section(page, heading))).collect();
    assert!(promised.len() > 40, "{promised:#?}");
    let mut wrong: Vec<_> = promised
        .iter()
        .filter(|sentence| held.iter().all(|case| case.line != **sentence))
        .map(|sentence| format!("fixtures/guard/promises.txt names no test for: {sentence}"))
        .collect();
    let is_gone = held.iter().filter(|case| !promised.contains(&case.line));
    wrong.extend(is_gone.map(|case| format!("{}: stands on no page: {}", case.place, case.line)));

    let mut texts = Vec::new();
    for folder in ["src", "crates", "tests"] {
        code(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut texts);
    }
    let named: BTreeSet<_> = held.iter().flat_map(|case| case.expected.split(' ')).collect();
    // The suite plays each case of `askbridge check bridge` against the program.
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/check/cases");
    let is_there = |name: &str| match name.contains('/') {
        true => cases.join(format!("{name}.txt")).exists(),
        false => texts.iter().any(|text| has_test(text, name)),
    };
    let missing = named.iter().filter(|name| !is_there(name));
    wrong.extend(missing.map(|name| format!("there is no test or case {name}")));
    hold(&wrong, promised.len());
}

/// Returns the code spans of a cell.
fn spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns the line of a request, as `asked` takes it, that a cell stands for: a command, the tool call of ACP, or a tool
/// of Claude Code with its input.
fn request(cell: &str) -> String {
    let [span] = spans(cell)[..] else { panic!("not one request: {cell}") };
    let tool = span.split_once(" {").map(|(tool, _)| tool);
    match tool {
        _ if span.starts_with('{') => format!("acp {span}"),
        Some(tool) if tool.chars().all(char::is_alphabetic) => format!("claude {span}"),
        _ => format!("acp {}", json!({ "kind": "execute", "rawInput": { "command": span } })),
    }
}

/// Returns a rule as it stands in a file: on a line of a table, it may leave out its name, and that it allows.
fn written(place: usize, rule: &str) -> String {
    let mut written = format!("[[rule]]\nname = \"r{place}\"");
    for part in rule.split(", ") {
        // Behind a comma may also stand a further word of a list.
        written.push_str(if part.contains(" = ") { "\n" } else { ", " });
        written.push_str(part);
    }
    let then = if rule.contains("then = ") { "" } else { "\nthen = \"allow\"" };
    written + then + "\n"
}

/// Returns how a row is decided otherwise than it says.
fn decided_otherwise(row: &str, project: &Project) -> Option<String> {
    let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
    let [rules, allowed, left, why] = cells[..] else { panic!("not four cells: {row}") };
    let rules: String =
        spans(rules).into_iter().enumerate().map(|(place, rule)| written(place, rule)).collect();
    let settings = settings(&rules);
    let decide = |cell: &str| {
        let line = project.path(&request(cell));
        let question = asked(&line, &project.folder()).unwrap_or_else(|| panic!("no permission: {line}"));
        decided(&settings, question)
    };
    if allowed != "–" && decide(allowed) != Ok(()) {
        return Some(format!("{allowed}: {:?}: {row}", decide(allowed)));
    }
    let said = match decide(left) {
        Ok(()) => return Some(format!("{left} is allowed: {row}")),
        Err(said) => [problems(&settings), vec![said]].concat().join("; "),
    };
    (!said.contains(why)).then(|| format!("{said}: {row}"))
}

#[test]
fn each_case_of_the_page_is_decided_as_it_says() {
    let text = section("docs/rules.md", "Cases");
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(rows.len() > 15, "{rows:#?}");
    let project = Project::new(FILES);
    let wrong: Vec<_> = rows.iter().filter_map(|row| decided_otherwise(row, &project)).collect();
    hold(&wrong, rows.len());
}

#[test]
fn sentences_end_at_periods_outside_of_backticks() {
    let text = "No.\n- It is `a. b`. Two: `.x.toml`, 3.5.\nNo. No.\n- Three.\n";
    assert_eq!(sentences(text), ["It is `a. b`.", "Two: `.x.toml`, 3.5.", "Three."]);
}

#[test]
fn only_a_function_with_the_attribute_is_a_test() {
    let code =
        "    #[tokio::test]\n    async fn one() {}\nfn two() {}\n#[test]\n#[cfg(unix)]\nfn three() {}\n";
    let found = ["one", "two", "three", "thr"].map(|name| has_test(code, name));
    assert_eq!(found, [true, false, true, false]);
}
