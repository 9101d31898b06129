//! Reads the paths in Rust code: those of `use` declarations, taken apart, and those in expressions and types.
//! Where a path leads is left to the rules.

use crate::tidy::source::{Token, tokens};

/// A path in code.
#[derive(Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) line: usize,
    pub(crate) path: String,
    /// Whether a `use` brings it into scope, and under which name.
    pub(crate) name: Option<String>,
    /// Whether a `pub use` exports it.
    pub(crate) exported: bool,
}

/// Returns all paths in this code. A `use` with groups gives one path for each branch.
pub(crate) fn paths(code: &str) -> Vec<Known> {
    let tokens = tokens(code);
    let (mut at, mut found) = (0, Vec::new());
    while let Some((_, token)) = tokens.get(at) {
        let exported = at > 0 && matches!(tokens[at - 1].1, Token::Word("pub") | Token::Char(')'));
        match token {
            Token::Word("use") => {
                at += 1;
                tree(&tokens, &mut at, "", exported, &mut found);
            }
            Token::Word(_) => {
                let start = at;
                while matches!(tokens.get(at..at + 2), Some([(_, Token::Separator), (_, Token::Word(_))]))
                    || at == start
                {
                    at += if at == start { 1 } else { 2 };
                }
                let path = tokens[start..at]
                    .iter()
                    .map(|(_, token)| if let Token::Word(word) = token { word } else { "::" });
                found.push(Known {
                    line: tokens[start].0,
                    path: path.collect(),
                    name: None,
                    exported: false,
                });
            }
            _ => at += 1,
        }
    }
    found
}

/// Reads one branch of a `use`, and those below it.
fn tree(tokens: &[(usize, Token<'_>)], at: &mut usize, above: &str, exported: bool, found: &mut Vec<Known>) {
    let mut path = above.to_owned();
    let mut alias = None;
    let line = tokens.get(*at).map_or(0, |(line, _)| *line);
    while let Some((_, token)) = tokens.get(*at) {
        match token {
            Token::Word("as") => {
                *at += 1;
                if let Some((_, Token::Word(word))) = tokens.get(*at) {
                    alias = Some((*word).to_owned());
                }
            }
            Token::Word(word) => path.push_str(word),
            Token::Char('*') => path.push('*'),
            Token::Separator => path.push_str("::"),
            Token::Char('{') => {
                *at += 1;
                while !matches!(tokens.get(*at), Some((_, Token::Char('}'))) | None) {
                    tree(tokens, at, &path, exported, found);
                    *at += usize::from(matches!(tokens.get(*at), Some((_, Token::Char(',')))));
                }
                *at += 1;
                return;
            }
            _ => break,
        }
        *at += 1;
    }
    let last = path.strip_suffix("::self").unwrap_or(&path).rsplit("::").next().map(str::to_owned);
    found.push(Known { line, path, name: alias.or(last), exported });
}

/// Returns the module that a file is, from the top: `["driver", "shell"]`, or `["core", "acp", "bridge"]` where the file is
/// of the crate `core`.
pub(crate) fn module(path: &str) -> Vec<&str> {
    let path = path.strip_prefix("src/").or_else(|| path.strip_prefix("crates/")).unwrap_or(path);
    let parts = path.trim_end_matches(".rs").split('/').enumerate();
    let names = parts.filter(|(at, part)| !(["lib", "mod"].contains(part) || *at == 1 && *part == "src"));
    names.map(|(_, part)| part).collect()
}

/// The crates beside the program, by their folders.
const CRATES: [&str; 11] =
    ["adapters", "check", "control", "core", "fleet", "journal", "markdown", "mock", "os", "settings", "web"];

/// Those of them that have rooms, as the program has. Each of the others is one room.
const WITH_ROOMS: [&str; 2] = ["control", "core"];

/// Returns the folder of the crate that a path begins with, such as `core` for `askbridge_core`.
pub(crate) fn crate_named(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("askbridge_")?;
    CRATES.into_iter().find(|known| *known == name)
}

/// Returns how many names of a module lead to the root of its crate: none for the program.
pub(crate) fn root_of(module: &[&str]) -> usize {
    usize::from(module.first().is_some_and(|first| CRATES.contains(first)))
}

/// Returns the crate of a module, if it is one room.
pub(crate) fn only_room<'a>(module: &[&'a str]) -> Option<&'a str> {
    module.first().copied().filter(|first| CRATES.contains(first) && !WITH_ROOMS.contains(first))
}

/// Returns the room that a module belongs to: a folder under `src`, or under that of a crate with rooms, or one of the
/// other crates.
pub(crate) fn room<'a>(module: &[&'a str]) -> &'a str {
    match module {
        [name, room, ..] if WITH_ROOMS.contains(name) => room,
        [room, ..] => room,
        [] => "",
    }
}

#[test]
fn use_declarations_are_taken_apart() {
    let code = "pub use a::{b::{self, c}, d as e,\n f::*};\nlet x: g::h = self.i;\npub(crate) use j;";
    let found: Vec<_> = paths(code)
        .into_iter()
        .map(|known| (known.line, known.path, known.name.unwrap_or_default(), known.exported))
        .collect();
    let expected = [
        (1, "a::b::self", "b", true),
        (1, "a::b::c", "c", true),
        (1, "a::d", "e", true),
        (2, "a::f::*", "*", true),
        (3, "let", "", false),
        (3, "x", "", false),
        (3, "g::h", "", false),
        (3, "self", "", false),
        (3, "i", "", false),
        (4, "pub", "", false),
        (4, "crate", "", false),
        (4, "j", "j", true),
    ];
    let expected =
        expected.map(|(line, path, name, exported)| (line, path.to_owned(), name.to_owned(), exported));
    assert_eq!(found[1..], expected);
}
