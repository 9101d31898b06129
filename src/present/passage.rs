//! The parts of a question that a person may comment: blocks of Markdown, rows of a table, lines of a change. A line of a
//! terminal knows the part that it belongs to. Pure. How a comment goes to the agent is left to `question::comments`.

use std::sync::Arc;

use askbridge_core::question::Comment;

use super::styled::StyledLine;

/// What of a part stands in front of its comment: its first lines, and so many characters. The page shows the same.
const QUOTED: (usize, usize) = (3, 240);
/// Characters of the heading above a part.
const HEADING: usize = 80;

/// A part of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// What tells it from the others of its question: the name of the text, and the line in it.
    pub at: String,
    /// The file and the line, of a change. The heading above it, of a text: a plan has equal lines below several.
    pub place: Option<String>,
    /// Its beginning.
    pub quote: String,
}

impl Passage {
    /// Returns the part that begins on this line of a text.
    pub fn new(name: &str, line: usize, text: &str) -> Self {
        Passage { at: format!("{name}:{line}"), place: None, quote: quote(text) }
    }

    /// Returns it below this heading, if there is one.
    pub fn below(self, heading: Option<&str>) -> Self {
        Passage { place: heading.map(|heading| cut(heading.trim(), HEADING)), ..self }
    }

    /// Returns a comment on it.
    pub fn comment(&self, text: &str) -> Comment {
        let mut comment = Comment::default();
        comment.place.clone_from(&self.place);
        comment.quote.clone_from(&self.quote);
        text.clone_into(&mut comment.text);
        comment
    }
}

fn quote(text: &str) -> String {
    let (most, characters) = QUOTED;
    let lines: Vec<_> = text.trim().lines().collect();
    let more = (lines.len() > most).then_some("…");
    cut(&lines.into_iter().take(most).chain(more).collect::<Vec<_>>().join("\n"), characters)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// A line of a terminal, and the part of the question that it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedLine {
    /// The line.
    pub line: StyledLine,
    /// The part.
    pub of: Option<Arc<Passage>>,
}

impl From<StyledLine> for PlacedLine {
    fn from(line: StyledLine) -> Self {
        PlacedLine { line, of: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_short() {
        for (text, expected) in [
            ("", String::new()),
            (" a\nb\n", "a\nb".to_owned()),
            ("a\nb\nc\n", "a\nb\nc".to_owned()),
            ("a\nb\nc\nd", "a\nb\nc\n…".to_owned()),
            (&"é".repeat(240), "é".repeat(240)),
            (&"é".repeat(241), "é".repeat(239) + "…"),
        ] {
            assert_eq!(quote(text), expected);
        }
    }
}
