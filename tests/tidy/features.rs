//! The pure core brings no runtime, no server and no command line, the library for responders no settings, journal, web
//! server or fleet, and the program generates no documents.

use std::{env, process::Command};

use crate::tidy::source::root;

/// Crates that an embedder of the core must not have to build.
const FORBIDDEN: [&str; 13] = [
    "axum",
    "clap",
    "clap_complete",
    "futures",
    "hyper",
    "jsonrpsee",
    "rusqlite",
    "rustix",
    "schemars",
    "tokio",
    "tokio-util",
    "tracing",
    "tracing-subscriber",
];

/// Crates that a responder must not have to build.
const NOT_FOR_RESPONDERS: [&str; 10] = [
    "askbridge-adapters",
    "askbridge-fleet",
    "askbridge-journal",
    "askbridge-settings",
    "askbridge-web",
    "async-nats",
    "axum",
    "clap",
    "rusqlite",
    "schemars",
];

/// Returns the names of the crates that a build with these options has, without those for tests.
fn crates(options: &[&str]) -> Vec<String> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none"]);
    let output = cargo.args(options).current_dir(root()).output().expect("cargo");
    assert!(output.status.success(), "cargo tree failed: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("names");
    lines.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn forbidden(crates: &[String]) -> Vec<&str> {
    these(&FORBIDDEN, crates)
}

fn these<'a>(names: &[&'a str], crates: &[String]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| crates.iter().any(|known| known == name)).collect()
}

#[test]
fn pure_core_brings_no_runtime_and_no_command_line() {
    let crates = crates(&["--package", "askbridge-core"]);
    assert!(crates.iter().any(|name| name == "serde_json"), "not a list of crates: {crates:?}");
    let found = forbidden(&crates);
    assert!(
        found.is_empty(),
        "\nthe core has {found:?}\nWhat needs it belongs to the program, or to `crates/os`.\n"
    );
}

#[test]
fn library_for_responders_brings_no_settings_journal_web_or_fleet() {
    let crates = crates(&["--package", "askbridge-control"]);
    assert!(crates.iter().any(|name| name == "askbridge-core"), "not a list of crates: {crates:?}");
    let found = these(&NOT_FOR_RESPONDERS, &crates);
    assert!(found.is_empty(), "\n`crates/control` has {found:?}\nWhat needs it belongs to the program.\n");
}

#[test]
fn program_does_not_generate_its_documents() {
    // The server of `rmcp` needs it, and generates nothing here.
    let crates = crates(&["--no-default-features", "--features", "mock,notify,tui"]);
    assert!(crates.iter().any(|name| name == "tokio"), "not the program: {crates:?}");
    assert!(
        !crates.iter().any(|name| name == "schemars"),
        "\nthe program has schemars: keep it behind the feature `schema`, which only the tests switch on\n"
    );
}

#[test]
fn forbidden_crate_is_found() {
    let crates = ["serde", "tokio"].map(str::to_owned);
    assert_eq!(forbidden(&crates), ["tokio"]);
}
