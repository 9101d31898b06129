//! The patterns of a question's fields, compiled once a question.

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use regex_lite::{Regex, RegexBuilder};

use crate::limits;

/// The compiled patterns of a question. They are compiled when the first answer is checked, and shared with the
/// question. They are part of no comparison and of no copy: they follow from the fields.
#[derive(Default)]
pub struct Patterns(OnceLock<BTreeMap<String, Regex>>);

impl Patterns {
    /// Returns the compiled pattern of a field. `all` returns the names of the fields that have one, and the patterns;
    /// it is called once. Returns `None` where the field has no pattern, or one that is left to the agent: it looks
    /// around, is malformed, or takes more than [`limits::PATTERN`] bytes.
    pub(super) fn of<'a>(
        &self,
        field: &str,
        all: impl FnOnce() -> Vec<(&'a str, &'a str)>,
    ) -> Option<&Regex> {
        self.0.get_or_init(|| compile_patterns(&all())).get(field)
    }
}

fn compile_patterns(patterns: &[(&str, &str)]) -> BTreeMap<String, Regex> {
    let compiled = patterns.iter().filter_map(|(name, pattern)| {
        let compiled = RegexBuilder::new(pattern).size_limit(limits::PATTERN).build().ok()?;
        Some(((*name).to_owned(), compiled))
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
