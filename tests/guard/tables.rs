//! The tables of `fixtures/guard`: lines under headings that say what is expected of them.

use std::fs;

/// A table.
pub(crate) struct Table {
    /// What stands before the first heading, without comments.
    pub(crate) preamble: String,
    /// The lines under headings.
    pub(crate) cases: Vec<Case>,
}

/// A line of a table.
#[derive(Clone)]
pub(crate) struct Case {
    /// The file and the number of the line.
    pub(crate) place: String,
    /// What is expected: the heading up to its colon.
    pub(crate) expected: String,
    /// A part of the reason, behind the colon of the heading.
    pub(crate) reason: Option<String>,
    /// The line, with its marks replaced.
    pub(crate) line: String,
    /// Whether a comment before it says that people could expect something else.
    pub(crate) is_arguable: bool,
}

impl Table {
    pub(crate) fn read(name: &str) -> Self {
        let path = format!("{}/fixtures/guard/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut table = Table { preamble: String::new(), cases: Vec::new() };
        let mut heading = None;
        let mut is_arguable = false;
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with("## ") {
                is_arguable = if line.is_empty() { is_arguable } else { line.starts_with("## arguable") };
                continue;
            }
            if let Some(said) = line.strip_prefix("== ") {
                is_arguable = false;
                let (expected, reason) = match said.split_once(": ") {
                    Some((expected, reason)) => (expected, Some(reason.to_owned())),
                    None => (said, None),
                };
                heading = Some((expected.to_owned(), reason));
                continue;
            }
            let Some((expected, reason)) = heading.clone() else {
                table.preamble.push_str(line);
                table.preamble.push('\n');
                continue;
            };
            let place = format!("fixtures/guard/{name}:{}", number + 1);
            table.cases.push(Case { place, expected, reason, line: replaced(line), is_arguable });
        }
        assert!(!table.cases.is_empty(), "{path} has no case");
        table
    }
}

/// Returns a line with its marks replaced: `⏎` is a line break, and `\u{…}` a character by its number.
fn replaced(line: &str) -> String {
    let mut parts = line.split(r"\u{");
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) = part.split_once('}').unwrap_or_else(|| panic!("no end of \\u{{ in {line:?}"));
        let char = u32::from_str_radix(number, 16).ok().and_then(char::from_u32);
        replaced.push(char.unwrap_or_else(|| panic!("{number} is no character in {line:?}")));
        replaced.push_str(rest);
    }
    replaced.replace('⏎', "\n")
}

/// Says every case that does not hold, or nothing.
pub(crate) fn hold(wrong: &[String], count: usize) {
    assert!(wrong.is_empty(), "\n{} of {count} cases:\n{}\n", wrong.len(), wrong.join("\n"));
}
