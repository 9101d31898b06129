//! The results as text: the failures in detail, a table of the groups, the failures by name, and the verdict of the run.
//! What a case in detail is made of is left to `detail.rs`.

use std::collections::BTreeMap;

use anstyle::Style;
use askbridge_os::terminal::{cut, padded, printable_line};

use crate::{
    case::Case,
    suite::{Outcome, Settings},
    verdict::Verdict,
};

use super::{
    counts::Counts,
    detail::detail,
    paint::{BOLD, DIM, GREEN, Paint, RED, YELLOW, painted, put},
};

/// How many failures are shown in detail.
const DETAILED: usize = 8;
/// How many failures are named at the end: what a terminal shows at once, with the table of the groups.
const NAMED: usize = 20;
/// The columns of a bar in the table of the groups, and of one on a narrow terminal, where the counts need the room.
const BAR: usize = 20;
const SHORT_BAR: usize = 10;
/// The columns of a narrow terminal.
const NARROW: usize = 100;
/// The columns of a line where the output is no terminal.
const LONG: usize = 200;

/// Returns a line for each case: its level, its ID and its rule.
pub fn list(cases: &[Case]) -> String {
    let longest = cases.iter().map(|case| case.id.len()).max().unwrap_or_default();
    let line =
        |case: &Case| format!("{:<6}  {}  {}\n", case.level.name(), padded(&case.id, longest), case.rule);
    cases.iter().map(line).collect()
}

/// Returns the text for people at the end of a run, in colours. `columns` is the width of the terminal, if the output is
/// one.
pub fn summary(settings: &Settings, outcomes: &[Outcome], seconds: f64, columns: Option<usize>) -> String {
    let paint = Paint { is_coloured: true, columns };
    let mut shown: Vec<_> = outcomes.iter().filter(|outcome| is_shown(outcome, settings.strict)).collect();
    // What makes the run fail comes first.
    shown.sort_by_key(|outcome| !outcome.is_unexpected);
    let mut text = String::new();
    for outcome in shown.iter().take(DETAILED) {
        let (style, heading) = heading(outcome);
        let head = format!("{}  {}", painted(style, heading), painted(BOLD, &outcome.case.id));
        text += &format!("{head}\n{}\n", detail(outcome, paint));
    }
    if let Some(rest @ 1..) = shown.len().checked_sub(DETAILED) {
        let kind = settings.kind.command();
        put(
            &mut text,
            &format!(
                "{rest} more are only named below: `askbridge check {kind} CASE` shows one, `--json FILE` all\n"
            ),
        );
    }
    text += &groups(outcomes, if columns.is_some_and(|columns| columns < NARROW) { SHORT_BAR } else { BAR });
    text += &reasons(outcomes, columns.unwrap_or(LONG));
    text += &met(outcomes, columns.unwrap_or(LONG));
    if shown.len() > 1 {
        text += &names(&shown, columns.unwrap_or(LONG));
    }
    let counts = Counts::of(outcomes);
    let verdict = match outcomes.iter().any(|outcome| outcome.is_unexpected) {
        true => painted(RED, "FAILED"),
        false => painted(GREEN, "PASSED"),
    };
    let total = counts.total();
    let cases = if total == 1 { "case" } else { "cases" };
    text + &format!("\n{verdict}  {} of {total} {cases} in {seconds:.1} s\n", counts.words())
}

/// Whether an outcome is shown in detail.
fn is_shown(outcome: &Outcome, strict: bool) -> bool {
    match outcome.verdict {
        Verdict::Failed(_) => !outcome.expected,
        Verdict::Inconclusive(_) => strict,
        Verdict::Passed | Verdict::Skipped(_) => outcome.is_unexpected,
    }
}

