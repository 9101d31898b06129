//! The places of a dialect that the compiler cannot ask for: its row in the registry, its requests in the mock agent, its
//! tests, and its pages. Each is named when it is missing.

use std::fs;

use askbridge_core::{
    dialect,
    wire::method::{LEGACY_ELICITATIONS, LEGACY_NESTED_ELICITATIONS},
};

use crate::{
    machine::asks,
    tidy::source::{Source, read, repository, root},
};

#[test]
fn each_dialect_is_registered() {
    let registry = read(&root().join("crates/core/src/dialect/registry.rs"));
    let mut missing = Vec::new();
    for source in Source::all(&["crates/core/src/dialect"]) {
        let formats = source
            .code
            .lines()
            .filter_map(|line| line.strip_prefix("impl AgentDialect for ")?.split_once(' '));
        for (format, _) in formats.filter(|(format, _)| !registry.contains(&format!("({format}),"))) {
            missing.push(format!(
                "crates/core/src/dialect/registry.rs: no row for `{format}` of {}",
                source.path
            ));
        }
    }
    complain(&missing);
}

#[test]
fn each_method_of_a_dialect_is_tested_and_described() {
    let transcripts = texts("fixtures/transcripts/");
    let requests = texts("crates/mock/src/requests/questions/");
    // One of two spellings of a name is enough for the random conversations.
    let spelled = |method: &str| method.trim_start_matches('_').to_owned();
    let asked: Vec<_> = (0..asks::COUNT).map(|how| spelled(asks::ask(how, 0, 0).0)).collect();
    let mut missing = Vec::new();
    for method in dialect::methods().filter(|method| !is_former(method)) {
        if !asked.contains(&spelled(method)) {
            missing.push(format!("tests/machine/asks.rs: `ask` has no `{method}` below `QUESTIONS`"));
        }
        for place in ["tests/matrix/asking.rs", "docs/questions.md"] {
            if !read(&root().join(place)).contains(method) {
                missing.push(format!("{place}: no `{method}`"));
            }
        }
        if !transcripts.iter().any(|text| text.contains(method)) {
            missing.push(format!("fixtures/transcripts: no conversation with `{method}`"));
        }
        if !requests.iter().any(|text| text.contains(method)) {
            missing.push(format!("crates/mock/src/requests/questions: no request with `{method}`"));
        }
    }
    for origin in dialect::ORIGINS {
        for (place, name) in [
            ("docs/check.md", format!("`{origin}`")),
            ("sdk/typescript/src/types.ts", format!("| \"{origin}\"")),
        ] {
            if !read(&root().join(place)).contains(&name) {
                missing.push(format!("{place}: no {name}"));
            }
        }
    }
    complain(&missing);
}

#[test]
fn each_dialect_of_the_mock_agent_is_recorded_and_described() {
    let specs = read(&root().join("crates/mock/src/dialects/spec.rs"));
    let names: Vec<_> =
        specs.lines().filter_map(|line| line.trim().strip_prefix("name: \"")?.strip_suffix("\",")).collect();
    assert!(names.contains(&"kiro"), "the names are no longer found: {names:?}");
    let page = read(&root().join("docs/mocks.md"));
    let mut missing = Vec::new();
    for path in repository() {
        let file = path.strip_prefix("crates/mock/src/requests/questions/");
        let Some(template) = file.and_then(|file| file.strip_suffix(".json")) else { continue };
        if !specs.contains(&format!("templates!(\"questions\", \"{template}\")")) {
            missing.push(format!("crates/mock/src/dialects/spec.rs: no row with the requests of {path}"));
        }
    }
    for name in names {
        let recorded =
            [format!("fixtures/dialects/{name}.txt"), format!("fixtures/dialects/permission-{name}.txt")];
        if !recorded.iter().any(|file| root().join(file).exists()) {
            missing.push(format!("{}: does not exist; write a test in tests/mock/dialects.rs", recorded[0]));
        }
        if !page.contains(&format!("`{name}`")) {
            missing.push(format!("docs/mocks.md: no `{name}`"));
        }
    }
    complain(&missing);
}

/// Whether a method is a former name of another one, for which one test of each kind of result is enough.
fn is_former(method: &str) -> bool {
    LEGACY_ELICITATIONS.contains(&method) || LEGACY_NESTED_ELICITATIONS.contains(&method)
}

fn texts(folder: &str) -> Vec<String> {
    let files = repository().into_iter().filter(|path| path.starts_with(folder));
    files.filter_map(|path| fs::read_to_string(root().join(path)).ok()).collect()
}

#[track_caller]
fn complain(missing: &[String]) {
    assert!(
        missing.is_empty(),
        "\n{}\nAdd the dialect there; CONTRIBUTING.md says how, under \"A dialect\".\n",
        missing.join("\n")
    );
}
