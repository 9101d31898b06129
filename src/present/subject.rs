//! The subject of a permission as text for a terminal: the command, the folder, the changes of files. The command
//! stands above the words of the agent, the rest below them. The options are left to `question.rs`.

use std::{
    borrow::Cow,
    fmt::{self, Display, Formatter},
    sync::Arc,
};

use anstyle::{AnsiColor, Style};
use askbridge_core::question::{FieldOption, Question, Role, Subject};
use askbridge_os::terminal::{padded, printable, printable_line};
use similar::ChangeTag;

use super::{
    change::{self, ChangedLine, Row},
    layout, markdown,
    passage::{Passage, PlacedLine},
    styled::{Piece, StyledLine, coloured, piece},
};

/// The indentation of the names of the parts. [`TEXT`] is that of their texts.
const INDENT: usize = 2;
const TEXT: usize = 4;
/// The columns of the names of the short parts.
const NAME: usize = 8;

/// The subject of a permission, in words.
pub struct SubjectText<'a> {
    /// The permission.
    pub question: &'a Question,
    /// The columns of the terminal, at which text is wrapped.
    pub columns: usize,
    /// Whether changes are coloured.
    pub colour: bool,
    /// Whether unchanged lines of a change are shown as well, however many stand together.
    pub whole: bool,
}

impl Display for SubjectText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for line in self.lines() {
            for Piece { text, style } in line.line {
                let style = if self.colour { style } else { Style::new() };
                write!(out, "{style}{text}{style:#}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

impl SubjectText<'_> {
    /// Returns its lines, below an empty one. None if it has no subject, or one that says nothing.
    pub fn lines(&self) -> Vec<PlacedLine> {
        let mut out = Lines(Vec::new());
        if let Some(subject) = self.question.subject.as_deref() {
            self.parts(subject, &mut out);
        }
        if !out.0.is_empty() {
            out.0.insert(0, PlacedLine::default());
        }
        out.0
    }

    /// Returns whether it leaves out unchanged lines of a change.
    pub fn has_folds(&self) -> bool {
        let Some(subject) = self.question.subject.as_deref().filter(|_| !self.whole) else { return false };
        let changes = subject.diffs.iter().map(change::changed);
        let patch = subject.patch.as_deref().map(change::patched);
        changes.chain(patch).any(|lines| change::folded(lines).iter().any(|row| matches!(row, Row::Fold(_))))
    }

    fn parts(&self, subject: &Subject, out: &mut Lines) {
        self.line("Kind", subject.kind.as_deref().map(kind).as_deref(), out);
        self.line("Folder", subject.folder.as_deref(), out);
        self.line("Where", subject.environment.as_deref(), out);
        self.line("Title", subject.title.as_deref(), out);
        self.line("Why", subject.description.as_deref(), out);
        for (place, location) in subject.locations.iter().enumerate() {
            self.line(if place == 0 { "Files" } else { "" }, Some(self.within(location)), out);
        }
        self.line("Plan in", subject.plan_file.as_deref().filter(|_| subject.plan.is_none()), out);
        self.list("It also allows", &subject.grants, out);
        self.list("The request also says", &subject.further, out);
        self.prose("Plan", subject.plan.as_deref(), out);
        for (place, diff) in subject.diffs.iter().enumerate() {
            let new = if diff.old.is_none() { " (a new file)" } else { "" };
            let what = if diff.replaces { " (replaces the file: what is there is not shown)" } else { new };
            let path = printable_line(self.within(&diff.path));
            self.name(&format!("{path}{what}"), out);
            self.rows(change::changed(diff), &format!("change {place}"), Some(&path), out);
        }
        if let Some(patch) = &subject.patch {
            self.name("Patch", out);
            self.rows(change::patched(patch), "patch", None, out);
        }
        self.prose("Details", subject.content.as_deref(), out);
        // The raw input is shown if nothing else says what would happen, or if it says more than the rest.
        let is_said = subject.command.is_some() || subject.plan.is_some() || !subject.diffs.is_empty();
        let is_shown = !is_said || subject.input_says_more;
        self.text("Input", subject.raw_input.as_deref().filter(|_| is_shown), out);
    }

    /// Returns a path relative to the folder of the session, if it is plainly in there.
    fn within<'a>(&self, path: &'a str) -> &'a str {
        self.question.project.as_deref().and_then(|folder| within(folder, path)).unwrap_or(path)
    }

