//! The fields of the mock agent's questions and their choices, independent of the dialect.
//! How they are spelled on the wire is left to the dialects.

use crate::{MockDialect, behaviour::Shape};

/// The number of questions that `several` asks at once.
pub(crate) const SEVERAL: usize = 3;

/// One field of a question.
#[derive(Clone, Debug)]
pub(super) struct MockField {
    pub(super) id: &'static str,
    pub(super) header: &'static str,
    pub(super) question: String,
    /// Its choices; a field without choices asks for a text.
    pub(super) choices: &'static [MockChoice],
    pub(super) multiple: bool,
}

/// One choice of a field.
#[derive(Debug)]
pub(super) struct MockChoice {
    pub(super) value: &'static str,
    pub(super) label: &'static str,
}

impl MockField {
    /// Returns whether a choice has this value or label.
    pub(super) fn has(&self, name: &str) -> bool {
        self.choices.iter().any(|choice| choice.value == name || choice.label == name)
    }
}

const OPTIONS: [MockChoice; 2] = [
    MockChoice { value: "option-a", label: "Option A" },
    MockChoice { value: "option-b", label: "Option B" },
];
const ANSWERS: [MockChoice; 2] =
    [MockChoice { value: "yes", label: "Yes" }, MockChoice { value: "no", label: "No" }];
const DATABASES: [MockChoice; 2] =
    [MockChoice { value: "postgres", label: "Postgres" }, MockChoice { value: "sqlite", label: "SQLite" }];
const FEATURES: [MockChoice; 3] = [
    MockChoice { value: "auth", label: "Auth" },
    MockChoice { value: "search", label: "Search" },
    MockChoice { value: "billing", label: "Billing" },
];

/// Returns the fields of a question of this shape, as far as the dialect can express them, and at least one field.
pub(super) fn fields(shape: Shape, place: Option<usize>, dialect: MockDialect) -> Vec<MockField> {
    let support = dialect.spec().fields;
    let mut fields = match shape {
        Shape::Options => vec![options(place)],
        Shape::Confirm => vec![confirm()],
        Shape::Free => vec![branch()],
        Shape::Many => vec![features()],
        Shape::Fields => vec![database(), features(), notes()],
    };
    fields.retain(|field| support.text || !field.choices.is_empty());
    if fields.is_empty() {
        fields.push(options(place));
    }
    if !support.several {
        fields.truncate(1);
    }
    for field in &mut fields {
        field.multiple &= support.multiple;
    }
    fields
}

fn options(place: Option<usize>) -> MockField {
    let question = match place {
        Some(place) => format!("Choose one option ({place} of {SEVERAL})"),
        None => "Choose one option".to_owned(),
    };
    MockField { id: "choice", header: "Choice", question, choices: &OPTIONS, multiple: false }
}

fn confirm() -> MockField {
    let question = "Shall I go on?".to_owned();
    MockField { id: "confirm", header: "Confirm", question, choices: &ANSWERS, multiple: false }
}

fn branch() -> MockField {
    let question = "What should the branch be called?".to_owned();
    MockField { id: "branch", header: "Branch", question, choices: &[], multiple: false }
}

fn database() -> MockField {
    let question = "Which database should we use?".to_owned();
    MockField { id: "database", header: "Database", question, choices: &DATABASES, multiple: false }
}

fn features() -> MockField {
    let question = "Which features do you want?".to_owned();
    MockField { id: "features", header: "Features", question, choices: &FEATURES, multiple: true }
}

fn notes() -> MockField {
    let question = "Anything else?".to_owned();
    MockField { id: "notes", header: "Notes", question, choices: &[], multiple: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(shape: Shape, dialect: MockDialect) -> Vec<&'static str> {
        fields(shape, None, dialect).iter().map(|field| field.id).collect()
    }

    #[test]
    fn a_dialect_asks_only_the_fields_that_it_can_express() {
        assert_eq!(ids(Shape::Fields, MockDialect::Sandboxagent), ["database", "features", "notes"]);
        assert_eq!(
            ids(Shape::Fields, MockDialect::Claude),
            ["database", "features"],
            "Claude has no plain text"
        );
        assert_eq!(ids(Shape::Fields, MockDialect::Kiro), ["database"], "Kiro has one field only");
        assert_eq!(ids(Shape::Free, MockDialect::Kiro), ["branch"]);
        assert_eq!(ids(Shape::Free, MockDialect::Cursor), ["choice"], "Cursor falls back to a choice");
        assert!(!fields(Shape::Many, None, MockDialect::Codex)[0].multiple);
        assert!(fields(Shape::Many, None, MockDialect::Grok)[0].multiple);
    }

    #[test]
    fn every_dialect_asks_at_least_one_field_of_every_shape() {
        for dialect in MockDialect::ALL {
            for shape in [Shape::Options, Shape::Confirm, Shape::Free, Shape::Many, Shape::Fields] {
                assert!(!ids(shape, dialect).is_empty(), "{dialect:?} {shape:?}");
            }
        }
        let third = &fields(Shape::Options, Some(3), MockDialect::Claude)[0];
        assert_eq!(third.question, "Choose one option (3 of 3)");
    }
}
