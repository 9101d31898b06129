//! The results as text: each failure with its expected and actual messages, a table of the groups, and a summary line.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use askbridge_os::terminal::{cut, padded, printable_line};
use serde::Serialize;

use crate::{
    case::Case,
    suite::{Outcome, Settings},
    verdict::Verdict,
};

/// How many failures are shown with all that led to them.
const DETAILED: usize = 8;
/// The maximum width of each line of the conversation; `--wire` shows more of it.
const SAID: usize = 300;
/// The maximum width of the expected and of the actual message.
const COMPARED: usize = 800;
/// The columns of a bar in the table of the groups.
const BAR: usize = 20;

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The rule holds.
    pub passed: usize,
    /// The rule is broken.
    pub failed: usize,
    /// Nothing was shown.
    pub inconclusive: usize,
    /// Not played.
    pub skipped: usize,
}

impl Counts {
    /// Counts outcomes.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut counts = Self::default();
        outcomes.iter().for_each(|outcome| counts.add(&outcome.verdict));
        counts
    }

    /// Counts one more.
    pub fn add(&mut self, verdict: &Verdict) {
        *match verdict {
            Verdict::Passed => &mut self.passed,
            Verdict::Failed(_) => &mut self.failed,
            Verdict::Inconclusive(_) => &mut self.inconclusive,
            Verdict::Skipped(_) => &mut self.skipped,
        } += 1;
    }

    /// Returns how many were counted.
    pub fn total(self) -> usize {
        self.passed + self.failed + self.inconclusive + self.skipped
    }

    /// Returns them in words, in colours.
    pub(super) fn words(self) -> String {
        let parts = [
            (self.passed, "passed", GREEN),
            (self.failed, "failed", RED),
            (self.inconclusive, "inconclusive", YELLOW),
            (self.skipped, "skipped", DIM),
        ];
        let parts = parts.into_iter().filter(|(count, name, _)| *count > 0 || *name == "passed");
        let parts: Vec<_> =
            parts.map(|(count, name, style)| painted(style, &format!("{count} {name}"))).collect();
        parts.join(", ")
    }
}

pub(super) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

pub(super) fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Returns a line for each case: its level, its ID and its rule.
pub fn list(cases: &[Case]) -> String {
    let longest = cases.iter().map(|case| case.id.len()).max().unwrap_or_default();
    let line =
        |case: &Case| format!("{:<6}  {}  {}\n", case.level.name(), padded(&case.id, longest), case.rule);
    cases.iter().map(line).collect()
}

/// Returns all that people are told at the end of a run, in colours.
pub fn summary(settings: &Settings, outcomes: &[Outcome], seconds: f64) -> String {
    let mut text = String::new();
    let worse: Vec<_> = outcomes.iter().filter(|outcome| is_told(outcome, settings.strict)).collect();
    for outcome in worse.iter().take(DETAILED) {
        text += &format!("{}\n", failure(outcome, true));
    }
    if worse.len() > DETAILED {
        text +=
            &format!("{} more, which `--json FILE` and `--wire DIR` have whole:\n", worse.len() - DETAILED);
        for outcome in worse.iter().skip(DETAILED) {
            text += &format!("  {}  {}\n", heading(outcome), outcome.case.id);
        }
        text.push('\n');
    }
    text += &groups(outcomes);
    let counts = Counts::of(outcomes);
    let verdict = match outcomes.iter().any(|outcome| outcome.is_unexpected) {
        true => painted(RED, "FAILED"),
        false => painted(GREEN, "PASSED"),
    };
    text + &format!("\n{verdict}  {} of {} cases in {seconds:.1} s\n", counts.words(), counts.total())
}

/// Whether an outcome is shown with its reasons.
fn is_told(outcome: &Outcome, strict: bool) -> bool {
    match outcome.verdict {
        Verdict::Failed(_) => !outcome.expected,
        Verdict::Inconclusive(_) => strict,
        Verdict::Passed | Verdict::Skipped(_) => outcome.is_unexpected,
    }
}

