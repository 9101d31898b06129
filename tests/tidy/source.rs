//! A source file as the rules look at it, and how a rule says what breaks it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A file of Rust code.
pub(crate) struct Source {
    /// Its path in the repository.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
    /// It with spaces in the place of comments and literals.
    pub(crate) code: String,
    /// The same with spaces in the place of what is there for tests only.
    pub(crate) production: String,
    /// How many lines are there for tests only.
    pub(crate) test_lines: usize,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = blank(text);
        let (production, test_lines) = without_tests(&code);
        Source { path: path.to_owned(), text: text.to_owned(), code, production, test_lines }
    }

    /// Reads all Rust files of these folders.
    pub(crate) fn all(folders: &[&str]) -> Vec<Self> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for folder in folders {
            walk(&root().join(folder), &mut paths);
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
        paths.sort();
        assert!(!paths.is_empty(), "no sources in {folders:?}");
        paths.iter().map(|path| Source::new(&name(path), &read(path))).collect()
    }

    /// Returns the code that is there for tests only: all of it, below `tests`.
    pub(crate) fn tests(&self) -> String {
        if self.path.starts_with("tests/") {
            return self.code.clone();
        }
        let lines = self.code.lines().zip(self.production.lines());
        lines.flat_map(|(code, production)| [if code == production { "" } else { code }, "\n"]).collect()
    }

    /// A complaint about a line.
    pub(crate) fn at(&self, line: usize, what: impl std::fmt::Display) -> String {
        format!("{}:{line}: {what}", self.path)
    }
}

/// Fails with all complaints of the rule, and with what is to be done.
pub(crate) fn hold(sources: &[Source], rule: impl Fn(&Source) -> Vec<String>, what_to_do: &str) {
    let broken = broken(sources, rule, what_to_do);
    assert!(broken.is_none(), "{}", broken.unwrap_or_default());
}

fn broken(sources: &[Source], rule: impl Fn(&Source) -> Vec<String>, what_to_do: &str) -> Option<String> {
    let complaints: Vec<_> = sources.iter().flat_map(rule).collect();
    (!complaints.is_empty()).then(|| format!("\n{}\n{what_to_do}\n", complaints.join("\n")))
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the paths of all files that belong to the repository: those that git knows or would, or, where there is
/// no git, all but what is built.
pub(crate) fn repository() -> Vec<String> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    match Command::new("git").args(list).current_dir(root()).output() {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            let names = String::from_utf8(output.stdout).expect("paths are UTF-8");
            names
                .split_terminator('\0')
                .filter(|name| root().join(name).is_file())
                .map(str::to_owned)
                .collect()
        }
        _ => {
            let mut paths = Vec::new();
            walk(root(), &mut paths);
            paths.iter().map(|path| name(path)).collect()
        }
    }
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().into_owned()
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("a readable folder").path()) {
        match path.is_dir() {
            true if path.ends_with("target") || path.ends_with(".git") => {}
            true => walk(&path, paths),
            false => paths.push(path),
        }
    }
}

