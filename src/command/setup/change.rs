//! Shows a change of settings as a unified diff, asks whether to write it, and sums up what became of several.
//! Writing is left to `settings_file.rs`.

use std::{io, path::Path};

use anstyle::{AnsiColor, Style};
use askbridge_os::{
    exit,
    terminal::{printable, printable_line},
};
use similar::TextDiff;

use crate::command::{
    CommandError,
    confirm::confirm,
    runner::{print, say},
    screen::is_coloured,
};

/// Says something on stdout, in one line.
pub(super) fn tell(text: &str) -> io::Result<()> {
    print(&format!("{}\n", printable_line(text)))
}

/// Prints the change of a file as a unified diff.
pub(super) fn show(path: &Path, before: Option<&str>, after: Option<&str>) -> io::Result<()> {
    let path = path.display().to_string();
    let diff = unified(&printable_line(&path), before, after);
    let colour = is_coloured();
    let mut text = String::with_capacity(diff.len());
    for line in diff.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') if colour => AnsiColor::Green.on_default(),
            Some(b'-') if colour => AnsiColor::Red.on_default(),
            _ => Style::new(),
        };
        // Settings may have control characters in them. The carriage return of a CRLF file is not worth showing.
        let line = printable(line.trim_end_matches('\r'));
        text.push_str(&format!("{style}{line}{style:#}\n"));
    }
    print(&text)
}

/// Asks whether to write the change, unless `--yes` was given.
pub(super) fn agrees(yes: bool, question: &str) -> io::Result<bool> {
    Ok(yes || confirm(question, "nothing was written", "write it")?)
}

/// Prints the errors, and returns the highest exit code. An error at one file, editor or agent does not stop the next.
pub(super) fn worst(done: Vec<Result<u8, CommandError>>) -> u8 {
    let code = |done: Result<u8, CommandError>| {
        done.unwrap_or_else(|error| {
            say(&error.to_string());
            error.exit_code()
        })
    };
    done.into_iter().map(code).max().unwrap_or(exit::OK)
}

/// Returns the change as a unified diff, or an empty text without a change. A file that does not exist is `None`.
pub fn unified(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| if text.is_some() { path } else { "/dev/null" };
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    diff.unified_diff().header(name(before), name(after)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_the_lines_around_it() {
        let diff = unified("f", Some("a\nb\nc\n"), Some("a\nB\nc\n"));
        assert_eq!(diff, "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(unified("f", Some("a\n"), Some("a\n")), "");
        assert!(unified("f", None, Some("a\n")).starts_with("--- /dev/null\n+++ f\n"));
        assert!(unified("f", Some("a\n"), None).starts_with("--- f\n+++ /dev/null\n"));
    }
}
