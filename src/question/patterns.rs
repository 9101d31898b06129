//! The patterns of a question's fields, compiled once a question.

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use regex_lite::{Regex, RegexBuilder};

use super::{Kind, Question};
use crate::limits;

/// The compiled patterns of a question. They are compiled when the first answer is checked, and shared by all who
/// share the question. They are part of no comparison and of no copy: they follow from the fields.
#[derive(Default)]
pub struct Patterns(OnceLock<BTreeMap<String, Regex>>);

impl Patterns {
    /// Returns the compiled pattern of a field. `None` where it has none, or one that is left to the agent: it looks
    /// around, is malformed, or takes more than [`limits::PATTERN`] bytes.
    pub(super) fn of(&self, question: &Question, field: &str) -> Option<&Regex> {
        self.0.get_or_init(|| compile(question)).get(field)
    }
}

fn compile(question: &Question) -> BTreeMap<String, Regex> {
    let patterns = question.fields.iter().filter_map(|field| match &field.kind {
        Kind::Text { pattern: Some(pattern), .. } => Some((field.name.clone(), pattern)),
        _ => None,
    });
    let compiled = patterns.filter_map(|(name, pattern)| {
        Some((name, RegexBuilder::new(pattern).size_limit(limits::PATTERN).build().ok()?))
    });
    compiled.collect()
}

impl Clone for Patterns {
    /// Returns patterns that are compiled anew: the fields of the copy may be changed.
    fn clone(&self) -> Self {
        Patterns::default()
    }
}

impl PartialEq for Patterns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Patterns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Patterns")
    }
}