    /// Writes a short part behind its name.
    fn line(&self, name: &str, text: Option<&str>, out: &mut Lines) {
        let Some(text) = text.map(printable_line) else { return };
        let start = INDENT + NAME + 1;
        let text = layout::wrapped(&text, start, start, self.columns);
        out.plain(&format!("{:INDENT$}{} {text}", "", padded(name, NAME)));
    }

    /// Writes a part of several lines below its name.
    fn text(&self, name: &str, text: Option<&str>, out: &mut Lines) {
        let Some(text) = text else { return };
        self.name(name, out);
        // A line break would change the meaning of a command or of JSON.
        out.plain(&layout::indented(&printable(text), TEXT, usize::MAX));
    }

    /// Writes a part that is Markdown below its name. In a pipe, which has no columns, it is as it was written.
    fn prose(&self, name: &str, text: Option<&str>, out: &mut Lines) {
        let Some(text) = text else { return };
        self.name(name, out);
        if self.columns == usize::MAX {
            out.plain(&layout::indented(&printable(text), TEXT, usize::MAX));
        } else {
            out.0.extend(markdown::placed(name, text, TEXT, self.columns));
        }
    }

    /// Writes a part with one text on each line.
    fn list(&self, name: &str, lines: &[String], out: &mut Lines) {
        if lines.is_empty() {
            return;
        }
        self.name(name, out);
        for line in lines {
            let line = layout::wrapped(&printable_line(line), TEXT, TEXT + 2, self.columns);
            out.plain(&format!("{:TEXT$}{line}", ""));
        }
    }

    /// Writes the name of a part of several lines, below an empty one.
    fn name(&self, name: &str, out: &mut Lines) {
        if !out.0.is_empty() {
            out.plain("");
        }
        out.plain(&format!("{:INDENT$}{}", "", layout::wrapped(name, INDENT, INDENT, self.columns)));
    }

    /// Writes the lines of a change, which are never wrapped.
    fn rows(&self, lines: Vec<ChangedLine>, name: &str, path: Option<&str>, out: &mut Lines) {
        let rows = match self.whole {
            true => lines.into_iter().map(Row::Line).collect(),
            false => change::folded(lines),
        };
        let mut at = 0;
        out.0.extend(rows.into_iter().map(|row| match row {
            Row::Line(line) => {
                at += 1;
                let of = Some(Arc::new(passage(&line, (name, at), path)));
                PlacedLine { line: changed(line), of }
            }
            Row::Fold(count) => {
                at += count;
                let folded = format!("{:INDENT$}{:>5} {count} unchanged lines", "", "…");
                vec![piece(&folded, Style::new().dimmed())].into()
            }
        }));
    }
}

/// Lines that are written one after the other.
struct Lines(Vec<PlacedLine>);

impl Lines {
    /// Writes a printable text.
    fn plain(&mut self, text: &str) {
        self.0.extend(text.split('\n').map(|line| vec![piece(line, Style::new())].into()));
    }
}

/// Returns what a comment on a line of a change is about: its file and number, and its text behind its sign.
fn passage(line: &ChangedLine, (name, at): (&str, usize), path: Option<&str>) -> Passage {
    let text: String = line.parts.iter().map(|(text, _)| &**text).collect();
    // A patch has its own signs.
    let sign = if line.number.is_some() { line.tag.to_string() } else { String::new() };
    let place = path.zip(line.number).map(|(path, number)| format!("{path}:{number}"));
    Passage { place, ..Passage::new(name, at, &format!("{sign}{text}")) }
}

