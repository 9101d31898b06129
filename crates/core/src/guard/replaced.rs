//! Whether a change replaces a text that it does not show: it begins a file anew that is there, or shows an old text that
//! the file does not have. Pure: the host looks at the files ([`Files`]).

use std::{collections::BTreeMap, path::Path};

use super::{
    assess::raise,
    files::{self, Files, file_in_head, without_line},
    hidden::is_hidden,
};
use crate::{
    limits,
    question::{
        Question, Risk, Subject,
        subject::{Diff, is_cut},
    },
};

/// A part of a file that is replaced.
#[derive(Debug, PartialEq)]
struct Change {
    path: String,
    /// The text before. `None` where the file begins anew.
    old: Option<String>,
    new: String,
}

/// What a change replaces beside the text that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Replaced {
    Nothing,
    Unknown,
    /// It shows an old text that is not in the file.
    Other,
    Text,
}

/// Returns the permission with a higher risk if one of its changes replaces a text that it does not show, and with such
/// changes marked.
pub(super) fn with_replaced(question: &Question, files: &dyn Files) -> Option<Question> {
    let subject = question.subject.as_deref()?;
    let mut look = Look { question, subject, files, texts: BTreeMap::new() };
    let of_diffs: Vec<_> = subject.diffs.iter().map(of_diff).collect();
    let found: Vec<_> = of_diffs.iter().map(|change| look.replaced(change)).collect();
    let of_patch = of_patch(subject);
    let patched: Vec<_> = of_patch.iter().map(|change| look.replaced(change)).collect();
    let all = found.iter().zip(&of_diffs).chain(patched.iter().zip(&of_patch));
    // Of equals, the first one is named.
    let worst = all.reduce(|worst, other| if other.0 > worst.0 { other } else { worst });
    let (worst, Change { path, .. }) = worst?;
    let why = match worst {
        Replaced::Nothing => return None,
        Replaced::Text => format!("it replaces {path}, and does not show what is there"),
        Replaced::Other => format!("it replaces a text of {path} that is not there now"),
        Replaced::Unknown => format!("it is not known whether it replaces {path}"),
    };
    let mut question = question.clone();
    let diffs = &mut question.subject.as_deref_mut()?.diffs;
    for (diff, found) in diffs.iter_mut().zip(&found) {
        diff.replaces = *found == Replaced::Text;
    }
    raise(&mut question, Risk::Acts, &why);
    Some(question)
}

fn of_diff(diff: &Diff) -> Change {
    // Further lines stand before the part that is shown.
    let is_whole = diff.line <= 1;
    let old = diff.old.clone().filter(|old| !(is_whole && is_blank(old)));
    Change { path: diff.path.clone(), old, new: diff.new.clone() }
}

/// Returns whether a person sees nothing of a text.
fn is_blank(text: &str) -> bool {
    text.chars().all(|char| char.is_whitespace() || is_hidden(char))
}

/// Returns the text as it is compared: agents write other ends of lines than the file has.
fn comparable(text: &str) -> String {
    text.replace('\r', "")
}

/// The files that changes name, as they would be after the changes that were looked at.
struct Look<'a> {
    question: &'a Question,
    subject: &'a Subject,
    files: &'a dyn Files,
    /// `None` for a file that cannot be read.
    texts: BTreeMap<String, Option<String>>,
}

impl Look<'_> {
    fn replaced(&mut self, change: &Change) -> Replaced {
        // A file of another environment cannot be looked at from here.
        if self.subject.environment.is_some() {
            return if change.old.is_none() { Replaced::Unknown } else { Replaced::Nothing };
        }
        // A number at the end may be a line, or a part of the file's name: both readings count.
        let readings = [change.path.as_str(), without_line(&change.path)];
        let readings = if readings[0] == readings[1] { &readings[..1] } else { &readings[..] };
        let found = readings.iter().map(|path| self.in_file(path, change)).max();
        found.unwrap_or(Replaced::Unknown)
    }

    fn in_file(&mut self, named: &str, change: &Change) -> Replaced {
        let project = self.question.project.as_deref();
        let inside = project.and_then(|project| files::inside(project, named));
        let is_inside = inside.is_some();
        // The risk of a file elsewhere is not plain anyway, but whether it exists is said as well.
        let path = inside.or_else(|| files::is_plain(named).then(|| named.to_owned()));
        let size = path.as_deref().and_then(|path| self.files.size(Path::new(path)));
        match (&change.old, path, size) {
            (None, Some(path), Some(0)) => {
                self.texts.insert(path, Some(comparable(&change.new)));
                Replaced::Nothing
            }
            (None, _, Some(_)) => Replaced::Text,
            (None, _, None) => Replaced::Unknown,
            (Some(old), Some(path), _) if is_inside && !is_cut(old) => self.in_text(path, old, change, size),
            (Some(_), ..) => Replaced::Nothing,
        }
    }

    /// Looks for the old text of a change in the file, and changes it there: the next change may be one of the new text.
    fn in_text(&mut self, path: String, old: &str, change: &Change, size: Option<u64>) -> Replaced {
        let files = self.files;
        let text = self.texts.entry(path).or_insert_with_key(|path| match size {
            Some(0) => None,
            _ => files.contents(Path::new(path), limits::COMPARED).map(|text| comparable(&text)),
        });
        let old = comparable(old);
        match text {
            Some(text) if text.contains(&old) => {
                *text = text.replacen(&old, &comparable(&change.new), 1);
                Replaced::Nothing
            }
            Some(_) => Replaced::Other,
            // Where there is no file, nothing is replaced.
            None if size == Some(0) => Replaced::Nothing,
            None => Replaced::Unknown,
        }
    }
}

