//! A patch in the format of Git as code: the lines of each file have the colours of its language behind their signs.

use std::mem;

use super::parts::parts;
use crate::{limits, tree::CodePart};

/// Returns a patch as code. Where a patch names no file, and beside the lines of files, it is plain.
pub fn patch(text: &str) -> Vec<CodePart> {
    let mut patch = Patch { room: limits::PARTS, ..Patch::default() };
    text.split_inclusive('\n').for_each(|line| patch.take(line));
    patch.end_hunk();
    patch.out
}

/// A patch that is read line by line.
#[derive(Default)]
struct Patch<'a> {
    path: &'a str,
    /// The lines of a hunk so far.
    hunk: Vec<&'a str>,
    /// How many lines of the file before and after the patch are still to come in this hunk.
    left: [usize; 2],
    out: Vec<CodePart>,
    room: usize,
}

impl<'a> Patch<'a> {
    fn take(&mut self, line: &'a str) {
        let sides = match line.as_bytes().first() {
            Some(b'-') => [1, 0],
            Some(b'+') => [0, 1],
            Some(b' ' | b'\n' | b'\r') => [1, 1],
            // "\ No newline at end of file"
            Some(b'\\') => [0, 0],
            _ => [usize::MAX; 2],
        };
        let left = [self.left[0].checked_sub(sides[0]), self.left[1].checked_sub(sides[1])];
        if let ([Some(before), Some(after)], true) = (left, self.left != [0, 0]) {
            self.left = [before, after];
            return self.hunk.push(line);
        }
        self.end_hunk();
        if let Some(path) = line.strip_prefix("+++ ").or(line.strip_prefix("--- "))
            && path.trim_end() != "/dev/null"
        {
            self.path = path.trim_end();
        }
        self.left = line.strip_prefix("@@ ").and_then(sizes).unwrap_or_default();
        self.out.push(CodePart::Plain(line.to_owned()));
    }

    /// Colours a hunk: what it removes and what it adds are two texts.
    fn end_hunk(&mut self) {
        let hunk = mem::take(&mut self.hunk);
        let side = |without: char| -> String {
            let lines = hunk.iter().filter(|line| !line.starts_with([without, '\\']));
            lines.map(|line| line.strip_prefix(['-', '+', ' ']).unwrap_or(line)).collect()
        };
        let mut lines = ['+', '-'].map(|without| {
            let text = side(without);
            by_line(parts(self.path, text, &mut self.room)).into_iter()
        });
        for line in hunk {
            let sign = line.chars().next().filter(|c| matches!(c, '-' | '+' | ' '));
            self.out.extend(sign.map(|sign| CodePart::Plain(sign.into())));
            let coloured = match sign {
                None if line.starts_with('\\') => Some(vec![CodePart::Plain(line.to_owned())]),
                Some('-') => lines[0].next(),
                Some('+') => lines[1].next(),
                _ => lines[0].next().and(lines[1].next()),
            };
            self.out.extend(coloured.unwrap_or_default());
        }
    }
}

/// Returns how many lines a hunk has before and after: `-1,5 +1,7 @@ …`.
fn sizes(head: &str) -> Option<[usize; 2]> {
    let mut sides = head.split(' ');
    let mut size = |sign| {
        let side = sides.next()?.strip_prefix(sign)?;
        side.split_once(',').map_or(Some(1), |(_, size)| size.parse().ok())
    };
    Some([size('-')?, size('+')?])
}

/// Splits code behind its line breaks.
fn by_line(parts: Vec<CodePart>) -> Vec<Vec<CodePart>> {
    let mut lines = vec![Vec::new()];
    for part in parts {
        for text in part.text().split_inclusive('\n') {
            let piece = match part.role() {
                Some(role) => CodePart::Token { role, text: text.to_owned() },
                None => CodePart::Plain(text.to_owned()),
            };
            if let Some(line) = lines.last_mut() {
                line.push(piece);
            }
            if text.ends_with('\n') {
                lines.push(Vec::new());
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;

    fn drawn(text: &str) -> String {
        let part = |part: &CodePart| match part.role() {
            None => part.text().to_owned(),
            Some(role) => format!("⟨{role:?} {}⟩", part.text()),
        };
        patch(text).iter().map(part).collect()
    }

    #[test]
    fn the_lines_of_a_file_have_the_colours_of_its_language() {
        let text = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@ fn\n let a = /* b\n-- 1 */ 2;\n+- 3 */ 4;\n\n\\ No newline\n--- a/y.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-let b = 1;\n";
        let expected = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@ fn\n ⟨Keyword let⟩ a = ⟨Comment /* b\n⟩-⟨Comment - 1 */⟩ ⟨Number 2⟩;\n+⟨Comment - 3 */⟩ ⟨Number 4⟩;\n\n\\ No newline\n--- a/y.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-let b = 1;\n";
        assert_eq!(drawn(text), expected);
        // Without a file, or with sizes that lie, it is as it is written.
        for text in
            ["+a\n-b", "@@ -9,9 +9 @@\n+let a;\n+let b;\n x", "@@ -1 +99999999999999999999 @@\n+a", ""]
        {
            assert_eq!(drawn(text), text);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        #[test]
        fn the_parts_are_the_patch(lines in prop::collection::vec("([-+ \\\\]|@@ -[0-3],[0-3] \\+[0-3] @@|\\+\\+\\+ b/a\\.(rs|py)|)[-'\"/*# a1\r]{0,6}", 0..30), ends in any::<bool>()) {
            let text = lines.join("\n") + if ends { "\n" } else { "" };
            prop_assert_eq!(patch(&text).iter().map(CodePart::text).collect::<String>(), text);
        }
    }
}
