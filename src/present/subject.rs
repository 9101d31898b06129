//! The subject of a permission as text for a terminal: the command, the folder, the changes of files. The command
//! stands above the words of the agent, the rest below them. The options are left to `question.rs`.

use std::{
    borrow::Cow,
    fmt::{self, Display, Formatter, Write},
    time::Duration,
};

use anstyle::{AnsiColor, Style};
use askbridge_core::question::{Diff, FieldOption, Question, Role, Subject};
use askbridge_os::terminal::{padded, printable, printable_line};
use similar::{Algorithm, ChangeTag, TextDiff};

use super::layout;

/// The indentation of the names of the parts. [`TEXT`] is that of their texts.
const INDENT: usize = 2;
const TEXT: usize = 4;
/// The columns of the names of the short parts.
const NAME: usize = 8;
/// The time after which the diff of two texts becomes approximate.
const PATIENCE: Duration = Duration::from_millis(200);

/// The subject of a permission, in words.
pub struct SubjectText<'a> {
    /// The permission.
    pub question: &'a Question,
    /// The columns of the terminal, at which text is wrapped.
    pub columns: usize,
    /// Whether changes are coloured.
    pub colour: bool,
}

impl Display for SubjectText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Some(subject) = self.question.subject.as_deref() else { return Ok(()) };
        let mut parts = String::new();
        self.parts(subject, &mut parts)?;
        if parts.is_empty() { Ok(()) } else { write!(out, "\n{parts}") }
    }
}

impl SubjectText<'_> {
    fn parts(&self, subject: &Subject, out: &mut String) -> fmt::Result {
        self.line("Kind", subject.kind.as_deref().map(kind).as_deref(), out)?;
        self.line("Folder", subject.folder.as_deref(), out)?;
        self.line("Where", subject.environment.as_deref(), out)?;
        self.line("Title", subject.title.as_deref(), out)?;
        self.line("Why", subject.description.as_deref(), out)?;
        for (place, location) in subject.locations.iter().enumerate() {
            self.line(if place == 0 { "Files" } else { "" }, Some(location), out)?;
        }
        self.line("Plan in", subject.plan_file.as_deref().filter(|_| subject.plan.is_none()), out)?;
        self.list("It also allows", &subject.grants, out)?;
        self.list("The request also says", &subject.further, out)?;
        self.text("Plan", subject.plan.as_deref(), out)?;
        for diff in &subject.diffs {
            self.diff(diff, out)?;
        }
        if let Some(patch) = &subject.patch {
            self.patch(patch, out)?;
        }
        self.text("Details", subject.content.as_deref(), out)?;
        // The raw input is shown if nothing else says what would happen, or if it says more than the rest.
        let is_said = subject.command.is_some() || subject.plan.is_some() || !subject.diffs.is_empty();
        let is_shown = !is_said || subject.input_says_more;
        self.text("Input", subject.raw_input.as_deref().filter(|_| is_shown), out)
    }

    /// Writes a short part behind its name.
    fn line(&self, name: &str, text: Option<&str>, out: &mut String) -> fmt::Result {
        let Some(text) = text.map(printable_line) else { return Ok(()) };
        let start = INDENT + NAME + 1;
        let text = layout::wrapped(&text, start, start, self.columns);
        writeln!(out, "{:INDENT$}{} {text}", "", padded(name, NAME))
    }

    /// Writes a part of several lines below its name.
    fn text(&self, name: &str, text: Option<&str>, out: &mut String) -> fmt::Result {
        let Some(text) = text else { return Ok(()) };
        // A line break would change the meaning of a command or of JSON.
        let columns = if name == "Plan" || name == "Details" { self.columns } else { usize::MAX };
        self.name(name, out)?;
        writeln!(out, "{}", layout::indented(&printable(text), TEXT, columns))
    }

    /// Writes a part with one text on each line.
    fn list(&self, name: &str, lines: &[String], out: &mut String) -> fmt::Result {
        if lines.is_empty() {
            return Ok(());
        }
        self.name(name, out)?;
        lines.iter().try_for_each(|line| {
            writeln!(
                out,
                "{:TEXT$}{}",
                "",
                layout::wrapped(&printable_line(line), TEXT, TEXT + 2, self.columns)
            )
        })
    }

    /// Writes the name of a part of several lines, below an empty one.
    fn name(&self, name: &str, out: &mut String) -> fmt::Result {
        let gap = if out.is_empty() { "" } else { "\n" };
        writeln!(out, "{gap}{:INDENT$}{}", "", layout::wrapped(name, INDENT, INDENT, self.columns))
    }

    fn diff(&self, diff: &Diff, out: &mut String) -> fmt::Result {
        let path = printable_line(&diff.path);
        let Some(old) = &diff.old else {
            let what = if diff.replaces { replaces(diff) } else { " (a new file)" };
            self.name(&format!("{path}{what}"), out)?;
            let mut lines = (1..).zip(diff.new.lines());
            return lines.try_for_each(|(number, line)| self.changed(ChangeTag::Insert, number, line, out));
        };
        self.name(&format!("{path}{}", replaces(diff)), out)?;
        let compared = TextDiff::configure()
            .algorithm(Algorithm::Patience)
            // The agent chooses both texts, and could choose a pair whose comparison takes very long.
            .timeout(PATIENCE)
            .diff_lines(&**old, &*diff.new);
        let first = usize::try_from(diff.line).unwrap_or_default();
        compared.iter_all_changes().try_for_each(|change| {
            // Numbers are those of the new file; a removed line has only its number in the old file.
            let number = change.new_index().or(change.old_index()).unwrap_or_default();
            self.changed(change.tag(), first + number, change.value(), out)
        })
    }

    fn patch(&self, patch: &str, out: &mut String) -> fmt::Result {
        self.name("Patch", out)?;
        patch.lines().try_for_each(|line| {
            let tag = match line.as_bytes().first() {
                Some(b'+') => ChangeTag::Insert,
                Some(b'-') => ChangeTag::Delete,
                _ => ChangeTag::Equal,
            };
            let line = printable_line(line).replace('\t', "    ");
            let style = self.style(tag);
            writeln!(out, "{:TEXT$}{style}{line}{style:#}", "")
        })
    }

    /// Writes a line of a file: its number, the sign of its change, and its text, which is never wrapped.
    fn changed(&self, tag: ChangeTag, number: usize, line: &str, out: &mut String) -> fmt::Result {
        let line = line.trim_end_matches(['\n', '\r']).replace('\t', "    ");
        let style = self.style(tag);
        writeln!(out, "{:INDENT$}{number:>5} {style}{tag} {}{style:#}", "", printable_line(&line))
    }

    fn style(&self, tag: ChangeTag) -> Style {
        match tag {
            ChangeTag::Delete if self.colour => AnsiColor::Red.on_default(),
            ChangeTag::Insert if self.colour => AnsiColor::Green.on_default(),
            _ => Style::new(),
        }
    }
}

