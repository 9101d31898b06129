//! Words that a person types in place of a value in plain lines, such as `/skip`.
//! What they lead to is left to `dialogue.rs`.

/// What a person may type in place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// Says what may be typed.
    Help,
    /// Rejects the question.
    Skip,
    /// Goes back to the field before.
    Back,
    /// Asks for more time.
    More,
    /// Leaves the question open.
    Quit,
    /// Leaves the field out.
    None,
    /// Adds a note to the field.
    Note(&'a str),
    /// Sends a text as it is.
    Text(&'a str),
}

/// Reads a line as a word that stands for no value.
pub(super) fn word(line: &str) -> Option<Word<'_>> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Some(match (first, rest) {
        ("?" | "/help", "") => Word::Help,
        ("/skip", "") => Word::Skip,
        ("/back", "") => Word::Back,
        ("/more", "") => Word::More,
        ("/quit", "") => Word::Quit,
        ("/none", "") => Word::None,
        ("/note", note) => Word::Note(note),
        ("/text", text) if !text.is_empty() => Word::Text(text),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_themselves_are_words() {
        for (line, expected) in [
            (" ? ", Some(Word::Help)),
            ("/quit", Some(Word::Quit)),
            ("/note a b", Some(Word::Note("a b"))),
            ("/note", Some(Word::Note(""))),
            ("/text /skip", Some(Word::Text("/skip"))),
            ("/text", None),
            ("/etc/hosts", None),
            ("/skip it", None),
            ("? why", None),
            ("", None),
        ] {
            assert_eq!(word(line), expected, "{line}");
        }
    }
}
