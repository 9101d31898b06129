//! A word of a command after a shell has put it together, with marks where its text is not known.

use std::borrow::Cow;

/// Any text, which stays within its word.
pub(super) const ANY: char = '\u{1}';
/// Any text, which may be several words, or none.
pub(super) const MANY: char = '\u{2}';
/// A text that is no option and not empty: a number, or an absolute path.
pub(super) const TAME: char = '\u{3}';
/// The name of a file in the folder.
pub(super) const INSIDE: char = '\u{4}';
/// What stands in files of the project, which may be several words, or none.
pub(super) const OURS: char = '\u{5}';

/// The marks of texts that may be anything.
pub(super) const OPEN: [char; 3] = [ANY, MANY, OURS];
/// Those that may be several words.
const SPREAD: [char; 2] = [MANY, OURS];

/// A word. The marks cannot be a part of what an agent says: characters that cannot be seen are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Argument<'a> {
    pub text: Cow<'a, str>,
    /// Where the first pattern of file names is.
    pub pattern: Option<usize>,
}

impl<'a> Argument<'a> {
    /// Returns a word that is known whole.
    pub(super) fn known(text: &'a str) -> Self {
        Argument { text: Cow::Borrowed(text), pattern: None }
    }

    /// Returns whether a part of it is not known.
    pub(super) fn is_unknown(&self) -> bool {
        self.text.contains([ANY, MANY, TAME, INSIDE, OURS])
    }

    /// Returns whether it may turn out to be an option, though it does not look like one.
    pub(super) fn may_be_option(&self) -> bool {
        self.text.starts_with(ANY) || self.is_spread() || self.text.starts_with(['-', '+']) && self.has_any()
    }

    pub(super) fn has_any(&self) -> bool {
        self.text.contains(OPEN)
    }

    /// Returns whether it may turn out to be several words, or none.
    pub(super) fn is_spread(&self) -> bool {
        self.text.contains(SPREAD)
    }

    /// Returns whether what is not known of it stands in the project's own files.
    pub(super) fn is_ours(&self) -> bool {
        self.text.contains(OURS) && !self.text.contains([ANY, MANY])
    }

    /// Returns the text as people read it.
    pub(super) fn shown(&self) -> String {
        self.text.replace([ANY, MANY, TAME, INSIDE, OURS], "…")
    }
}

/// Returns whether a shell would take a word before the program for the assignment of a variable.
pub fn is_assignment(word: &str) -> bool {
    assigned(word).is_some()
}

/// Returns the name that a word assigns a value to.
fn assigned(word: &str) -> Option<&str> {
    let (name, _) = word.split_once('=')?;
    // `NAME+=value` appends to the variable.
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
    (!name.is_empty() && name.chars().all(is_name) && !name.starts_with(|char: char| char.is_ascii_digit()))
        .then_some(name)
}

/// Returns whether a word is meant by a pattern, in which `*` stands for any characters.
pub(super) fn is_like(word: &str, pattern: &str) -> bool {
    // Most patterns differ in their first character.
    let first = pattern.as_bytes().first();
    if first != Some(&b'*') && first != word.as_bytes().first() {
        return false;
    }
    let Some((begin, rest)) = pattern.split_once('*') else { return word == pattern };
    let Some(mut word) = word.strip_prefix(begin) else { return false };
    let (middle, end) = rest.rsplit_once('*').map_or(("", rest), |(middle, end)| (middle, end));
    for part in middle.split('*') {
        // The first place is as good as any.
        match word.find(part) {
            Some(at) => word = &word[at + part.len()..],
            None => return false,
        }
    }
    word.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_words() {
        for (pattern, word, is_meant) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "ab", true),
            ("a*", "ba", false),
            ("*a", "ba", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*:=*$*", "X:=$(x)", true),
            ("*:=*$*", "X=$(x)", false),
            ("*a*b*c", "xaybzc", true),
            ("*a*b*c", "xbyazc", false),
            ("ignore::*warning", "ignore::UserWarning", false),
        ] {
            assert_eq!(is_like(word, pattern), is_meant, "{pattern} {word}");
        }
    }
}
