//! The changes of files as one text in the unified format, which opencode's clients show in colour.

use std::fmt::Write;

use crate::question::Diff;

/// Returns the changes as one text.
pub(super) fn unified(diffs: &[Diff]) -> String {
    let mut text = String::new();
    for diff in diffs {
        // Writing to a text does not fail.
        write_diff(&mut text, diff).unwrap_or_default();
    }
    text
}

fn write_diff(text: &mut String, diff: &Diff) -> std::fmt::Result {
    let old: Vec<_> = diff.old.iter().flat_map(|old| old.split_inclusive('\n')).collect();
    let new: Vec<_> = diff.new.split_inclusive('\n').collect();
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let ends = old[before..].iter().rev().zip(new[before..].iter().rev());
    let after = ends.take_while(|(old, new)| old == new).count();

    // A path with a line break would otherwise write lines of its own into the text.
    let path = diff.path.replace(char::is_control, "\u{fffd}");
    writeln!(text, "--- {}\n+++ {path}", if diff.old.is_some() { &path } else { "/dev/null" })?;
    // A side without lines is said to stand before the first one.
    let place = |lines: &[&str]| if lines.is_empty() { 0 } else { diff.line };
    writeln!(text, "@@ -{},{} +{},{} @@", place(&old), old.len(), place(&new), new.len())?;
    write_lines(text, ' ', &old[..before]);
    write_lines(text, '-', &old[before..old.len() - after]);
    write_lines(text, '+', &new[before..new.len() - after]);
    write_lines(text, ' ', &old[old.len() - after..]);
    Ok(())
}

fn write_lines(text: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_written_in_the_unified_format() {
        let old: String = (1..=9).map(|line| format!("{line}\n")).collect();
        let new = old.replace("5\n", "five\nand more\n");
        let expected = "--- /a\n+++ /a\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and more\n 6\n 7\n 8\n";
        assert_eq!(unified(&[Diff::new("/a", Some(&old), &new)]), expected);
    }

    #[test]
    fn odd_changes_are_written_in_the_unified_format() {
        for (path, old, new, expected) in [
            ("a", None, "x\n", "--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x\n"),
            ("a", Some("x"), "", "--- a\n+++ a\n@@ -1,1 +0,0 @@\n-x\n\\ No newline at end of file\n"),
            ("a", Some("x"), "x\n", "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n"),
            ("a", Some("x\n"), "x\n", "--- a\n+++ a\n@@ -1,1 +1,1 @@\n x\n"),
            ("a", Some("x\nx\n"), "x\n", "--- a\n+++ a\n@@ -1,2 +1,1 @@\n x\n-x\n"),
            ("a\n+++ b\u{1b}", None, "", "--- /dev/null\n+++ a\u{fffd}+++ b\u{fffd}\n@@ -0,0 +0,0 @@\n"),
        ] {
            assert_eq!(unified(&[Diff::new(path, old, new)]), expected);
        }
    }
}