fn heading(outcome: &Outcome) -> String {
    match (&outcome.verdict, outcome.is_unexpected) {
        (Verdict::Passed, _) => painted(RED, "PASSED"),
        (Verdict::Failed(_), true) => painted(RED, "FAILED"),
        (Verdict::Failed(_), false) => painted(YELLOW, "SHOULD"),
        (Verdict::Inconclusive(_) | Verdict::Skipped(_), _) => painted(YELLOW, "UNSEEN"),
    }
}

/// Returns why a case failed: its rule with the source, and the expected and the actual message.
pub fn failure(outcome: &Outcome, coloured: bool) -> String {
    let paint = |style, text: &str| if coloured { painted(style, text) } else { text.to_owned() };
    let case = &outcome.case;
    let mut text = String::new();
    if coloured {
        put(&mut text, &format!("{}  {}", heading(outcome), paint(BOLD, &case.id)));
    }
    put(&mut text, &format!("  {}", case.rule));
    put(&mut text, &paint(DIM, &format!("  {}: {}", case.level.name(), case.source)));
    let failure = match &outcome.verdict {
        Verdict::Failed(failure) => failure,
        Verdict::Passed => {
            put(&mut text, "  passed, although it was expected to fail: take it off that list");
            return text;
        }
        Verdict::Inconclusive(why) | Verdict::Skipped(why) => {
            put(&mut text, &format!("  {}", printable_line(why)));
            return text;
        }
    };
    put(&mut text, &format!("  {}: {}", failure.step, paint(BOLD, &failure.what)));
    for (name, value, style) in [("expected", &failure.expected, GREEN), ("got", &failure.got, RED)] {
        if let Some(value) = value {
            put(&mut text, &format!("    {}  {}", paint(style, &format!("{name:>8}")), cut(value, COMPARED)));
        }
    }
    put(&mut text, &paint(DIM, "  what was said"));
    failure.wire.iter().for_each(|line| put(&mut text, &format!("    {}", cut(line, SAID))));
    if !failure.stderr.is_empty() {
        put(&mut text, &paint(DIM, "  stderr"));
        failure.stderr.lines().for_each(|line| put(&mut text, &format!("    {line}")));
    }
    text
}

/// Returns a line for each group, with a bar.
fn groups(outcomes: &[Outcome]) -> String {
    let groups: Vec<_> = outcomes.chunk_by(|one, other| one.case.group() == other.case.group()).collect();
    let name = |group: &[Outcome]| group.first().map_or(String::new(), |first| first.case.group().to_owned());
    let longest = groups.iter().map(|group| name(group).len()).max().unwrap_or_default();
    let line = |group: &&[Outcome]| {
        let counts = Counts::of(group);
        let played = counts.total() - counts.skipped;
        format!("  {}  {}  {}\n", padded(&name(group), longest), bar(counts, played), counts.words())
    };
    groups.iter().map(line).collect()
}

fn bar(counts: Counts, played: usize) -> String {
    let columns = |count: usize| if played == 0 { 0 } else { (count * BAR).div_ceil(played) };
    // What is not as it should be is seen, however small its part is.
    let failed = columns(counts.failed).min(BAR);
    let inconclusive = columns(counts.inconclusive).min(BAR - failed);
    let passed = if played == 0 { 0 } else { BAR - failed - inconclusive };
    let rest = BAR - passed - failed - inconclusive;
    [
        painted(GREEN, &"━".repeat(passed)),
        painted(YELLOW, &"━".repeat(inconclusive)),
        painted(RED, &"━".repeat(failed)),
        painted(DIM, &"╌".repeat(rest)),
    ]
    .concat()
}

fn put(text: &mut String, line: &str) {
    // A string takes all.
    writeln!(text, "{line}").unwrap_or_default();
}
