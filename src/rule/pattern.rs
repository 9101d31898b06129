//! A text with wildcards, and a list of such texts.

use std::fmt;

use wildmatch::WildMatch;

/// A text in which `*` stands for any characters, also for none, and `?` for one. A `*` crosses a `/`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pattern {
    /// A text without wildcards, which is compared faster.
    Literal(String),
    Wild(WildMatch),
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        if has_wildcard(text) {
            Pattern::Wild(WildMatch::new(text))
        } else {
            Pattern::Literal(text.to_owned())
        }
    }

    /// Returns whether all of a text is matched.
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Literal(literal) => literal == text,
            Pattern::Wild(pattern) => pattern.matches(text),
        }
    }

    /// Returns whether it matches more than one text.
    pub(super) fn has_wildcard(&self) -> bool {
        matches!(self, Pattern::Wild(_))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Literal(text) => formatter.write_str(text),
            Pattern::Wild(pattern) => pattern.fmt(formatter),
        }
    }
}

/// Returns whether a text has a character that is a wildcard.
pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Several patterns, of which one has to match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AnyOf(Vec<Pattern>);

impl AnyOf {
    pub(super) fn new(texts: &[String]) -> Self {
        AnyOf(texts.iter().map(|text| Pattern::new(text)).collect())
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(text))
    }
}

impl fmt::Display for AnyOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patterns: Vec<_> = self.0.iter().map(|pattern| format!("\"{pattern}\"")).collect();
        formatter.write_str(&patterns.join(" or "))
    }
}
