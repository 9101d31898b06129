//! That a name has one address: either its module is open, or the module above exports the name.

use std::collections::BTreeSet;

use crate::tidy::paths::paths;
use crate::tidy::source::{Source, Token, hold, tokens};

/// Where names have one address.
const FOLDERS: [&str; 10] = [
    "src",
    "crates/adapters",
    "crates/check",
    "crates/control",
    "crates/fleet",
    "crates/journal",
    "crates/markdown",
    "crates/os",
    "crates/settings",
    "crates/web",
];

/// The front page of the library for responders: it has what they need, which stands in its rooms as well.
const FRONT_PAGE: &str = "crates/control/src/lib.rs";

#[test]
fn a_name_has_one_address() {
    let mut sources = Source::all(&FOLDERS);
    sources.retain(|source| source.path != FRONT_PAGE);
    hold(
        &sources,
        shown_twice,
        "Close the module (`mod`) and export what others need of it, or leave the name to the open module.",
    );
}

fn shown_twice(source: &Source) -> Vec<String> {
    let open = open_modules(&source.code);
    let exported = paths(&source.code).into_iter().filter(|known| known.exported);
    let again = exported.filter_map(|known| {
        let path = known.path.strip_prefix("self::").unwrap_or(&known.path);
        let (module, name) = path.split_once("::").filter(|(module, _)| open.contains(module))?;
        Some(
            source.at(known.line, format_args!("`{name}` is exported, and can be reached in `{module}` too")),
        )
    });
    again.collect()
}

/// Returns the modules in files of their own that other modules may enter.
fn open_modules(code: &str) -> BTreeSet<&str> {
    let tokens = tokens(code);
    let open = tokens.windows(4).filter_map(|four| match four {
        [
            (_, Token::Word("pub") | Token::Char(')')),
            (_, Token::Word("mod")),
            (_, Token::Word(name)),
            (_, Token::Char(';')),
        ] => Some(*name),
        _ => None,
    });
    open.collect()
}

#[test]
fn a_second_address_is_found() {
    let complaints = |code: &str| shown_twice(&Source::new("src/a/mod.rs", code));
    for code in [
        "mod b;\npub use b::C;",
        "pub mod b;\nuse b::C;",
        "pub mod b;\npub use c::b::D;",
        "#[cfg(a)]\nmod b;\npub use b::C;",
        "pub mod b { }\npub use super::b::C;",
    ] {
        assert!(complaints(code).is_empty(), "{code}");
    }
    for code in [
        "pub mod b;\npub use b::C;",
        "pub(crate) mod b;\npub use b::{self, c::D};",
        "pub mod b;\n#[cfg(a)]\npub(crate) use self::b::C;",
        "pub use b::*;\npub mod b;",
    ] {
        assert!(!complaints(code).is_empty(), "{code}");
    }
    assert_eq!(
        complaints("pub mod b;\npub use b::C;"),
        ["src/a/mod.rs:2: `C` is exported, and can be reached in `b` too"]
    );
}
