//! Small files: each has its reason, which is that several files use it.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::modules::{Crate, is_arrow};
use crate::tidy::paths::module;
use crate::tidy::source::{Source, hold};

/// Lines from which on a file needs no reason.
const FLOOR: usize = 80;

/// Small files with one user, and why they stand alone.
const ALONE: &[(&str, &str)] = &[
    ("src/command/tui/world.rs", "what the screen shows, apart from the terminal that shows it"),
    ("crates/check/src/orphans.rs", "it reads files of `/proc`, which only Linux has"),
    ("crates/check/src/report/progress.rs", "what is seen while cases run; the others see the end alone"),
    ("crates/control/examples/status_bar.rs", "an example is a file"),
    ("crates/control/src/join/stores.rs", "its lock is its own, apart from that of the links"),
    (
        "crates/control/src/join/told.rs",
        "its methods are those of `JoinedInbox`, which are used without a path",
    ),
    (
        "crates/control/src/rpc/lookup.rs",
        "the methods of one question, as other files of the folder have others",
    ),
    ("crates/core/examples/embed.rs", "an example is a file"),
    ("crates/core/src/mcp/gate.rs", "most of it are methods of `Core`, which are used without a path"),
    ("crates/core/src/mcp/progress.rs", "its methods are used without a path"),
    ("crates/settings/src/mcp.rs", "the type of a setting, as other files of this crate"),
    ("src/command/tui/haste.rs", "its methods are those of `App`, which are used without a path"),
    ("src/command/tui/settled.rs", "it is pure, and the file that uses it is not"),
    ("src/driver/interleavings/runs.rs", "the test itself, which nothing uses"),
    ("crates/journal/src/led.rs", "its method is that of `History`, which is used without a path"),
    ("crates/journal/src/samples.rs", "tests of several files use it"),
    ("crates/settings/src/schema.rs", "a feature switches the file on"),
    ("crates/web/src/callback.rs", "its secret is its own, apart from the stream of events"),
];

/// Folders whose files are entries of a list: a service, a subcommand or a dialect is a file, however small.
const ENTRIES: [&str; 4] = ["src/service/", "src/hub/", "src/command/", "crates/core/src/dialect/"];

#[test]
fn small_files_have_several_users() {
    let sources = Source::all(&["src", "crates"]);
    let users = users(&sources);
    for (path, reason) in ALONE {
        assert!(
            sources.iter().any(|source| source.path == *path),
            "{path} ({reason}) is gone: remove its line"
        );
    }
    hold(
        &sources,
        |source| too_small(source, &users),
        "Merge it with the file that uses it, or say in `ALONE` (tests/tidy/floor.rs) why it stands alone.",
    );
}

fn too_small(source: &Source, users: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<String> {
    let is_entry = ["/mod.rs", "/lib.rs", "/main.rs"].iter().any(|name| source.path.ends_with(name))
        || ENTRIES
            .iter()
            .any(|folder| source.path.strip_prefix(folder).is_some_and(|name| !name.contains('/')));
    let lines = source.text.lines().count();
    let count = users.get(source.path.as_str()).map_or(0, BTreeSet::len);
    if is_entry || lines >= FLOOR || count > 1 || ALONE.iter().any(|(path, _)| source.path == *path) {
        return Vec::new();
    }
    vec![source.at(1, format_args!("{lines} lines, and {count} other files use it"))]
}

/// The files that use each file. A `mod.rs` that declares it or exports it does not count.
fn users(sources: &[Source]) -> BTreeMap<&str, BTreeSet<&str>> {
    let modules = Crate::of(sources);
    let mut users: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for source in sources {
        let from = module(&source.path);
        for known in
            modules.paths[source.path.as_str()].iter().filter(|known| is_arrow(known) && !known.exported)
        {
            if let Some(to) = modules.file_of(&known.path, &from).filter(|to| *to != source.path) {
                users.entry(to).or_default().insert(source.path.as_str());
            }
        }
    }
    users
}

#[test]
fn a_small_file_with_one_user_is_found() {
    let files = [
        ("src/a/mod.rs", "pub mod b;\npub mod c;\npub use b::B;"),
        ("src/a/b.rs", "pub struct B;"),
        ("src/a/c.rs", "use super::B;"),
        ("crates/os/src/d.rs", "pub fn d() {}"),
        ("crates/os/src/lib.rs", "pub mod d;"),
        ("src/e.rs", "use crate::a::c::C;\nfn e() { askbridge_os::d::d() }"),
        ("src/f.rs", "use askbridge_os::d;\nuse crate::a::c::C;"),
    ];
    let sources: Vec<_> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
    let users = users(&sources);
    let small: Vec<_> = sources.iter().flat_map(|source| too_small(source, &users)).collect();
    assert_eq!(
        small,
        [
            "src/a/b.rs:1: 1 lines, and 1 other files use it",
            "src/e.rs:1: 2 lines, and 0 other files use it",
            "src/f.rs:1: 2 lines, and 0 other files use it",
        ]
    );
}
