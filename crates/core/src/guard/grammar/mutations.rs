//! Tries what each line of the tables is for: without it, the judgement of some case of `fixtures/guard` is another one, or
//! has another reason.

use std::collections::BTreeMap;

use super::{lookup, read};
use crate::{
    guard::{command, programs},
    question::Risk,
};

const PROJECT: &str = "/people/ada/shop";

/// Lines that no command by itself can tell: `does` is said of rules, and the others only say where a value or a name ends.
const SILENT: [&str; 5] = ["does", "value", "flag", "program", "open"];

/// Lines that no case needs, by the first name of their program, and why they stay.
const LEFT: [(&str, &[&str]); 5] = [
    (
        "how a program's words are read: no case is known in which it would be read otherwise, and still run",
        &[
            "program javac: long",
            "program go: long",
            "program gcc: long",
            "program ld: long",
            "program terraform: long",
            "program openssl: long",
            "program hadoop: long",
            "program packer: long",
            "program *: inherit",
            "program jj: inherit",
            "program hg: inherit",
            "program terraform: inherit",
            "program gcloud: inherit",
            "program firebase: inherit",
            "program npm: texts",
            "program pnpm: texts",
            "program git: texts",
            "program jq: pattern",
            "program yq: pattern",
        ],
    ),
    (
        "what the shell's own words are: their values are judged before, or where they are used",
        &[
            "program compgen: evaluates",
            "program set: texts",
            "program mapfile: evaluates",
            "program getopts: texts",
            "program :: texts",
        ],
    ),
    (
        "another line of the same program says the same of every command that is known",
        &[
            "program gcloud: harm: changes a remote service in your name",
            "program az: harm: changes a remote service in your name",
            "program az: harm: shows or changes secrets",
            "program pod: harm word push: publishes, or speaks for you",
            "program pod: harm: publishes, or speaks for you",
            "program docker: names --runtime --conmon --cgroup-manager: names a program that runs",
            "program docker: hole --hooks-dir --config --module --storage-driver: names code or settings that are loaded",
            "program docker: names --runtime: names a program that runs",
            "program gcc: hole word @*: takes its options from a file",
        ],
    ),
    (
        "an exception to a line of the same program that no case meets",
        &[
            "program *: unless most 0",
            "program hugo: dry --dry-run",
            "program git: unless --get --get-all --get-regexp --get-urlmatch --list -l",
            "program git: dry -n --dry-run",
            "program docker-compose: dry --dry-run",
            "program composer: looks -l --list",
            "program wp: fine word version info status help",
            "program airflow: fine word list ls get describe logs show version status test parse compile",
        ],
    ),
    (
        "only counts for `--version`, which the cases ask of few programs",
        &["program rustc: is-local", "program askbridge: always"],
    ),
];

/// A command, or a pattern of a rule with a command.
struct Case {
    pattern: Option<String>,
    command: String,
}

/// What is said of a case.
#[derive(Debug, PartialEq)]
enum Said {
    Risk(Risk, String),
    Hole(Option<String>),
}

/// The tables of cases, each with whether its lines are patterns of rules with commands.
const CASES: [(&str, bool); 6] = [
    (include_str!("../../../../../fixtures/guard/commands.txt"), false),
    (include_str!("../../../../../fixtures/guard/everyday.txt"), false),
    (include_str!("../../../../../fixtures/guard/looks.txt"), false),
    (include_str!("../../../../../fixtures/guard/dangerous.txt"), false),
    (include_str!("../../../../../fixtures/guard/tables.txt"), false),
    (include_str!("../../../../../fixtures/guard/holes.txt"), true),
];

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (text, has_patterns) in CASES {
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("## ") && !line.starts_with("== "));
        cases.extend(lines.map(|line| match line.split_once(" => ") {
            Some((pattern, command)) if has_patterns => {
                Case { pattern: Some(pattern.to_owned()), command: command.to_owned() }
            }
            _ => Case { pattern: None, command: line.replace('⏎', "\n") },
        }));
    }
    cases
}

