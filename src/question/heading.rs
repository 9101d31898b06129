//! What a question asks, in one text: as a whole, or on one line.

use std::borrow::Cow;

use super::Question;

/// Headings that say nothing of what is asked: those that agents write over every form, and our own. Which agent writes
/// which is in `fixtures/live` and `src/mock/requests`.
const FORMULAS: [&str; 4] = [
    "Please answer the following questions.",
    "Codex needs your input to continue.",
    "Codex keeps working while you answer. An answer sent after it finishes is not delivered.",
    UNTITLED,
];

/// The heading of a form of several fields that has none.
const UNTITLED: &str = "Please answer these questions.";

impl Question {
    /// Returns what is asked by the form as a whole; never empty.
    pub fn heading(&self) -> &str {
        match (&*self.message, &self.title, &*self.fields) {
            ("", Some(title), _) if !title.is_empty() => title,
            ("", _, [field]) => &field.label,
            ("", _, _) => UNTITLED,
            (message, _, _) => message,
        }
    }

    /// Returns the question itself on one line, without what an agent writes over every form: the heading, or where
    /// that is a formula, the label of the first field. Of several fields it says how many more there are.
    pub fn headline(&self) -> Cow<'_, str> {
        let heading = self.heading();
        let Some(first) = self.fields.first().filter(|_| FORMULAS.contains(&heading)) else {
            return heading.into();
        };
        match self.fields.len() - 1 {
            0 => (&*first.label).into(),
            more => format!("{} (and {more} more)", first.label).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::question::Origin;

    fn headline(message: &str, labels: &[&str]) -> String {
        let field = |(name, label): (usize, &&str)| json!({ "name": name.to_string(), "label": label, "kind": "boolean" });
        let fields: Value = labels.iter().enumerate().map(field).collect();
        let fields = serde_json::from_value(fields).expect("fields");
        let question =
            Question { message: message.to_owned(), ..Question::new(Origin::Elicitation, "q", fields) };
        question.headline().into_owned()
    }

    #[test]
    fn the_headline_is_the_first_label_where_the_heading_is_a_formula() {
        assert_eq!(headline("Which one?", &["Database"]), "Which one?");
        assert_eq!(headline("", &["Which one?"]), "Which one?");
        assert_eq!(headline("Codex needs your input to continue.", &["Which one?"]), "Which one?");
        assert_eq!(
            headline("Please answer the following questions.", &["A?", "B?", "C?"]),
            "A? (and 2 more)"
        );
        assert_eq!(headline("", &["A?", "B?"]), "A? (and 1 more)");
    }
}
