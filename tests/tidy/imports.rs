//! Which modules may know which others, and what the pure modules may not know at all (I3).

use crate::tidy::{
    paths::{crate_named, module, only_room, paths, room, root_of},
    source::{Source, hold, words},
};

/// Modules that are free of I/O, clock, randomness and tokio (I3).
const PURE: [&str; 12] = [
    "wire", "question", "guard", "desk", "dialect", "engine", "acp", "hosted", "markdown", "mcp", "settings",
    "notify",
];

/// Parts of pure rooms that do the rooms' I/O.
const IMPURE_PARTS: [&str; 2] = ["crates/settings/src/files.rs", "src/notify/ways/"];

/// What a pure module must not name, as a part of any path. The types of times and hashers are pure: what reads the
/// clock, or draws random keys, is not.
const IMPURE: [&str; 30] = [
    "std::env",
    "std::fs",
    "std::io",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::ToSocketAddrs",
    "std::net::UdpSocket",
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

/// What each room may know of the others, by the design. That the crates keep their order, Cargo holds as well.
const MAY_KNOW: [(&str, &[&str]); 28] = [
    // The pure core, `crates/core`.
    // Those of the program stand beside those of the crates.
    ("limits", &["adapters", "fleet", "journal", "settings", "web"]),
    ("wire", &["limits"]),
    ("question", &["limits"]),
    ("guard", &["limits", "question"]),
    ("desk", &["dialect", "limits", "question"]),
    ("dialect", &["guard", "limits", "question", "wire"]),
    ("engine", &["desk", "limits", "question", "wire"]),
    ("acp", &["desk", "dialect", "engine", "guard", "limits", "question", "wire"]),
    ("hosted", &["desk", "dialect", "engine", "guard", "limits", "question", "wire"]),
    ("mcp", &["desk", "dialect", "engine", "guard", "limits", "question", "wire"]),
    // The crates beside it. A mock is a peer like any other: it knows nothing of a bridge.
    ("os", &[]),
    ("mock", &["os"]),
    ("check", &["dialect", "limits", "os", "question", "wire"]),
    ("markdown", &["limits", "question"]),
    // The inbox and the ways to it, `crates/control`.
    ("inbox", &["desk", "guard", "limits", "os", "question"]),
    ("rpc", &["desk", "inbox", "limits", "markdown", "os", "question", "wire"]),
    ("join", &["desk", "inbox", "limits", "os", "question", "rpc"]),
    ("settings", &["acp", "desk", "engine", "guard", "limits", "mcp", "os", "question"]),
    ("journal", &["desk", "inbox", "limits", "os", "question"]),
    ("adapters", &["desk", "dialect", "inbox", "join", "limits", "os", "question", "settings", "wire"]),
    ("web", &["desk", "dialect", "inbox", "join", "limits", "os", "question", "rpc", "settings", "wire"]),
    ("fleet", &["desk", "inbox", "limits", "join", "os", "question", "rpc", "settings"]),
    // The program.
    ("driver", &["acp", "desk", "engine", "inbox", "limits", "os", "question", "rpc", "wire"]),
    ("present", &["desk", "inbox", "limits", "join", "markdown", "os", "question"]),
    (
        "notify",
        &["desk", "guard", "inbox", "limits", "join", "os", "present", "question", "rpc", "settings", "wire"],
    ),
    (
        "service",
        &[
            "desk", "fleet", "inbox", "journal", "limits", "join", "notify", "os", "question", "rpc", "web",
            "settings",
        ],
    ),
    (
        "hub",
        &[
            "adapters", "desk", "fleet", "inbox", "limits", "join", "os", "present", "rpc", "service",
            "settings", "web",
        ],
    ),
    (
        "command",
        &[
            "acp", "adapters", "check", "desk", "dialect", "fleet", "guard", "hub", "inbox", "journal",
            "limits", "join", "mcp", "mock", "notify", "os", "present", "question", "rpc", "service",
            "settings", "web", "wire",
        ],
    ),
];

#[test]
fn pure_modules_stay_pure() {
    hold(
        &Source::all(&["src", "crates"]),
        impure,
        "Let `driver` do it and tell the module: as an event, as the time that is passed in, as bytes (I3).\n\
         For a map or a set, take the B-tree's: its order is the same in every run.",
    );
}

fn impure(source: &Source) -> Vec<String> {
    let does_io = IMPURE_PARTS.iter().any(|part| source.path.starts_with(part));
    if does_io || !PURE.contains(&room(&module(&source.path))) {
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
        &Source::all(&["src", "crates"]),
        upward,
        "Dependencies point one way: wire, question <- dialect, engine <- acp <- driver. Turn it round, or move what is\n\
         shared down. A new module gets its row in MAY_KNOW of tests/tidy/imports.rs.",
    );
}

fn upward(source: &Source) -> Vec<String> {
    let module = module(&source.path);
    let own = room(&module);
    // They put the parts together, and an example is no part.
    if source.path.contains("/examples/")
        || source.path.ends_with("src/lib.rs")
        || ["compose", "main"].contains(&own)
    {
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
    hold(
        &Source::all(&["src", "crates", "tests", "benches"]),
        globs,
        "Name what is re-exported, one by one.",
    );
}

fn globs(source: &Source) -> Vec<String> {
    // A bound is named `limits::OPEN` in the program wherever it is used, whichever crate has it.
    if source.path.ends_with("src/limits.rs") {
        return Vec::new();
    }
    let known = paths(&source.code).into_iter().filter(|known| known.exported && known.path.ends_with("::*"));
    known.map(|known| source.at(known.line, format_args!("`pub use {}`", known.path))).collect()
}

#[test]
fn no_channel_is_unbounded() {
    hold(
        &Source::all(&["src", "crates", "tests", "benches"]),
        without_bound,
        "Give the channel a capacity, and say why it is enough (I6).",
    );
}

fn without_bound(source: &Source) -> Vec<String> {
    let names = ["unbounded", "unbounded_channel", "unbounded_send", "UnboundedReceiver", "UnboundedSender"];
    let found = words(&source.code, &names).into_iter();
    found.map(|(line, word)| source.at(line, format_args!("`{word}`"))).collect()
}

/// Returns the room that a path in this module leads to, if it is one of ours.
fn absolute(path: &str, module: &[&str]) -> Option<String> {
    let segments: Vec<_> = path.split("::").collect();
    let ups = segments.iter().take_while(|segment| ["self", "super"].contains(*segment));
    let ups = ups.filter(|segment| **segment == "super").count();
    let found = match segments[0] {
        "crate" => only_room(module).or_else(|| segments.get(ups.max(1)).copied()),
        "super" if ups >= module.len() - root_of(module) => {
            only_room(module).or_else(|| segments.get(ups).copied())
        }
        name => {
            let named = crate_named(name)?;
            only_room(&[named]).or_else(|| segments.get(1).copied())
        }
    };
    found.map(str::to_owned)
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
        assert_eq!(complaints("crates/core/src/acp/x.rs", text), 1, "{text}");
        assert_eq!(complaints("crates/core/src/wire/mod.rs", text), 1, "{text}");
        assert_eq!(complaints("src/driver/x.rs", text), 0, "{text}");
        let test = format!("#[cfg(test)]\nmod tests {{ {text} }}");
        assert_eq!(complaints("crates/core/src/acp/x.rs", &test), 0, "{test}");
    }
    for text in [
        "//! No tokio, std::io.",
        "use std::{fmt, time::{Duration, SystemTime}};",
        "use a::iota;",
        "let operand = \"println\";",
    ] {
        assert_eq!(complaints("crates/core/src/dialect/a/b.rs", text), 0, "{text}");
    }
}

#[test]
fn an_upward_import_is_found() {
    let complaints = |path: &str, text: &str| upward(&Source::new(path, text));
    assert_eq!(
        complaints("crates/core/src/acp/x.rs", "use crate::{limits, driver::run};"),
        ["crates/core/src/acp/x.rs:1: `acp` must not know `driver`"]
    );
    assert_eq!(complaints("crates/core/src/wire/x.rs", "use crate::question::Question;").len(), 1);
    assert_eq!(complaints("crates/core/src/wire/x.rs", "use super::super::acp::Bridge;").len(), 1);
    assert_eq!(complaints("crates/core/src/wire/mod.rs", "use super::acp::Bridge;").len(), 1);
    assert_eq!(complaints("crates/core/src/question/x.rs", "fn a() { crate::wire::frame::b() }").len(), 1);
    assert_eq!(complaints("crates/mock/src/x.rs", "use askbridge_core::wire::frame;").len(), 1);
    assert_eq!(complaints("crates/core/src/acp/x.rs", "use crate::cli::RunArgs;").len(), 1);
    assert_eq!(complaints("crates/control/src/inbox/x.rs", "use crate::rpc::client;").len(), 1);
    assert_eq!(complaints("src/new/x.rs", ""), ["src/new/x.rs:1: nothing says what `new` may know"]);
    assert_eq!(complaints("crates/os/src/x.rs", "use askbridge_core::limits;").len(), 1);
    assert_eq!(
        complaints("crates/settings/src/x.rs", "use askbridge_core::{desk::Record, wire::line};").len(),
        1
    );
    assert!(complaints("crates/os/src/x.rs", "use crate::exit; use super::limits;").is_empty());
    assert!(complaints("src/main.rs", "use crate::driver;").is_empty());
    assert!(
        complaints(
            "crates/core/src/acp/x.rs",
            "use super::event::Event; use crate::{acp::Config, wire::id};"
        )
        .is_empty()
    );
    assert!(complaints("crates/core/src/dialect/a/b.rs", "use super::super::c; use super::d;").is_empty());
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
