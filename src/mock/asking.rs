//! What the mock agent asks, and how it says what it was told.
//! When it asks, and where it says so, is left to `turn.rs`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{behaviour::Shape, message::RpcError};

/// The method that it asks with.
pub(super) const METHOD: &str = "_sandboxagent/session/request_question";

/// How many questions `several` asks at once.
pub(super) const SEVERAL: usize = 3;

/// A question that was asked and is not answered yet.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) session: String,
    /// Unique in the process: `q-1`, `q-2` and so on.
    pub(super) id: String,
    pub(super) shape: Shape,
    /// Its place among those that were asked at once, from 1. None if it was asked alone.
    pub(super) place: Option<usize>,
}

/// The parameters of the request, in the order in which the extension writes them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked<'a> {
    session_id: &'a str,
    question_id: &'a str,
    #[serde(flatten)]
    form: Form,
}

/// The two shapes in which the extension says what is asked.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Form {
    /// One field. An option is its value and its label.
    Single { prompt: String, options: &'static [[&'static str; 2]] },
    /// Any number of fields. An option is its label.
    Fields { questions: &'static [Field] },
}

#[derive(Debug, Serialize)]
struct Field {
    question: &'static str,
    header: &'static str,
    options: &'static [Choice],
    multiple: bool,
}

#[derive(Debug, Serialize)]
struct Choice {
    label: &'static str,
    description: &'static str,
}

const OPTIONS: [[&str; 2]; 2] = [["option-a", "Option A"], ["option-b", "Option B"]];

const FIELDS: [Field; 3] = [
    Field {
        question: "Which database should we use?",
        header: "Database",
        options: &[
            Choice { label: "Postgres", description: "Relational, a server of its own" },
            Choice { label: "SQLite", description: "Embedded, one file" },
        ],
        multiple: false,
    },
    Field {
        question: "Which features do you want?",
        header: "Features",
        options: &[
            Choice { label: "Auth", description: "Login and sessions" },
            Choice { label: "Search", description: "Full text" },
            Choice { label: "Billing", description: "Invoices and payments" },
        ],
        multiple: true,
    },
    Field { question: "Anything else?", header: "Notes", options: &[], multiple: false },
];

impl Question {
    pub(super) fn params(&self) -> Asked<'_> {
        let form = match self.shape {
            Shape::Options => Form::Single { prompt: self.prompt(), options: &OPTIONS },
            Shape::Free => {
                Form::Single { prompt: "What should the branch be called?".to_owned(), options: &[] }
            }
            Shape::Many => Form::Fields { questions: &FIELDS[1..2] },
            Shape::Fields => Form::Fields { questions: &FIELDS },
        };
        Asked { session_id: &self.session, question_id: &self.id, form }
    }

    /// Says in a sentence what came back.
    pub(super) fn told(&self, outcome: Result<&RawValue, &RpcError>) -> String {
        let told = match outcome {
            Ok(result) => self.told_result(result.get()),
            Err(error) => format!("The question failed: {error}"),
        };
        match self.place {
            Some(_) => format!("[{}] {told}", self.id),
            None => told,
        }
    }

    fn told_result(&self, result: &str) -> String {
        match serde_json::from_str(result) {
            Ok(Told::Rejected { meta }) => {
                let reason = meta.pointer("/askbridge/reason").and_then(Value::as_str);
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                Some(format!("The question was rejected{reason}"))
            }
            Ok(Told::Answered { answers }) => self.told_answers(&answers),
            Err(_) => None,
        }
        .unwrap_or_else(|| format!("The answer was not understood: {result}"))
    }

    /// There must be as many answers as there are fields.
    fn told_answers(&self, answers: &[Vec<String>]) -> Option<String> {
        if self.shape == Shape::Fields {
            let fields = FIELDS.iter().zip(answers);
            let said: Vec<_> =
                fields.map(|(field, values)| format!("{}: {}", field.header, list(values))).collect();
            return (answers.len() == FIELDS.len()).then(|| format!("You answered: {}", said.join("; ")));
        }
        let [values] = answers else { return None };
        let verb = if self.shape == Shape::Free { "wrote" } else { "chose" };
        Some(format!("You {verb}: {}", list(values)))
    }

    fn prompt(&self) -> String {
        match self.place {
            Some(place) => format!("Choose one option ({place} of {SEVERAL})"),
            None => "Choose one option".to_owned(),
        }
    }
}

/// An answer in the one shape that the agent knows.
#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Told {
    Answered {
        answers: Vec<Vec<String>>,
    },
    Rejected {
        #[serde(rename = "_meta", default)]
        meta: Value,
    },
}

fn list(values: &[String]) -> String {
    if values.is_empty() { "nothing".to_owned() } else { values.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(shape: Shape) -> Question {
        Question { session: "session-1".to_owned(), id: "q-1".to_owned(), shape, place: None }
    }

    fn told(shape: Shape, result: &str) -> String {
        question(shape).told(Ok(&RawValue::from_string(result.to_owned()).unwrap()))
    }

    #[test]
    fn the_plain_question_has_the_canonical_shape() {
        let expected = r#"{"sessionId":"session-1","questionId":"q-1","prompt":"Choose one option","options":[["option-a","Option A"],["option-b","Option B"]]}"#;
        assert_eq!(serde_json::to_string(&question(Shape::Options).params()).unwrap(), expected);
    }

    #[test]
    fn an_answer_is_said_as_it_was_given() {
        for (shape, result, said) in [
            (Shape::Options, r#"{"status":"answered","answers":[["option-a"]]}"#, "You chose: option-a"),
            (Shape::Options, r#"{"status":"answered","answers":[[]]}"#, "You chose: nothing"),
            (
                Shape::Many,
                r#"{"answers":[["Auth","Search"]],"status":"answered"}"#,
                "You chose: Auth, Search",
            ),
            (Shape::Free, r#"{"status":"answered","answers":[["main"]],"_meta":{}}"#, "You wrote: main"),
            (
                Shape::Fields,
                r#"{"status":"answered","answers":[["SQLite"],["Auth"],[]]}"#,
                "You answered: Database: SQLite; Features: Auth; Notes: nothing",
            ),
        ] {
            assert_eq!(told(shape, result), said);
        }
    }

    #[test]
    fn a_rejection_is_said_with_its_reason() {
        assert_eq!(told(Shape::Options, r#"{"status":"rejected"}"#), "The question was rejected");
        let timeout = r#"{"status":"rejected","_meta":{"askbridge":{"reason":"timeout"}}}"#;
        assert_eq!(told(Shape::Many, timeout), "The question was rejected: timeout");
    }

    #[test]
    fn anything_else_was_not_understood() {
        for result in [
            "null",
            "{}",
            r#"{"status":"later"}"#,
            r#"{"status":"answered"}"#,
            r#"{"status":"answered","answers":["option-a"]}"#,
            r#"{"status":"answered","answers":[["a"],["b"]]}"#,
            r#"{"outcome":"answered","answers":[["a"]]}"#,
        ] {
            assert_eq!(told(Shape::Options, result), format!("The answer was not understood: {result}"));
        }
    }

    #[test]
    fn an_error_is_said_with_its_code_and_several_with_their_name() {
        let error = RpcError::new(-32601, "method not found");
        assert_eq!(
            question(Shape::Options).told(Err(&error)),
            "The question failed: -32601 method not found"
        );
        let third = Question { place: Some(3), ..question(Shape::Options) };
        assert_eq!(third.prompt(), "Choose one option (3 of 3)");
        assert_eq!(third.told(Err(&error)), "[q-1] The question failed: -32601 method not found");
    }
}
