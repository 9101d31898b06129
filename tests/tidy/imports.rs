//! Which modules may know which others, and what the pure modules may not know at all (I3).

use crate::{
    paths::{module, paths},
    source::{Source, hold, words},
};

/// Modules that are free of I/O, clock, randomness and tokio (I3).
const PURE: [&str; 12] = [
    "wire", "question", "guard", "desk", "dialect", "engine", "acp", "native", "form", "notify", "rule",
    "settings",
];

/// What a pure module must not name, as a part of any path. The types of times and hashers are pure: what reads the
/// clock, or draws random keys, is not.
const IMPURE: [&str; 27] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net",
    "std::os",
    "std::process",
    "std::thread",
    "futures",
    "rustix",
    "tokio",
    "tokio_util",
    "tracing",
    "dbg",
    "eprint",
    "eprintln",
    "print",
    "println",
    "Instant",
    "SystemTime::now",
    "elapsed",
    // Their order differs from run to run.
    "HashMap",
    "HashSet",
    "RandomState",
    "hash_map",
    "hash_set",
    "getrandom",
    "rand",
];

/// What each module may know of the others, by the design. Files beside `lib.rs` are modules too.
const MAY_KNOW: [(&str, &[&str]); 38] = [
    // The pure core.
    ("limits", &[]),
    ("wire", &["limits"]),
    ("question", &["limits"]),
    ("guard", &["limits", "question"]),
    ("desk", &["limits", "question"]),
    ("dialect", &["limits", "question", "wire"]),
    ("engine", &["desk", "limits", "question", "wire"]),
    ("acp", &["desk", "dialect", "engine", "guard", "limits", "question", "wire"]),
    ("native", &["desk", "dialect", "engine", "guard", "limits", "question", "wire"]),
    // Small rooms that others stand on.
    ("exit", &[]),
    ("xdg", &[]),
    ("terminal", &["limits"]),
    ("signals", &["exit"]),
    // The shell.
    ("config", &["acp", "question"]),
    // Pure, and no part of the core: an embedder has settings of its own.
    ("rule", &["desk", "guard", "limits", "question"]),
    ("settings", &["acp", "config", "limits", "question", "rule"]),
    ("settings_files", &["limits", "settings", "xdg"]),
    ("real_files", &["guard"]),
    ("log", &["config", "limits", "terminal"]),
    ("control", &["desk", "guard", "limits", "question", "real_files"]),
    ("journal", &["control", "desk", "limits", "question"]),
    ("machine", &["control", "desk", "limits", "question", "xdg"]),
    (
        "driver",
        &[
            "acp", "control", "desk", "engine", "exit", "limits", "log", "question", "signals", "terminal",
            "wire",
        ],
    ),
    (
        "origin",
        &["control", "desk", "dialect", "exit", "limits", "machine", "question", "settings", "signals"],
    ),
    ("unattended_service", &["config", "control", "desk", "limits", "log", "question", "terminal"]),
    ("settings_service", &["control", "desk", "settings", "settings_files"]),
    ("rule_service", &["control", "desk", "question", "real_files", "rule", "settings_files", "terminal"]),
    ("serve", &["config", "control", "desk", "limits", "machine", "question"]),
    (
        "command",
        &[
            "config",
            "control",
            "desk",
            "dialect",
            "exit",
            "form",
            "guard",
            "journal",
            "limits",
            "log",
            "machine",
            // The demo asks as the commands do.
            "mock",
            "notifier",
            "notify",
            "origin",
            "present",
            "question",
            "rule",
            "real_files",
            "rule_service",
            "serve",
            "settings",
            "settings_files",
            "setup",
            "signals",
            "terminal",
            "wire",
            "xdg",
        ],
    ),
    // Pure, as `form` is.
    ("notify", &["desk", "form", "guard", "limits", "present", "question", "rule", "settings", "terminal"]),
    (
        "notifier",
        &[
            "control",
            "desk",
            "limits",
            "machine",
            "notify",
            "present",
            "question",
            "real_files",
            "rule",
            "settings",
            "settings_files",
            "terminal",
        ],
    ),
    ("setup", &[]),
    ("present", &["control", "desk", "machine", "question", "terminal"]),
    ("form", &["desk", "limits", "present", "question", "terminal"]),
    (
        "tui",
        &[
            "command", "control", "desk", "exit", "form", "machine", "present", "question", "signals",
            "terminal",
        ],
    ),
    // A peer like any other: it knows nothing of the bridge's inside.
    ("mock", &["exit", "signals", "terminal"]),
    ("cli", &["acp", "command", "config", "journal", "mock", "origin", "settings", "terminal", "tui"]),
    // The composition root, in the program.
    ("compose", &[]),
];

