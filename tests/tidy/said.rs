//! Commands, options, settings and exit codes that pages name: each exists, so that no text drifts from the program.
//! The other way round, the program reads each setting.

use std::{collections::BTreeSet, fs};

use askbridge::command::cli::Cli;
use askbridge_settings::{Settings, SettingsFile, Sources, keys};
use clap::{Command, CommandFactory};

use crate::tidy::source::{Source, repository, root};

/// Returns the exit codes of the program: the constants of `crates/os/src/exit.rs`, and 128, which stands for signals.
fn program_codes() -> BTreeSet<u8> {
    let source = fs::read_to_string(root().join("crates/os/src/exit.rs")).expect("the exit codes");
    let values = source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split_once(": u8 = "));
    let codes: BTreeSet<u8> =
        values.map(|(_, value)| value.trim_end_matches(';').parse().expect("a code")).collect();
    assert!(codes.len() > 10, "{codes:?}");
    codes.into_iter().chain([128]).collect()
}

/// What stands behind the name of a table and is no setting: endings of files, and events of opencode.
const OTHERS: [&str; 9] = ["rs", "toml", "md", "json", "txt", "log", "asked", "replied", "updated"];

/// A line of a page or of a head, with its place.
struct Line {
    place: String,
    text: String,
    /// Whether it is in a block of code.
    is_code: bool,
}

/// The lines of the pages, and of the heads of our files.
fn lines() -> Vec<Line> {
    let files = repository();
    let pages = files
        .iter()
        .filter(|path| path.ends_with(".md") && (path.starts_with("docs/") || !path.contains('/')));
    let pages = pages.map(|path| (path.clone(), fs::read_to_string(root().join(path)).expect("a page")));
    let sources = Source::all(&["src", "crates"]).into_iter();
    let heads = sources.map(|source| {
        let head: Vec<_> = source.text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        (source.path, head.join("\n"))
    });
    pages.chain(heads).flat_map(|(path, text)| read(&path, &text)).collect()
}

fn read(path: &str, text: &str) -> Vec<Line> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        lines.push(Line { place: format!("{path}:{number}"), text: text.to_owned(), is_code });
    }
    lines
}

impl Line {
    /// The code in this line: all of it in a block, or what stands between backticks.
    fn code(&self) -> Vec<&str> {
        if self.is_code { vec![&self.text] } else { self.text.split('`').skip(1).step_by(2).collect() }
    }
}

#[test]
fn each_command_that_a_page_names_exists() {
    let mut program = Cli::command();
    program.build();
    let complaints: Vec<_> = lines()
        .iter()
        .flat_map(|line| {
            let unknown = line.code().into_iter().flat_map(|code| unknown_words(code, &program));
            unknown.map(|what| format!("{}: {what}", line.place)).collect::<Vec<_>>()
        })
        .collect();
    assert!(complaints.is_empty(), "\n{}\nName a command that `--help` lists.\n", complaints.join("\n"));
}

/// Returns what a piece of code calls of the program that it does not have.
fn unknown_words(code: &str, program: &Command) -> Vec<String> {
    let calls = code.match_indices("askbridge ").filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        before.is_none_or(|before| [' ', '(', '"', '$', '\'', '|'].contains(&before))
    });
    calls.flat_map(|(at, call)| unknown_in_call(&code[at + call.len()..], program)).collect()
}

fn unknown_in_call(words: &str, program: &Command) -> Vec<String> {
    let mut command = program;
    let mut unknown = Vec::new();
    for (place, word) in words.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| "`\"',;:.)([]".contains(c));
        if word == "--" || word.is_empty() || word.contains(['|', ';', '&', '<', '>', '#']) {
            break;
        }
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or(option);
            if !has_option(command, program, name) {
                unknown.push(format!("`{}` has no option `--{name}`", command.get_name()));
            }
        } else if let Some(found) = command.find_subcommand(word) {
            command = found;
        } else if place == 0 && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            unknown.push(format!("there is no command `askbridge {word}`"));
            break;
        }
    }
    unknown
}

fn has_option(command: &Command, program: &Command, name: &str) -> bool {
    let all = command.get_arguments().chain(program.get_arguments());
    let mut names = all.flat_map(|argument| argument.get_long_and_visible_aliases().unwrap_or_default());
    names.any(|known| known == name) || ["help", "version"].contains(&name)
}

#[test]
fn each_setting_that_a_page_names_exists() {
    let complaints: Vec<_> = lines()
        .iter()
        .flat_map(|line| {
            // As a key alone, or with its value behind it.
            let named = line.code().into_iter().map(|code| code.split(" = ").next().unwrap_or(code));
            let unknown = named.filter(|code| is_key(code) && keys::find(code).is_none());
            unknown.map(|code| format!("{}: there is no setting `{code}`", line.place)).collect::<Vec<_>>()
        })
        .collect();
    assert!(complaints.is_empty(), "\n{}\nName one that `askbridge config` shows.\n", complaints.join("\n"));
}

