//! Wraps text at the width of a terminal. What is printed to a pipe is given no width, and is not wrapped.

use crate::terminal::width;

/// The least width that is left for wrapped text: below that, it is not indented any further.
pub const LEAST: usize = 20;

/// Wraps a printable line at its spaces. The first line has so many columns taken already; those that follow are
/// indented by `hang`. A word that is longer than a line stays whole, so that it can be copied.
pub fn wrapped(line: &str, taken: usize, hang: usize, columns: usize) -> String {
    let (mut out, mut used, mut has_words) = (String::new(), taken, false);
    for word in line.split_inclusive(' ') {
        let columns_of_word = width(word.trim_end_matches(' '));
        if has_words && used + columns_of_word > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            used = hang;
        }
        has_words |= columns_of_word > 0;
        out.push_str(word);
        used += width(word);
    }
    out.truncate(out.trim_end_matches(' ').len());
    out
}

/// Wraps each line of a printable text, all of it indented by so much. A tab becomes spaces, whose width is known.
pub fn indented(text: &str, indent: usize, columns: usize) -> String {
    let lines = text.lines().map(|line| {
        let line = wrapped(&line.replace('\t', "    "), indent, indent, columns);
        if line.is_empty() { line } else { " ".repeat(indent) + &line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_hang() {
        for (line, taken, hang, columns, expected) in [
            ("one two three", 0, 0, 20, "one two three"),
            ("one two three", 0, 2, 8, "one two\n  three"),
            ("one two three", 4, 2, 8, "one\n  two\n  three"),
            ("     one two", 0, 2, 6, "     one\n  two"),
            ("one  two", 0, 0, 4, "one\ntwo"),
            ("averylongword x", 0, 2, 5, "averylongword\n  x"),
            ("認証 です", 0, 0, 5, "認証\nです"),
            ("one two", 0, 0, usize::MAX, "one two"),
            ("", 3, 3, 5, ""),
        ] {
            assert_eq!(wrapped(line, taken, hang, columns), expected, "{line} in {columns}");
        }
    }

    #[test]
    fn every_line_of_a_text_is_indented() {
        assert_eq!(indented("a b\n\n\tc", 2, 4), "  a\n  b\n\n      c");
    }
}
