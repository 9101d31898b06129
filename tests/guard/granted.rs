//! What a permission shows of all that it allows, in each dialect: the cases of `fixtures/grants`. A case is a request
//! behind `> `, by the names of `asked.rs`, and below it what a list and `show` say of it.
//! `UPDATE=1 cargo test --test suites guard::` writes what comes out.

use std::{fmt::Write, fs, path::Path, sync::Arc};

use askbridge::present::question::QuestionText;
use askbridge_core::{
    desk::{Record, Timestamp},
    question::Question,
};

use super::asked::asked;
use crate::support::golden;

/// The folder of the sessions, which does not exist.
const PROJECT: &str = "/people/ada/shop";

/// The columns of the terminal.
const COLUMNS: usize = 120;

fn said(question: Question) -> String {
    let mut text = format!("list: {}\n", question.summary().replace('\n', "⏎"));
    let why = question.risk_reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    writeln!(text, "risk: {}{why}", question.risk()).expect("a string takes all");
    let record = Record::new("b-1".parse().expect("an ID"), Arc::new(question), Timestamp::default());
    let now = Timestamp::default();
    let shown =
        QuestionText { record: &record, status: None, now, columns: COLUMNS, colour: false, whole: true }
            .to_string();
    // The head, and the commands at the end, are the same of each.
    let lines = shown.lines().skip_while(|line| !line.is_empty()).skip(1);
    for line in lines.take_while(|line| !line.starts_with("askbridge ")) {
        writeln!(text, "{line}").expect("a string takes all");
    }
    text.trim_end().to_owned() + "\n\n"
}

#[test]
fn all_that_a_permission_allows_is_shown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/grants");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path()).collect();
    files.sort();
    for path in files {
        let written = fs::read_to_string(&path).expect("a readable file");
        let mut shown = String::new();
        for line in written.lines().filter(|line| line.starts_with("> ") || line.starts_with("## ")) {
            writeln!(shown, "{line}").expect("a string takes all");
            if let Some(request) = line.strip_prefix("> ") {
                let question =
                    asked(request, PROJECT).unwrap_or_else(|| panic!("{}: {request}", path.display()));
                shown.push_str(&said(question));
            }
        }
        golden::is(&path, &shown);
    }
}
