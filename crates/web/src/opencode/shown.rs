//! The IDs under which opencode's API shows questions. A reply of its clients names a question, and not which of its texts
//! they saw, so the ID does: a question that has changed has another ID for each of its texts, `k3f9q2-1~2`. An answer
//! then counts only for the text that its client saw (I13), whatever other clients were shown.

use std::fmt;

use askbridge_core::desk::{QuestionId, Record};
use serde::{Serialize, Serializer};

/// The mark between the ID of a question and its edition, which no other ID has in it. No client has to encode it.
const MARK: char = '~';

/// The ID of one of the texts of a question. The first text has the ID of the question itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownId {
    pub(super) question: QuestionId,
    pub(super) edition: u32,
}

impl ShownId {
    pub(super) fn of(record: &Record) -> Self {
        ShownId { question: record.id.clone(), edition: record.edition }
    }
}

/// Splits an ID into the one of its question, and the edition that its client saw.
pub(super) fn read(id: &str) -> Option<(&str, u32)> {
    let Some((question, digits)) = id.rsplit_once(MARK) else { return Some((id, 0)) };
    let edition: u32 = digits.parse().ok()?;
    // Each text has one ID.
    (edition > 0 && edition.to_string() == digits).then_some((question, edition))
}

impl fmt::Display for ShownId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.edition {
            0 => write!(formatter, "{}", self.question),
            edition => write!(formatter, "{}{MARK}{edition}", self.question),
        }
    }
}

impl Serialize for ShownId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_id() {
        for (id, said) in [
            ("b-1", Some(("b-1", 0))),
            ("b-1~1", Some(("b-1", 1))),
            ("box/b-p2~12", Some(("box/b-p2", 12))),
            ("b-1~0", None),
            ("b-1~01", None),
            ("b-1~+1", None),
            ("b-1~", None),
            ("b-1~x", None),
            ("b-1~4294967296", None),
        ] {
            assert_eq!(read(id), said, "{id}");
            if let Some((question, edition)) = said {
                let shown = ShownId { question: question.parse().expect("an ID"), edition };
                assert_eq!(shown.to_string(), id);
            }
        }
    }
}
