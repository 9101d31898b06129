//! What the mock agent asks, before any dialect says it: its fields, and their choices.
//! How they are spelled on the wire is left to the dialects.

use crate::{cli::Dialect, mock::behaviour::Shape};

/// How many questions `several` asks at once.
pub(in crate::mock) const SEVERAL: usize = 3;

/// One thing that is asked.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) id: &'static str,
    pub(super) header: &'static str,
    pub(super) question: String,
    /// Without choices, it asks for a text.
    pub(super) choices: &'static [Choice],
    pub(super) multiple: bool,
}

/// One choice of a field. Most dialects have only labels.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) label: &'static str,
    pub(super) description: &'static str,
}

impl Field {
    /// Whether this is a choice, by its value or its label.
    pub(super) fn has(&self, name: &str) -> bool {
        self.choices.iter().any(|choice| choice.value == name || choice.label == name)
    }
}

const OPTIONS: [Choice; 2] = [
    Choice { value: "option-a", label: "Option A", description: "The first" },
    Choice { value: "option-b", label: "Option B", description: "The second" },
];
const ANSWERS: [Choice; 2] = [
    Choice { value: "yes", label: "Yes", description: "Go on" },
    Choice { value: "no", label: "No", description: "Stop here" },
];
const DATABASES: [Choice; 2] = [
    Choice { value: "postgres", label: "Postgres", description: "Relational, a server of its own" },
    Choice { value: "sqlite", label: "SQLite", description: "Embedded, one file" },
];
const FEATURES: [Choice; 3] = [
    Choice { value: "auth", label: "Auth", description: "Login and sessions" },
    Choice { value: "search", label: "Search", description: "Full text" },
    Choice { value: "billing", label: "Billing", description: "Invoices and payments" },
];

/// What a dialect can ask for.
struct Reach {
    /// A text without choices.
    text: bool,
    /// Several choices of one field.
    multiple: bool,
    /// Several fields in one question.
    fields: bool,
}

fn reach(dialect: Dialect) -> Reach {
    let (text, multiple, fields) = match dialect {
        Dialect::Sandboxagent | Dialect::Devin | Dialect::Form | Dialect::Historic => (true, true, true),
        Dialect::Claude
        | Dialect::Kimi
        | Dialect::OhMyPi
        | Dialect::Qwen
        | Dialect::Cursor
        | Dialect::Grok => (false, true, true),
        Dialect::Codex | Dialect::CodexAsync => (false, false, true),
        Dialect::KimiPermission | Dialect::Pi => (false, false, false),
        Dialect::Kiro => (true, false, false),
    };
    Reach { text, multiple, fields }
}

/// The fields of a question of this shape, as far as the dialect can ask them; at least one.
pub(super) fn fields(shape: Shape, place: Option<usize>, dialect: Dialect) -> Vec<Field> {
    let reach = reach(dialect);
    let mut fields = match shape {
        Shape::Options => vec![options(place)],
        Shape::Confirm => vec![confirm()],
        Shape::Free => vec![branch()],
        Shape::Many => vec![features()],
        Shape::Fields => vec![database(), features(), notes()],
    };
    fields.retain(|field| reach.text || !field.choices.is_empty());
    if fields.is_empty() {
        fields.push(options(place));
    }
    if !reach.fields {
        fields.truncate(1);
    }
    for field in &mut fields {
        field.multiple &= reach.multiple;
    }
    fields
}

fn options(place: Option<usize>) -> Field {
    let question = match place {
        Some(place) => format!("Choose one option ({place} of {SEVERAL})"),
        None => "Choose one option".to_owned(),
    };
    Field { id: "choice", header: "Choice", question, choices: &OPTIONS, multiple: false }
}

fn confirm() -> Field {
    let question = "Shall I go on?".to_owned();
    Field { id: "confirm", header: "Confirm", question, choices: &ANSWERS, multiple: false }
}

fn branch() -> Field {
    let question = "What should the branch be called?".to_owned();
    Field { id: "branch", header: "Branch", question, choices: &[], multiple: false }
}

fn database() -> Field {
    let question = "Which database should we use?".to_owned();
    Field { id: "database", header: "Database", question, choices: &DATABASES, multiple: false }
}

fn features() -> Field {
    let question = "Which features do you want?".to_owned();
    Field { id: "features", header: "Features", question, choices: &FEATURES, multiple: true }
}

fn notes() -> Field {
    let question = "Anything else?".to_owned();
    Field { id: "notes", header: "Notes", question, choices: &[], multiple: false }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    fn ids(shape: Shape, dialect: Dialect) -> Vec<&'static str> {
        fields(shape, None, dialect).iter().map(|field| field.id).collect()
    }

    #[test]
    fn a_dialect_asks_what_it_can() {
        assert_eq!(ids(Shape::Fields, Dialect::Sandboxagent), ["database", "features", "notes"]);
        assert_eq!(ids(Shape::Fields, Dialect::Claude), ["database", "features"], "it has no plain text");
        assert_eq!(ids(Shape::Fields, Dialect::Kiro), ["database"], "it has one field only");
        assert_eq!(ids(Shape::Free, Dialect::Kiro), ["branch"]);
        assert_eq!(ids(Shape::Free, Dialect::Cursor), ["choice"], "it asks something at least");
        assert!(!fields(Shape::Many, None, Dialect::Codex)[0].multiple);
        assert!(fields(Shape::Many, None, Dialect::Grok)[0].multiple);
    }

    #[test]
    fn every_dialect_asks_something_and_several_say_which() {
        for dialect in Dialect::value_variants() {
            for shape in [Shape::Options, Shape::Confirm, Shape::Free, Shape::Many, Shape::Fields] {
                assert!(!ids(shape, *dialect).is_empty(), "{dialect:?} {shape:?}");
            }
        }
        let third = &fields(Shape::Options, Some(3), Dialect::Claude)[0];
        assert_eq!(third.question, "Choose one option (3 of 3)");
    }
}
