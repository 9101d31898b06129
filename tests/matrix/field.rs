//! Fields and choices, independent of any dialect and of the bridge's own model.

/// The kind of value that a field takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Text { least: u32, most: u32 },
    One,
    Many { least: u32, most: u32 },
    Flag,
    Number { integer: bool, least: f64, most: f64 },
}

/// A text of any length.
pub(crate) const TEXT: Kind = Kind::Text { least: 0, most: u32::MAX };
/// Any number of choices.
pub(crate) const MANY: Kind = Kind::Many { least: 0, most: u32::MAX };

/// One field of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Field {
    pub(crate) key: String,
    pub(crate) text: String,
    pub(crate) kind: Kind,
    /// The value and the label of each option. Both are unique.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) required: bool,
    /// Whether a free text is accepted in place of an option, or beside multiple choices.
    pub(crate) typed: bool,
    /// Whether the agent can receive a note.
    pub(crate) noted: bool,
}

impl Field {
    pub(crate) fn new(key: &str, text: &str, kind: Kind, options: &[&str]) -> Self {
        let options = options.iter().map(|label| (label.to_lowercase(), (*label).to_owned()));
        Field {
            key: key.to_owned(),
            text: text.to_owned(),
            kind,
            options: options.collect(),
            required: true,
            typed: true,
            noted: true,
        }
    }

    /// Returns whether this is the value of an option.
    pub(crate) fn has(&self, value: &str) -> bool {
        self.options.iter().any(|(other, _)| other == value)
    }

    /// Returns whether a permission prompt can ask for this field.
    pub(crate) fn is_choice(&self) -> bool {
        match self.kind {
            Kind::One | Kind::Many { .. } => !self.options.is_empty(),
            Kind::Flag => true,
            Kind::Text { .. } | Kind::Number { .. } => false,
        }
    }
}

/// The answer to one field: the values of options, a typed text, `true` or `false`, or a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Given {
    pub(crate) said: Vec<String>,
    pub(crate) note: Option<String>,
}

impl Given {
    pub(crate) fn new(said: &[&str], note: Option<&str>) -> Self {
        Given { said: said.iter().map(|text| (*text).to_owned()).collect(), note: note.map(str::to_owned) }
    }

    /// Returns the text that was typed in place of an option.
    pub(crate) fn typed(&self, field: &Field) -> Option<&String> {
        self.said.iter().find(|text| !field.options.is_empty() && !field.has(text))
    }

    /// Returns the values of the chosen options.
    pub(crate) fn chosen<'a>(&'a self, field: &'a Field) -> impl Iterator<Item = &'a String> {
        self.said.iter().filter(|text| field.has(text))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.said.is_empty() && self.note.is_none()
    }
}

/// What the agent understands of a response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Heard {
    Given(Vec<Given>),
    /// The user does not want to answer.
    Declined,
    /// There will be no answer.
    Cancelled,
}
