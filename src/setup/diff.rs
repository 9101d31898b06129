//! The change of a file as a unified diff.
//! Colours and printing are left to `command`.

use similar::TextDiff;

/// Returns the change as a unified diff, or an empty text if there is none. A file that does not exist is `None`.
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