#[test]
fn pure_modules_stay_pure() {
    hold(
        &Source::all(&["src"]),
        impure,
        "Let `driver` do it and tell the module: as an event, as the time that is passed in, as bytes (I3).\n\
         For a map or a set, take the B-tree's: its order is the same in every run.",
    );
}

fn impure(source: &Source) -> Vec<String> {
    if !PURE.contains(&module(&source.path)[0]) {
        return Vec::new();
    }
    let known = paths(&source.production).into_iter();
    known
        .filter(|known| {
            let path = format!("::{}::", known.path);
            IMPURE.iter().any(|banned| path.contains(&format!("::{banned}::")))
        })
        .map(|known| source.at(known.line, format_args!("`{}` in a pure module", known.path)))
        .collect()
}

#[test]
fn modules_know_only_what_lies_below_them() {
    hold(
        &Source::all(&["src"]),
        upward,
        "Dependencies point one way: wire, question <- dialect, engine <- acp <- driver. Turn it round, or move what is\n\
         shared down. A new module gets its row in MAY_KNOW of tests/tidy/imports.rs.",
    );
}

fn upward(source: &Source) -> Vec<String> {
    let module = module(&source.path);
    let own = module[0];
    // They put the parts together.
    if ["lib", "main"].contains(&own) {
        return Vec::new();
    }
    let Some((_, may_know)) = MAY_KNOW.iter().find(|(name, _)| *name == own) else {
        return vec![source.at(1, format_args!("nothing says what `{own}` may know"))];
    };
    let known = paths(&source.production).into_iter();
    known
        .filter_map(|known| {
            let other = absolute(&known.path, &module)?;
            let allowed = other == own || may_know.contains(&other.as_str());
            (!allowed).then(|| source.at(known.line, format_args!("`{own}` must not know `{other}`")))
        })
        .collect()
}

#[test]
fn re_exports_are_named_one_by_one() {
    hold(&Source::all(&["src", "tests", "benches"]), globs, "Name what is re-exported, one by one.");
}

fn globs(source: &Source) -> Vec<String> {
    let known = paths(&source.code).into_iter().filter(|known| known.exported && known.path.ends_with("::*"));
    known.map(|known| source.at(known.line, format_args!("`pub use {}`", known.path))).collect()
}

#[test]
fn no_channel_is_unbounded() {
    hold(
        &Source::all(&["src", "tests", "benches"]),
        without_bound,
        "Give the channel a capacity, and say why it is enough (I6).",
    );
}

fn without_bound(source: &Source) -> Vec<String> {
    let names = ["unbounded", "unbounded_channel", "unbounded_send", "UnboundedReceiver", "UnboundedSender"];
    let found = words(&source.code, &names).into_iter();
    found.map(|(line, word)| source.at(line, format_args!("`{word}`"))).collect()
}

/// Returns the module of ours, on the top level, that a path in this module leads to.
fn absolute(path: &str, module: &[&str]) -> Option<String> {
    let segments: Vec<_> = path.split("::").collect();
    let ups = segments.iter().take_while(|segment| ["self", "super"].contains(*segment));
    let ups = ups.filter(|segment| **segment == "super").count();
    match segments[0] {
        "crate" => segments.get(1).map(|name| (*name).to_owned()),
        "super" if ups >= module.len() => segments.get(ups).map(|name| (*name).to_owned()),
        _ => None,
    }
}