/// Returns what is added to the name of a file that a change replaces.
fn replaces(diff: &Diff) -> &'static str {
    if diff.replaces { " (replaces the file: what is there is not shown)" } else { "" }
}

/// Returns what choosing an option allows beyond the act that is shown, each on a printable line.
pub fn grants(option: &FieldOption) -> impl Iterator<Item = String> {
    let begin = if option.dangerous { "! also allows" } else { "also allows" };
    option.grants.iter().map(move |grant| format!("{begin}: {}", printable_line(grant)))
}

/// Returns the action that a permission allows, in our own words if the kind is known.
fn kind(kind: &str) -> Cow<'static, str> {
    match kind {
        "execute" => "Run a command".into(),
        "edit" => "Change files".into(),
        "delete" => "Delete files".into(),
        "move" => "Move files".into(),
        "read" => "Read files".into(),
        "search" => "Search".into(),
        "fetch" => "Fetch from the network".into(),
        "switch_mode" => "Continue in another mode".into(),
        other => other.replace('_', " ").into(),
    }
}

/// Returns the command that a permission allows, behind a prompt sign, with its own line breaks. Callers print it above
/// the words of the agent, which may say anything.
pub fn command(question: &Question) -> Option<String> {
    let command = question.subject.as_deref()?.command.as_deref()?;
    let command = layout::indented(&printable(command), INDENT, usize::MAX);
    // A line break would change the meaning of the command, so it is not wrapped.
    Some(format!("$ {}", command.strip_prefix("  ").unwrap_or(&command)))
}

/// Returns whether a text is exactly the command that a permission allows.
pub fn is_command(question: &Question, text: &str) -> bool {
    question.subject.as_deref().is_some_and(|subject| subject.command.as_deref() == Some(text))
}

/// Returns what choosing an option of a permission means.
pub fn meaning(role: Role) -> String {
    match role {
        Role::AllowOnce => "allows it this time".to_owned(),
        Role::AllowAlways => "allows it from now on".to_owned(),
        Role::RejectOnce => "refuses it this time".to_owned(),
        Role::RejectAlways => "refuses it from now on".to_owned(),
        other => printable_line(other.name()).replace('_', " "),
    }
}