/// Returns a line of a change: in a file, behind its number and the sign of its change.
fn changed(line: ChangedLine) -> StyledLine {
    let plain = Style::new();
    let style = match line.tag {
        ChangeTag::Delete => AnsiColor::Red.on_default(),
        ChangeTag::Insert => AnsiColor::Green.on_default(),
        ChangeTag::Equal => plain,
    };
    let (before, sign) = match line.number {
        Some(number) => (format!("{:INDENT$}{number:>5} ", ""), format!("{} ", line.tag)),
        // A patch has its own signs.
        None => (" ".repeat(TEXT), String::new()),
    };
    let mut parts = vec![piece(&before, plain), piece(&sign, style)];
    let roles = line.tokens.iter().flat_map(|(text, role)| text.chars().map(|_| *role));
    let marks = line.parts.iter().flat_map(|(text, is_marked)| text.chars().map(|c| (c, *is_marked)));
    for ((c, is_marked), role) in marks.zip(roles) {
        let style = coloured(style, role);
        let style = if is_marked { style.invert() } else { style };
        match parts.last_mut() {
            Some(last) if last.style == style => last.text.push(c),
            _ => parts.push(piece(&c.to_string(), style)),
        }
    }
    parts
}

/// Returns a path relative to a folder, if it is plainly in there: without `.` and `..`.
fn within<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder.trim_end_matches('/'))?.strip_prefix('/')?;
    let is_plain = folder.starts_with('/') && rest.split('/').all(|part| !matches!(part, "" | "." | ".."));
    is_plain.then_some(rest)
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

#[cfg(test)]
mod tests {
    use askbridge_core::question::{Origin, Purpose};
    use serde_json::json;

    use super::*;

    /// Returns the subject of a change as a terminal shows it.
    fn shown(subject: serde_json::Value, colour: bool) -> String {
        let mut question = Question::new(Origin::Permission, "q", Vec::new());
        question.purpose = Purpose::Permission;
        question.subject = Some(Box::new(serde_json::from_value(subject).expect("a subject")));
        SubjectText { question: &question, columns: 80, colour, whole: true }.to_string()
    }

    #[test]
    fn a_change_has_the_colours_of_its_file_beside_those_of_the_change() {
        let diff = json!({ "path": "/p/a.rs", "line": 1,
            "old": "let port = f(80); // \"a\"\n", "new": "let port = f(8080); // \"a\"\n" });
        let diff = json!({ "kind": "edit", "diffs": [diff] });
        let text = shown(diff.clone(), true);
        let [red, green] = [AnsiColor::Red, AnsiColor::Green];
        let of = |line: AnsiColor, style: Style, text: &str| {
            let style = style.fg_color(Some(style.get_fg_color().unwrap_or(line.into())));
            format!("{style}{text}{style:#}")
        };
        let [keyword, number] = [AnsiColor::Magenta.on_default(), AnsiColor::Yellow.on_default()];
        for (sign, line, port) in [("- ", red, "80"), ("+ ", green, "8080")] {
            let plain = Style::new();
            let expected = [
                of(line, plain, sign),
                of(line, keyword, "let"),
                of(line, plain, " port = "),
                of(line, plain.bold(), "f"),
                of(line, plain, "("),
                of(line, number.invert(), port),
                of(line, plain, "); "),
                of(line, plain.dimmed(), "// \"a\""),
            ];
            assert!(text.contains(&expected.concat()), "{text:?} lacks {:?}", expected.concat());
        }
        let plain = shown(diff, false);
        assert!(plain.contains("1 - let port = f(80); // \"a\"\n"), "{plain}");
        assert!(!plain.contains('\u{1b}'));
        let patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-None\n+True\n";
        let patch = shown(json!({ "kind": "edit", "patch": patch }), true);
        assert!(
            patch.contains(&[of(red, Style::new(), "-"), of(red, keyword, "None")].concat()),
            "{patch:?}"
        );
    }
}