/// Puts spaces in the place of comments and literals. The lines stay where they are.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&first) = chars.get(at) {
        let end = end_of_literal(&chars, at);
        if end == at {
            code.push(first);
            at += 1;
        } else {
            code.extend(chars[at..end].iter().map(|char| if *char == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    code
}

/// Returns where the comment or literal ends that starts here, or this place if none does.
fn end_of_literal(chars: &[char], at: usize) -> usize {
    let find = |from: usize, what: &[char]| {
        let found = chars[from.min(chars.len())..].windows(what.len()).position(|window| window == what);
        found.map_or(chars.len(), |found| from + found + what.len())
    };
    match &chars[at..] {
        ['/', '/', ..] => find(at, &['\n']) - usize::from(find(at, &['\n']) < chars.len()),
        ['/', '*', ..] => find(at + 2, &['*', '/']),
        ['\'', '\\', ..] => find(at + 3, &['\'']),
        ['\'', _, '\'', ..] => at + 3,
        ['"', ..] => {
            let mut at = at + 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            chars.len().min(at + 1)
        }
        ['r', '"' | '#', ..] if starts_raw(chars, at) => {
            let hashes = chars[at + 1..].iter().take_while(|char| **char == '#').count();
            let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
            if chars.get(at + 1 + hashes) == Some(&'"') { find(at + 2 + hashes, &end) } else { at }
        }
        _ => at,
    }
}

/// Whether an `r` is not the end of a name. A byte or C string has one letter before it.
fn starts_raw(chars: &[char], at: usize) -> bool {
    let in_name = |at: usize| chars.get(at).is_some_and(|char| char.is_alphanumeric() || *char == '_');
    let before = |count: usize| at.checked_sub(count).is_some_and(in_name);
    !before(1) || (matches!(chars[at - 1], 'b' | 'c') && !before(2))
}

/// Puts spaces in the place of every item under `#[cfg(test)]`, and counts their lines.
fn without_tests(code: &str) -> (String, usize) {
    const MARK: &str = "#[cfg(test)]";
    let mut production = String::with_capacity(code.len());
    let (mut rest, mut lines) = (code, 0);
    while let Some(start) = rest.find(MARK) {
        let item = &rest[start..];
        let item = &item[..end_of_item(item, MARK.len())];
        production.push_str(&rest[..start]);
        production.extend(item.chars().map(|char| if char == '\n' { '\n' } else { ' ' }));
        lines += item.lines().count();
        rest = &rest[start + item.len()..];
    }
    production.push_str(rest);
    (production, lines)
}

fn end_of_item(code: &str, from: usize) -> usize {
    let import = code[from..].trim_start().starts_with("use ");
    let mut depth = 0;
    for (at, char) in code.char_indices().skip_while(|(at, _)| *at < from) {
        match char {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 && (char == ';' || (char == '}' && !import)) {
            return at + 1;
        }
    }
    code.len()
}

/// A word, a `::`, or any other character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    Word(&'a str),
    Separator,
    Char(char),
}

/// Cuts code into tokens, each with its line.
pub(crate) fn tokens(code: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(rest.len());
            let (token, length) = match word {
                0 if rest.starts_with("::") => (Token::Separator, 2),
                0 => (Token::Char(first), first.len_utf8()),
                _ => (Token::Word(&rest[..word]), word),
            };
            tokens.push((line, token));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// Returns the lines that have one of these words, with the word.
pub(crate) fn words<'a>(code: &'a str, wanted: &[&str]) -> Vec<(usize, &'a str)> {
    let tokens = tokens(code).into_iter();
    tokens
        .filter_map(|(line, token)| match token {
            Token::Word(word) if wanted.contains(&word) => Some((line, word)),
            _ => None,
        })
        .collect()
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "a // b \"c\n/* d\n' */ 'e' '\\'' \"f\\\"g\" r#\"h\"i\"# br\"\\\" r#j 'k: &'k l\nnumber\"m\"";
    let code = blank(text);
    assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a", "b", "r#j", "'k:", "&'k", "l", "number"]);
    assert_eq!(code.lines().count(), text.lines().count());
}

#[test]
fn what_is_for_tests_only_is_no_production_code() {
    let text = "a\n#[cfg(test)]\nuse b::{c};\nd\n#[cfg(test)]\n#[x]\nmod e {\n  f! { [g] }\n}\nh\n#[cfg(test)] mod i;";
    let source = Source::new("src/x.rs", text);
    assert_eq!(source.production.split_whitespace().collect::<Vec<_>>(), ["a", "d", "h"]);
    assert_eq!(source.production.lines().count(), text.lines().count());
    assert_eq!(source.test_lines, 2 + 5 + 1);
    assert_eq!(words(&source.tests(), &["a", "c", "g", "h"]), [(3, "c"), (8, "g")]);
}

#[test]
fn a_broken_rule_is_told_with_the_place() {
    let sources = [Source::new("src/x.rs", "")];
    let told = broken(&sources, |source| vec![source.at(1, "a word")], "What to do.");
    assert_eq!(told.as_deref(), Some("\nsrc/x.rs:1: a word\nWhat to do.\n"));
    assert_eq!(broken(&sources, |_| Vec::new(), "What to do."), None);
}