fn said(case: &Case) -> Said {
    let Some(pattern) = &case.pattern else {
        let (risk, why) = command::risk(&case.command, Some(PROJECT));
        return Said::Risk(risk, why);
    };
    let named: Vec<_> = pattern.split(' ').collect();
    let words: Vec<_> = case.command.split(' ').map(str::to_owned).collect();
    let is_named = |at: usize| named.get(at).is_some_and(|word| *word != "*");
    Said::Hole(programs::hole(&words, Some(PROJECT), &is_named))
}

/// Returns the lines of a table, with the program that each belongs to.
fn blocks(table: &'static str) -> Vec<Vec<&'static str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with("##")) {
        match blocks.last_mut() {
            Some(block) if !line.starts_with("program ") => block.push(line),
            _ => blocks.push(vec![line]),
        }
    }
    blocks
}

/// Returns the lines without which each of these cases is judged as with them.
fn unnoticed(block: &[&'static str], cases: &[&Case]) -> Vec<String> {
    let before: Vec<_> = cases.iter().map(|case| said(case)).collect();
    let is_sub = |line: &str| line.trim_start().starts_with("sub ");
    let mut found = Vec::new();
    for (at, line) in block.iter().enumerate().skip(1) {
        let head = line.split_whitespace().next().unwrap_or_default().trim_end_matches(':');
        if SILENT.contains(&head) || is_sub(line) {
            continue;
        }
        let rest: Vec<_> =
            block.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, line)| *line).collect();
        let (rows, wrong) = read::read(Box::leak(rest.join("\n").into_boxed_str()));
        assert!(wrong.is_empty(), "{wrong:?}");
        lookup::instead(rows);
        // Of programs that are not known, each case would be near.
        let parts = parts(line);
        let is_near = |case: &Case| {
            let has_part = parts.is_empty() || parts.iter().any(|part| case.command.contains(part));
            block[0] != "program *" || has_part
        };
        let mut tried = cases.iter().zip(&before).filter(|(case, _)| is_near(case));
        let is_noticed = tried.any(|(case, before)| said(case) != *before);
        lookup::instead(Vec::new());
        if !is_noticed {
            let first = block[0].split_whitespace().take(2).collect::<Vec<_>>().join(" ");
            found.push(format!("{first}: {}", line.trim_start()));
        }
    }
    found
}

/// Returns the texts that a line names, without the ends of its patterns.
fn parts(line: &'static str) -> Vec<&'static str> {
    let names = line.split(": ").next().unwrap_or_default().split_whitespace().skip(1);
    names.map(|name| name.trim_matches('*').split(['*', '=']).next().unwrap_or_default()).collect()
}

/// Returns the cases by the words in them.
fn by_words(cases: &[Case]) -> BTreeMap<String, Vec<&Case>> {
    let mut found: BTreeMap<String, Vec<&Case>> = BTreeMap::new();
    for case in cases {
        let mut words: Vec<_> = case
            .command
            .split(|char: char| char.is_whitespace() || "'\"()`;|&=/$".contains(char))
            .map(lookup::name)
            .flat_map(|name| [name.split('-').next().unwrap_or_default().to_owned(), name])
            .collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            found.entry(word).or_default().push(case);
        }
    }
    found
}

#[test]
fn each_line_of_the_tables_decides_a_case() {
    let cases = cases();
    let by_words = by_words(&cases);
    let all: Vec<_> = cases.iter().collect();
    let mut found = Vec::new();
    for block in lookup::TABLES.into_iter().flat_map(blocks) {
        let names: Vec<_> = block[0].split_whitespace().skip(1).collect();
        let of = |name: &&str| by_words.get(*name).into_iter().flatten().copied().collect::<Vec<_>>();
        let near: Vec<_> = if names == ["*"] { all.clone() } else { names.iter().flat_map(of).collect() };
        found.extend(unnoticed(&block, &near));
    }
    let left: Vec<_> = LEFT.iter().flat_map(|(_, lines)| *lines).collect();
    let new: Vec<_> = found.iter().filter(|line| !left.iter().any(|left| **left == line.as_str())).collect();
    assert!(new.is_empty(), "no case needs these: {new:#?}");
    let gone: Vec<_> =
        left.into_iter().filter(|left| !found.iter().any(|line| line.as_str() == **left)).collect();
    assert!(gone.is_empty(), "a case needs these by now, or they are gone: {gone:#?}");
}
