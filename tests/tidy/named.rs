//! Files that heads and pages name: each exists, so that no text drifts from the code.

use std::{collections::BTreeSet, fs};

use crate::tidy::source::{Source, repository, root};

/// Endings of the files that a text may name. What ends otherwise is an example more often than a file.
const ENDINGS: [&str; 4] = [".rs", ".md", ".sh", ".toml"];

/// Names that stand for files of others, or for any file.
const OTHERS: [&str; 8] =
    [".askbridge.toml", "AGENTS.md", "CLAUDE.md", "config.toml", "NAME.rs", "build.rs", "lib.rs", "a.rs"];

#[test]
fn each_file_that_a_head_names_is_there() {
    let files = repository();
    let sources = Source::all(&["src", "crates", "tests", "benches"]);
    let complaints: Vec<_> =
        sources.iter().flat_map(|source| missing(&source.path, &head(&source.text), &files)).collect();
    assert!(complaints.is_empty(), "\n{}\nName the file that has it now.\n", complaints.join("\n"));
}

#[test]
fn each_file_of_ours_that_a_page_names_is_there() {
    let files = repository();
    let pages = files
        .iter()
        .filter(|path| path.ends_with(".md") && (path.starts_with("docs/") || !path.contains('/')));
    let complaints: Vec<_> = pages
        .flat_map(|path| {
            let text = fs::read_to_string(root().join(path)).expect("a page");
            let named: Vec<_> = spans(&text).map(|(line, name)| (line, name.to_owned())).collect();
            let ours = named.into_iter().filter(|(_, name)| is_ours(name) && !exists(name, &files));
            ours.map(|(line, name)| format!("{path}:{line}: there is no `{name}`")).collect::<Vec<_>>()
        })
        .collect();
    assert!(complaints.is_empty(), "\n{}\nName the file that has it now.\n", complaints.join("\n"));
}

#[test]
fn each_link_of_a_page_leads_somewhere() {
    let files = repository();
    let pages = files.iter().filter(|path| path.ends_with(".md") && !path.starts_with("fixtures/"));
    let complaints: Vec<_> = pages
        .flat_map(|path| {
            let text = fs::read_to_string(root().join(path)).expect("a page");
            let broken: Vec<_> = links(&text).filter(|(_, target)| !leads(path, target)).collect();
            broken.into_iter().map(|(line, target)| format!("{path}:{line}: {target}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(complaints.is_empty(), "\n{}\nThese links lead nowhere.\n", complaints.join("\n"));
}

/// The targets of the links in a page, with their lines.
fn links(text: &str) -> impl Iterator<Item = (usize, String)> {
    (1..).zip(text.lines()).flat_map(|(number, line)| {
        let ends = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        ends.map(move |(target, _)| (number, target.to_owned())).collect::<Vec<_>>()
    })
}

/// Returns whether a link in this page leads to a file, and to a heading in it if it names one.
fn leads(page: &str, target: &str) -> bool {
    if target.starts_with("http") {
        return true;
    }
    let (file, heading) = target.split_once('#').map_or((target, None), |(file, name)| (file, Some(name)));
    let folder = root().join(page).parent().expect("a folder").to_owned();
    let file = if file.is_empty() { root().join(page) } else { folder.join(file) };
    match heading {
        Some(heading) if file.extension().is_some_and(|ending| ending == "md") => {
            fs::read_to_string(file).is_ok_and(|text| anchors(&text).any(|anchor| anchor == heading))
        }
        _ => file.exists(),
    }
}

/// The anchors of the headings of a page, by the rules of GitHub.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let words = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|c| c.is_alphanumeric() || ['-', '_'].contains(c)).collect()
    })
}

/// The `//!` lines that a file begins with.
fn head(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.starts_with("//!"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What stands between backticks in a text, with its line.
fn spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).flat_map(|(number, line)| {
        line.split('`').skip(1).step_by(2).map(move |span| (number, span.trim_end_matches('/')))
    })
}

/// Returns a complaint about each file in backticks that is not there.
fn missing(path: &str, text: &str, files: &[String]) -> Vec<String> {
    let named = spans(text).filter(|(_, name)| ENDINGS.iter().any(|ending| name.ends_with(ending)));
    let named = named.filter(|(_, name)| !OTHERS.contains(name) && !name.contains([' ', '*', '{', '$', '~']));
    let gone = named.filter(|(_, name)| !exists(name, files));
    gone.map(|(line, name)| format!("{path}:{line}: there is no `{name}`")).collect()
}

/// Returns whether a name is a path below a folder of the repository's top level.
fn is_ours(name: &str) -> bool {
    let folders =
        ["benches/", "crates/", "docs/", "fixtures/", "fuzz/", "packaging/", "schema/", "src/", "tests/"];
    let is_one_path =
        !name.contains([' ', '*', '{', '$', '|', ',']) && !name.contains("NAME") && !name.contains("TARGET");
    is_one_path && folders.iter().any(|folder| name.starts_with(folder))
}

/// Returns whether a file or folder of the repository has this path, or a path that ends with it.
fn exists(name: &str, files: &[String]) -> bool {
    let folders: BTreeSet<_> =
        files.iter().filter_map(|file| file.rsplit_once('/')).map(|(folder, _)| folder).collect();
    let ends = |path: &str| path == name || path.ends_with(&format!("/{name}"));
    files.iter().any(|file| ends(file))
        || folders.iter().any(|folder| ends(folder) || folder.starts_with(name))
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let found: Vec<_> = links("a [b](c.md), [d](e#f)\n![g](h)").collect();
    assert_eq!(found, [(1, "c.md".to_owned()), (1, "e#f".to_owned()), (2, "h".to_owned())]);
    assert!(leads("docs/http.md", "../README.md") && !leads("docs/http.md", "README.md"));
    assert!(leads("README.md", "#develop") && !leads("README.md", "docs/http.md#develop"));
    let anchors: Vec<_> = anchors("# How: \"it\" ends, _now_\ntext").collect();
    assert_eq!(anchors, ["how-it-ends-_now_"]);
}

#[test]
fn a_file_that_is_gone_is_found() {
    let files = ["src/a/b.rs", "docs/c.md"].map(str::to_owned);
    let text = "//! Left to `b.rs`, `a/b.rs`, `gone.rs` and `c.md`; `x` is no file.\nuse `other.rs`;\n";
    assert_eq!(missing("src/a/d.rs", &head(text), &files), ["src/a/d.rs:1: there is no `gone.rs`"]);
    assert!(exists("src/a", &files) && is_ours("src/gone.rs") && !exists("src/gone.rs", &files));
    assert!(!is_ours("src/*.rs") && !is_ours("cargo test"));
}