fn heading(outcome: &Outcome) -> (Style, &'static str) {
    match (&outcome.verdict, outcome.is_unexpected) {
        (Verdict::Passed, _) => (RED, "PASSED"),
        (Verdict::Failed(_), true) => (RED, "FAILED"),
        (Verdict::Failed(_), false) => (YELLOW, "WARNING"),
        (Verdict::Inconclusive(_) | Verdict::Skipped(_), _) => (YELLOW, "INCONCLUSIVE"),
    }
}

/// Returns a line for each failure, with what happened.
fn names(shown: &[&Outcome], columns: usize) -> String {
    let mut text = "\n".to_owned();
    let widest = shown.iter().map(|outcome| heading(outcome).1.len()).max().unwrap_or_default();
    for outcome in shown.iter().take(NAMED) {
        let why = match &outcome.verdict {
            Verdict::Failed(failure) => failure.what.as_str(),
            Verdict::Passed => "passed, although it was expected to fail",
            Verdict::Inconclusive(why) | Verdict::Skipped(why) => why,
        };
        let (style, heading) = heading(outcome);
        let line = format!("{}  {}", outcome.case.id, printable_line(why));
        let line = cut(&line, columns.saturating_sub(widest + 4)).into_owned();
        put(&mut text, &format!("  {}  {line}", painted(style, &padded(heading, widest))));
    }
    if shown.len() > NAMED {
        put(&mut text, &format!("  … and {} more: `--json FILE` has all", shown.len() - NAMED));
    }
    text
}

/// Returns why cases were skipped or show nothing, each reason once.
fn reasons(outcomes: &[Outcome], columns: usize) -> String {
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for outcome in outcomes {
        if let Verdict::Inconclusive(why) | Verdict::Skipped(why) = &outcome.verdict {
            *reasons.entry((outcome.verdict.name(), why)).or_default() += 1;
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = "\n".to_owned();
    for ((verdict, why), count) in reasons {
        let line = format!("  {count} {verdict}: {}", printable_line(why));
        put(&mut text, &painted(DIM, &cut(&line, columns)));
    }
    text
}

/// Returns what broke rules on the way that no case of the run is about, each once.
fn met(outcomes: &[Outcome], columns: usize) -> String {
    let mut met: Vec<_> = outcomes.iter().flat_map(|outcome| &outcome.met).collect();
    met.sort();
    met.dedup();
    if met.is_empty() {
        return String::new();
    }
    let mut text = "\n  Broken as well, by a rule of a case that was not run:\n".to_owned();
    for line in met {
        put(&mut text, &cut(&format!("    {}", printable_line(line)), columns));
    }
    text
}

/// Returns a line for each group, with a bar.
fn groups(outcomes: &[Outcome], bar_columns: usize) -> String {
    let groups: Vec<_> = outcomes.chunk_by(|one, other| one.case.group() == other.case.group()).collect();
    let name = |group: &[Outcome]| group.first().map_or(String::new(), |first| first.case.group().to_owned());
    let longest = groups.iter().map(|group| name(group).len()).max().unwrap_or_default();
    let line = |group: &&[Outcome]| {
        let counts = Counts::of(group);
        format!("  {}  {}  {}\n", padded(&name(group), longest), bar(counts, bar_columns), counts.words())
    };
    groups.iter().map(line).collect()
}

fn bar(counts: Counts, whole: usize) -> String {
    let played = counts.total() - counts.skipped;
    // A share is rounded up: one failure of many has a column too.
    let columns = |count: usize| if played == 0 { 0 } else { (count * whole).div_ceil(played) };
    let broken = columns(counts.broken()).min(whole);
    let doubtful = counts.failed - counts.broken() + counts.inconclusive;
    let doubtful = columns(doubtful).min(whole - broken);
    let passed = if played == 0 { 0 } else { whole - broken - doubtful };
    let rest = whole - passed - broken - doubtful;
    [
        painted(GREEN, &"━".repeat(passed)),
        painted(YELLOW, &"━".repeat(doubtful)),
        painted(RED, &"━".repeat(broken)),
        painted(DIM, &"╌".repeat(rest)),
    ]
    .concat()
}
