//! Shortens the scripts and styles of the page for the way to the browser. The sources keep their comments, and no build
//! step is needed. `tests/tidy/web.rs` holds the rules that make this safe; which files it is for is left to `files`.

/// Returns a script or a style without comments that have lines of their own, blank lines and indentation.
pub(super) fn shorten(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut is_comment = false;
    for line in text.lines().map(str::trim) {
        is_comment |= line.starts_with("/*");
        if !is_comment && !line.is_empty() && !line.starts_with("//") {
            short.push_str(line);
            // Scripts rely on the ends of lines, too.
            short.push('\n');
        }
        is_comment &= !line.ends_with("*/");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_on_lines_of_their_own_blank_lines_and_indentation_are_left_out() {
        let script =
            "// A.\n\n/** B. @param {x} y */\n/**\n * C.\n */\nconst a = 1; // D\n  a();\n\t/* E */\n  b();";
        assert_eq!(shorten(script), "const a = 1; // D\na();\nb();\n");
    }

    #[test]
    fn what_looks_like_a_comment_within_a_line_stays() {
        let script = "a = \"http://x\";\nb = x /* y */ * z;\nc = /\\/*/;\n";
        assert_eq!(shorten(script), script);
    }
}