#[test]
fn an_impure_module_is_found() {
    let complaints = |path: &str, text: &str| impure(&Source::new(path, text)).len();
    for text in [
        "use std::io;",
        "use std::{fmt, io::Read};",
        "use std::{collections::{BTreeMap, HashMap}};",
        "fn a() { std::fs::read(b) }",
        "use std::time::{Duration, Instant};",
        "fn a() { println!() }",
        "use tokio::sync::mpsc;",
        "fn a() { tracing::debug!() }",
        "fn a() { b::SystemTime::now() }",
        "fn a() { b.elapsed() }",
        "use rand::Rng;",
        "use std::thread;",
    ] {
        assert_eq!(complaints("src/acp/x.rs", text), 1, "{text}");
        assert_eq!(complaints("src/wire/mod.rs", text), 1, "{text}");
        assert_eq!(complaints("src/driver/x.rs", text), 0, "{text}");
        let test = format!("#[cfg(test)]\nmod tests {{ {text} }}");
        assert_eq!(complaints("src/acp/x.rs", &test), 0, "{test}");
    }
    for text in [
        "//! No tokio, std::io.",
        "use std::{fmt, time::{Duration, SystemTime}};",
        "use a::iota;",
        "let operand = \"println\";",
    ] {
        assert_eq!(complaints("src/dialect/a/b.rs", text), 0, "{text}");
    }
}

#[test]
fn an_upward_import_is_found() {
    let complaints = |path: &str, text: &str| upward(&Source::new(path, text));
    assert_eq!(
        complaints("src/acp/x.rs", "use crate::{limits, driver::run};"),
        ["src/acp/x.rs:1: `acp` must not know `driver`"]
    );
    assert_eq!(complaints("src/wire/x.rs", "use crate::question::Question;").len(), 1);
    assert_eq!(complaints("src/wire/x.rs", "use super::super::acp::Bridge;").len(), 1);
    assert_eq!(complaints("src/wire/mod.rs", "use super::acp::Bridge;").len(), 1);
    assert_eq!(complaints("src/question/x.rs", "fn a() { crate::wire::frame::b() }").len(), 1);
    assert_eq!(complaints("src/mock/x.rs", "use crate::wire::frame;").len(), 1);
    assert_eq!(complaints("src/acp/x.rs", "use crate::cli::RunArgs;").len(), 1);
    assert_eq!(complaints("src/limits.rs", "use crate::exit;").len(), 1);
    assert_eq!(complaints("src/new/x.rs", ""), ["src/new/x.rs:1: nothing says what `new` may know"]);
    assert!(complaints("src/main.rs", "use crate::driver;").is_empty());
    assert!(
        complaints("src/acp/x.rs", "use super::event::Event; use crate::{acp::Config, wire::id};").is_empty()
    );
    assert!(complaints("src/dialect/a/b.rs", "use super::super::c; use super::d;").is_empty());
}

#[test]
fn a_glob_and_an_unbounded_channel_are_found() {
    let source = |text: &str| Source::new("src/x.rs", text);
    assert_eq!(globs(&source("use a::*;\npub use b::{c, d::*};")), ["src/x.rs:2: `pub use b::d::*`"]);
    assert_eq!(globs(&source("pub(crate) use a::*;")).len(), 1);
    assert!(globs(&source("use super::*;\npub use b::{c, d};")).is_empty());
    assert_eq!(
        without_bound(&source("let (a, b) =\n mpsc::unbounded_channel();")),
        ["src/x.rs:2: `unbounded_channel`"]
    );
    assert!(without_bound(&source("// unbounded\nmpsc::channel(1)")).is_empty());
}
