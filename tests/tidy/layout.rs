//! How long files are, how they begin, and what stands where.

use crate::tidy::source::{Source, Token, hold, repository, tokens};

/// Lines of a file, without what is there for its tests only.
const FILE: usize = 400;
/// Lines of code of a `mod.rs` or `main.rs`, comments aside. `main.rs` has one for each command.
const ENTRY: usize = 100;

/// What is on the top level, hidden files aside.
const TOP_LEVEL: [&str; 21] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "benches",
    "crates",
    "deny.toml",
    "docs",
    "examples",
    "findings",
    "fixtures",
    "fuzz",
    "packaging",
    "schema",
    "sdk",
    "src",
    "tests",
];

#[test]
fn every_file_says_what_it_is_responsible_for() {
    hold(
        &Source::all(&["src", "crates", "tests", "benches", "fuzz/fuzz_targets"]),
        unsaid,
        "Open the file with `//!`: what it is responsible for, and what it leaves to whom.",
    );
}

fn unsaid(source: &Source) -> Vec<String> {
    let said = source.text.starts_with("//! ");
    if said { Vec::new() } else { vec![source.at(1, "does not begin with `//! `")] }
}

#[test]
fn files_are_short() {
    hold(
        &Source::all(&["src", "crates"]),
        too_long,
        "Split the file by what it is responsible for. (That functions are short is held by clippy.)",
    );
}

fn too_long(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    let lines = source.text.lines().count() - source.test_lines;
    if lines > FILE {
        complaints.push(source.at(FILE, format_args!("{lines} lines without tests, the most is {FILE}")));
    }
    let code = source.production.lines().filter(|line| !line.trim().is_empty()).count();
    if ["/mod.rs", "/main.rs"].iter().any(|name| source.path.ends_with(name)) && code > ENTRY {
        complaints
            .push(source.at(1, format_args!("{code} lines of code, the most for this file is {ENTRY}")));
    }
    complaints
}

#[test]
fn a_mod_file_is_a_table_of_contents() {
    hold(
        &Source::all(&["src", "crates"]),
        more_than_contents,
        "Move it into a file that is named after it; `mod.rs` and `lib.rs` list modules and re-export by name.",
    );
}

fn more_than_contents(source: &Source) -> Vec<String> {
    if !["/mod.rs", "/lib.rs"].iter().any(|name| source.path.ends_with(name)) {
        return Vec::new();
    }
    let contents = |head: &str| {
        let rest = head.strip_prefix("pub ");
        rest.unwrap_or(head).starts_with("mod ") || rest.is_some_and(|rest| rest.starts_with("use "))
    };
    let items = items(&source.production).into_iter();
    items
        .filter(|(_, head)| !contents(head))
        .map(|(line, head)| source.at(line, format_args!("`{head}` is more than a table of contents")))
        .collect()
}

/// Returns the first words of every item, such as `pub fn run`, without attributes and `pub`'s parentheses.
fn items(code: &str) -> Vec<(usize, String)> {
    let tokens = tokens(code);
    let (mut items, mut depth, mut head, mut first) = (Vec::new(), 0, Vec::new(), 0);
    let (mut attribute, mut open) = (false, true);
    for (line, token) in tokens {
        match token {
            Token::Char('#') if depth == 0 && head.is_empty() => attribute = true,
            Token::Char('{' | '[' | '(') => depth += 1,
            Token::Char(end @ ('}' | ']' | ')')) => {
                depth -= 1;
                let ends = end == '}' && !head.contains(&"use");
                if depth == 0 && (attribute || ends) {
                    (attribute, open) = (false, true);
                    items.extend((!head.is_empty()).then(|| (first, std::mem::take(&mut head).join(" "))));
                }
            }
            Token::Char(';') if depth == 0 => {
                open = true;
                items.extend((!head.is_empty()).then(|| (first, std::mem::take(&mut head).join(" "))));
            }
            Token::Word(word) if depth == 0 && open && !attribute => {
                first = if head.is_empty() { line } else { first };
                head.push(word);
            }
            _ => {}
        }
        open &= depth > 0 || matches!(token, Token::Word(_) | Token::Char('#' | '}' | ']' | ')' | ';'));
    }
    items
}

#[test]
fn the_top_level_holds_what_the_design_lists() {
    let paths = repository();
    let strays = strays(&paths);
    assert!(
        strays.is_empty(),
        "\non the top level, and not in the design's list: {}\nMove it into a folder of {TOP_LEVEL:?}.\n",
        strays.join(", ")
    );
}

fn strays(paths: &[String]) -> Vec<&str> {
    let top = paths.iter().map(|path| path.split('/').next().unwrap_or(path));
    let mut strays: Vec<_> = top.filter(|name| !name.starts_with('.') && !TOP_LEVEL.contains(name)).collect();
    strays.dedup();
    strays
}

#[test]
fn a_file_without_a_beginning_is_found() {
    assert!(unsaid(&Source::new("src/x.rs", "//! Says it.\n")).is_empty());
    for text in ["", "use a;\n//! Too late.\n", "// Not a doc.\n", "//!\n//! Late.\n"] {
        assert_eq!(
            unsaid(&Source::new("src/x.rs", text)),
            ["src/x.rs:1: does not begin with `//! `"],
            "{text}"
        );
    }
}

#[test]
fn a_long_file_is_found() {
    let lines = |count: usize| "a();\n".repeat(count);
    let tested = |count: usize| format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(count), lines(500));
    let complaints = |path: &str, text: &str| too_long(&Source::new(path, text));
    assert!(complaints("src/x.rs", &tested(400)).is_empty());
    assert_eq!(
        complaints("src/x.rs", &tested(401)),
        ["src/x.rs:400: 401 lines without tests, the most is 400"]
    );
    assert!(complaints("src/x/mod.rs", &format!("{}// More.\n\n", lines(ENTRY))).is_empty());
    assert_eq!(complaints("src/x/mod.rs", &lines(ENTRY + 1)).len(), 1);
    assert_eq!(complaints("src/main.rs", &lines(ENTRY + 1)).len(), 1);
}

#[test]
fn code_in_a_mod_file_is_found() {
    let complaints = |path: &str, text: &str| more_than_contents(&Source::new(path, text));
    let contents = "//! A\nmod a;\n\n#[x(y)]\npub mod b;\npub(crate) mod c;\npub use a::{B, C};\n#[cfg(test)]\nuse d::e;";
    assert!(complaints("src/x/mod.rs", contents).is_empty());
    assert!(complaints("src/x.rs", "fn a() {}").is_empty());
    let code = "mod a;\nuse std::{fs};\nconst A: [u8; 2] = [1, 2];\n#[b(c)]\npub(crate) fn d<E>() -> F { if g {} }\nimpl H for I {}\nmod j;";
    let heads: Vec<_> = items(code).into_iter().map(|(_, head)| head).collect();
    assert_eq!(heads, ["mod a", "use std", "const A", "pub fn d", "impl H for I", "mod j"]);
    assert_eq!(complaints("src/x/mod.rs", code).len(), 4);
}

#[test]
fn a_stray_on_the_top_level_is_found() {
    let paths =
        ["src/a.rs", ".ci/run", "docs/a.md", "notes/a.md", "notes/b.md", "Cargo.toml"].map(str::to_owned);
    assert_eq!(strays(&paths), ["notes"]);
}