/// Represents a file that does not exist before a change.
const NEW: [&str; 2] = ["--- /dev/null", "new file mode"];

/// Begins the name of a new file, in the format of Codex' own tool for patches.
const ADDED: &str = "*** Add File: ";

/// Returns the parts of files that the patch of a permission replaces.
fn of_patch(subject: &Subject) -> Vec<Change> {
    let Some(patch) = subject.patch.as_deref() else { return Vec::new() };
    // A patch without heads is about the file that the permission names.
    let mut path = subject.locations.first().filter(|_| subject.locations.len() == 1).cloned();
    let (mut changes, mut is_new, mut is_in_head) = (Vec::new(), false, false);
    let lines: Vec<_> = patch.lines().collect();
    let mut place = 0;
    while let Some(line) = lines.get(place) {
        place += 1;
        if let Some(added) = line.strip_prefix(ADDED) {
            changes.push(Change { path: added.trim().to_owned(), old: None, new: String::new() });
        } else if line.starts_with("diff ") {
            (is_new, is_in_head) = (false, true);
        } else if line.starts_with("--- ") {
            is_new = *line == NEW[0] || (is_new && is_in_head);
        } else if line.starts_with(NEW[1]) {
            (is_new, is_in_head) = (true, true);
        } else if let Some(file) = file_in_head(line, "+++ ", "b/") {
            path = Some(file.to_owned());
        } else if line.starts_with("@@")
            && let Some(path) = &path
        {
            let body = body(&lines[place..]);
            changes.extend(hunk(path, line, is_new, body));
            place += body.len();
            is_in_head = false;
        }
    }
    changes
}

/// Returns the lines up to the next hunk, or the next head.
fn body<'a, 'b>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let is_head = |place: &usize| {
        let is = |place: usize, begin: &str| lines.get(place).is_some_and(|line| line.starts_with(begin));
        // A removed line may begin in the same way as a head.
        ["@@", "diff ", "*** "].iter().any(|begin| is(*place, begin))
            || (is(*place, "--- ") && is(place + 1, "+++ "))
    };
    &lines[..(0..lines.len()).find(is_head).unwrap_or(lines.len())]
}

/// Reads a hunk. Returns `None` if it only adds lines to a file that it does not begin anew.
fn hunk(path: &str, head: &str, is_new: bool, lines: &[&str]) -> Option<Change> {
    let is_new =
        is_new || head.split_whitespace().nth(1).is_some_and(|range| range == "-0,0" || range == "-0");
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for line in lines {
        match line.split_at_checked(1) {
            Some(("-", line)) => old.push(line),
            Some(("+", line)) => new.push(line),
            Some((" ", line)) => [&mut old, &mut new].into_iter().for_each(|side| side.push(line)),
            // Some programs write an empty line of both sides without its space.
            None => [&mut old, &mut new].into_iter().for_each(|side| side.push("")),
            // "\ No newline at end of file".
            Some(_) => {}
        }
    }
    let old = (!is_new).then(|| old.join("\n"));
    let is_addition = old.as_deref().is_some_and(str::is_empty);
    (!is_addition).then(|| Change { path: path.to_owned(), old, new: new.join("\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_says_what_it_replaces() {
        for (patch, expected) in [
            ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n a\n-b\n+c\n", &[("x", Some("a\nb"), "a\nc")][..]),
            ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+c\n", &[("x", None, "c")]),
            ("--- /dev/null\n+++ b/x\n@@ -1,0 +1 @@\n+c\n", &[("x", None, "c")]),
            ("--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+c\n", &[("x", None, "c")]),
            ("--- a/x\n+++ b/x\n@@ -5,0 +6 @@\n+c\n", &[]),
            (
                "diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+c\n",
                &[("x", None, "c")],
            ),
            (
                "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+c\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n--- d\n+e\n\\ No newline\n",
                &[("x", None, "c"), ("y", Some("-- d"), "e")],
            ),
            (
                "--- a/y\n+++ b/y\n@@ -1 +1 @@\n-d\n+e\n\n@@ -9 +9 @@\n-f\n",
                &[("y", Some("d\n"), "e\n"), ("y", Some("f"), "")],
            ),
            ("*** Begin Patch\n*** Add File: x\n+c\n*** End Patch\n", &[("x", None, "")]),
            ("@@ -1 +1 @@\n-a\n+b\n", &[("only", Some("a"), "b")]),
        ] {
            let locations = vec!["only".to_owned()];
            let subject = Subject { patch: Some(patch.to_owned()), locations, ..Subject::default() };
            let found = of_patch(&subject);
            let found: Vec<_> =
                found.iter().map(|it| (it.path.as_str(), it.old.as_deref(), it.new.as_str())).collect();
            assert_eq!(found, expected, "{patch}");
        }
    }
}
