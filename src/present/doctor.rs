//! The findings of `askbridge doctor`, as text and as JSON.
//! Looking is left to `command`.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use askbridge_os::terminal::printable_line;
use serde::Serialize;

use super::layout;

/// The columns before the text of a finding.
const INDENT: usize = 2;
/// The columns of the word for a level, and the space after it.
const LEVEL: usize = 9;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// It works.
    Ok,
    /// It is unused or not needed.
    Note,
    /// It works, but may behave unexpectedly.
    Warning,
    /// It does not work.
    Problem,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Problem => "problem",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The subject, such as `bridges`.
    pub area: String,
    /// Its severity.
    pub level: Level,
    /// The finding.
    pub text: String,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// The results of all checks.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "DoctorReport"))]
pub struct Report {
    /// The version of the program that ran the checks.
    pub version: String,
    /// Whether no finding is a problem.
    pub healthy: bool,
    /// Whether the questions of an agent come here: a bridge runs, or an agent is set up to ask here.
    pub connected: bool,
    /// The first step, if no agent is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// The findings, by area.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Starts a report.
    pub fn new(version: &str) -> Self {
        Report { version: version.to_owned(), healthy: true, ..Report::default() }
    }

    /// Adds a finding.
    pub fn add(&mut self, area: &str, level: Level, text: impl Into<String>, advice: Option<&str>) {
        self.healthy &= level != Level::Problem;
        let (area, text, advice) = (area.to_owned(), text.into(), advice.map(str::to_owned));
        self.findings.push(Finding { area, level, text, advice });
    }

    /// Returns the report for people. On a terminal of so many columns, lines are wrapped at them.
    pub fn text(&self, columns: usize, colour: bool) -> String {
        let mut out = String::new();
        let mut area = "";
        for finding in &self.findings {
            if finding.area != area {
                if !area.is_empty() {
                    out.push('\n');
                }
                area = &finding.area;
                push(&mut out, format_args!("{}\n", printable_line(area)));
            }
            let (style, word) = (style(finding.level, colour), finding.level.word());
            let start = INDENT + LEVEL;
            let text = layout::wrapped(&printable_line(&finding.text), start, start, columns);
            push(&mut out, format_args!("{:INDENT$}{style}{word:LEVEL$}{style:#}{text}\n", ""));
            if let Some(advice) = &finding.advice {
                let advice = printable_line(advice);
                let advice = layout::wrapped(&advice, start + 3, start + 3, columns);
                push(&mut out, format_args!("{:start$}-> {advice}\n", ""));
            }
        }
        let summary = layout::wrapped(&printable_line(&self.summary()), 0, 0, columns);
        push(&mut out, format_args!("\n{summary}\n"));
        out
    }

    fn summary(&self) -> String {
        let count = |level| self.findings.iter().filter(|finding| finding.level == level).count();
        let words = |count: usize, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            _ => Some(format!("{count} {what}s")),
        };
        let found = [words(count(Level::Problem), "problem"), words(count(Level::Warning), "warning")];
        let found: Vec<_> = found.into_iter().flatten().collect();
        let found = Some(found.join(", ")).filter(|found| !found.is_empty());
        match (found, self.connected) {
            (None, true) => "everything works".to_owned(),
            (Some(found), true) => found,
            (found, false) => {
                let found = found.map(|found| found + "; ").unwrap_or_default();
                let first = self.first.as_ref().map(|first| format!(": {first}")).unwrap_or_default();
                format!("{found}no agent is connected yet{first}")
            }
        }
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    let written = out.write_fmt(text);
    debug_assert!(written.is_ok(), "a String takes everything");
}

fn style(level: Level, colour: bool) -> Style {
    match level {
        Level::Ok if colour => AnsiColor::Green.on_default(),
        Level::Warning if colour => AnsiColor::Yellow.on_default(),
        Level::Problem if colour => AnsiColor::Red.on_default().bold(),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_stand_under_their_area_with_what_to_do() {
        let mut report = Report::new("0.1.0");
        report.add("program", Level::Ok, "askbridge 0.1.0", None);
        report.add("folder", Level::Problem, "/run/\u{1b}x can be entered by others", Some("chmod 700 it"));
        report.add("folder", Level::Warning, "a warning of several words", None);
        report.connected = true;
        let text = "program\n  ok       askbridge 0.1.0\n\nfolder\n  problem  /run/␛x can be entered by others\n           \
                    -> chmod 700 it\n  warning  a warning of several words\n\n1 problem, 1 warning\n";
        assert_eq!(report.text(usize::MAX, false), text);
        assert!(!report.healthy);
        assert!(report.text(30, false).lines().all(|line| line.chars().count() <= 30));
        let last = |connected, first: Option<&str>, level| {
            let mut report = Report { connected, first: first.map(str::to_owned), ..Report::new("0") };
            report.add("a", level, "b", None);
            report.text(80, false).lines().last().map(str::to_owned).unwrap_or_default()
        };
        assert_eq!(last(true, None, Level::Note), "everything works");
        assert_eq!(last(false, Some("do this"), Level::Ok), "no agent is connected yet: do this");
        assert_eq!(last(false, None, Level::Problem), "1 problem; no agent is connected yet");
    }
}