/// Returns whether this looks like a setting: a name behind the name of a table of settings.
fn is_key(code: &str) -> bool {
    let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let Some((table, name)) = code.rsplit_once('.') else { return false };
    is_plain(name) && keys::is_section(table) && !keys::is_section(code) && !OTHERS.contains(&name)
}

#[test]
fn the_settings_that_a_page_shows_have_no_mistake() {
    let mut shown = 0;
    for path in repository().iter().filter(|path| path.ends_with(".md")) {
        let page = fs::read_to_string(root().join(path)).expect("a page");
        for block in page.split("```toml\n").skip(1) {
            let text = block.split("```").next().unwrap_or_default();
            if !text.lines().any(is_table) {
                continue;
            }
            shown += 1;
            let file =
                SettingsFile { path: path.into(), text: text.to_owned(), is_readable_by_others: false };
            let settings = Settings::of(Sources {
                user: Some(file),
                home: Some("/home/user".into()),
                ..Sources::default()
            });
            let problems: Vec<_> = settings.problems().iter().map(ToString::to_string).collect();
            assert!(problems.is_empty(), "{path}: {problems:?} in\n{text}");
        }
    }
    assert!(shown >= 8, "only {shown} blocks are found");
}

fn is_table(line: &str) -> bool {
    let name = line.trim_matches(['[', ']']);
    line.starts_with('[') && (keys::is_section(name) || [keys::RULES, "project"].contains(&name))
}

#[test]
fn exit_codes_are_those_of_the_program() {
    let program = program_codes();
    let complaints: Vec<_> = lines()
        .iter()
        .flat_map(|line| {
            let unknown = codes(&line.text).into_iter().filter(|code| !program.contains(code));
            unknown.map(|code| format!("{}: there is no exit code {code}", line.place)).collect::<Vec<_>>()
        })
        .collect();
    assert!(complaints.is_empty(), "\n{}\ncrates/os/src/exit.rs has the codes.\n", complaints.join("\n"));
    let page = fs::read_to_string(root().join("docs/behaviour.md")).expect("the page of the exit codes");
    for code in program {
        let row = if code == 128 { "| 128 + n |".to_owned() } else { format!("| {code} |") };
        assert!(page.contains(&row), "docs/behaviour.md has no row for the exit code {code}");
    }
}

/// Returns the exit codes that a line names.
fn codes(text: &str) -> Vec<u8> {
    let behind = ["exit code ", "exits with code ", "exit code is ", "exits with "];
    let mut found = Vec::new();
    for (at, words) in behind.iter().flat_map(|words| text.match_indices(words)) {
        let digits: String = text[at + words.len()..].chars().take_while(char::is_ascii_digit).collect();
        found.extend(digits.parse::<u8>().ok());
    }
    found
}

#[test]
fn what_does_not_exist_is_found() {
    let mut program = Cli::command();
    program.build();
    let unknown = |code: &str| unknown_words(code, &program);
    assert_eq!(unknown("askbridge list --json"), Vec::<String>::new());
    assert_eq!(unknown("$ askbridge run --timeout=5m -- agent --no-such-option"), Vec::<String>::new());
    assert_eq!(unknown("askbridge config get --origin && ls --all"), ["`get` has no option `--origin`"]);
    assert_eq!(unknown("(askbridge lst)"), ["there is no command `askbridge lst`"]);
    assert_eq!(unknown("the askbridge Reference"), Vec::<String>::new());
    assert!(is_key("bridge.timeot") && !is_key("log.rs") && !is_key("a.b"));
    assert_eq!(codes("fails with exit code 4, and exits with 77"), [4, 77]);
}

#[test]
fn each_setting_is_read() {
    let rows = fs::read_to_string(root().join("crates/settings/src/keys.rs")).expect("the settings");
    let names: BTreeSet<_> = rows.lines().filter_map(declared).collect();
    let count = keys::all().chain(keys::of_project()).count();
    assert_eq!(names.len(), count, "the rows are no longer found: {names:?}");
    let sources = Source::all(&["src", "crates"]);
    let used: BTreeSet<_> = sources
        .iter()
        .filter(|source| source.path != "crates/settings/src/keys.rs")
        .flat_map(|source| source.production.split(|char: char| char != '_' && !char.is_alphanumeric()))
        .collect();
    let unused: Vec<_> = names.difference(&used).collect();
    assert!(unused.is_empty(), "nothing reads `keys::{unused:?}`: read it, or remove its row");
}

/// Returns the name of the constant that a row of `keys.rs` declares.
fn declared(row: &str) -> Option<&str> {
    let (name, rest) = row.strip_prefix("    ")?.split_once(": ")?;
    let is_constant = name.chars().all(|char| char == '_' || char.is_ascii_uppercase());
    (is_constant && rest.contains(" = \"")).then_some(name)
}
