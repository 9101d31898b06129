//! Kiro's dialect, `_kiro/userInput`: one question, its options by their title, or any text.
//!
//! Source: notes on the types of Kiro's own client.

use serde::{Deserialize, Serialize};

use super::{asked::read_params, meta::Meta};
use crate::question::{Answer, Field, FieldOption, Kind, Origin, Outcome, Question, Reason, Value};

/// The request's method.
pub const METHOD: &str = "_kiro/userInput";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    question: String,
    options: Option<Vec<Choice>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an option is a text or an object with a title")]
enum Choice {
    Title(String),
    Object {
        title: String,
        description: Option<String>,
        #[serde(default)]
        recommended: Option<bool>,
    },
}

/// Reads the `params` of a request.
pub fn read(params: &[u8], made_up: &str) -> Result<Question, String> {
    let Params { session_id, tool_call_id, question, options } = read_params(params)?;
    let mut default = None;
    let options = options.unwrap_or_default().into_iter().map(|choice| {
        let (title, description, recommended) = match choice {
            Choice::Title(title) => (title, None, false),
            Choice::Object { title, description, recommended } => {
                (title, description, recommended == Some(true))
            }
        };
        if recommended {
            default.get_or_insert_with(|| title.clone());
        }
        FieldOption { value: title.clone(), label: title, description, preview: None }
    });
    let options: Vec<_> = options.collect();
    let kind =
        if options.is_empty() { Kind::free_text() } else { Kind::Choice { options, other: true, default } };
    let fields = vec![Field::at(0, question, None, kind)];
    let question = Question::new(Origin::Kiro, made_up, fields);
    Ok(Question { session: session_id, tool_call: tool_call_id, ..question })
}

/// The `result` of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Response {
    /// Somebody answered.
    Answered {
        /// The title of the option, or what was typed.
        answer: String,
        /// What was remarked, which the dialect has no place for.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<Meta>,
    },
    /// Nobody will answer.
    Dismissed,
}

/// Says an answer.
pub fn answered(question: &Question, answer: &Answer) -> Response {
    let Some(field) = question.fields.first() else { return Response::Dismissed };
    match answer.values.get(&field.name) {
        Some(Value::Text(text)) => {
            Response::Answered { answer: text.clone(), meta: Meta::of_notes(question, answer, |_| true) }
        }
        _ => Response::Dismissed,
    }
}

/// Says a rejection: there is only one.
pub fn rejected() -> Response {
    Response::Dismissed
}

/// Reads what a client said that knows this dialect.
pub fn reply(question: &Question, result: &[u8]) -> Option<Outcome> {
    match result.starts_with(b"{").then(|| serde_json::from_slice(result).ok()).flatten()? {
        Response::Answered { answer, .. } => {
            let name = question.fields.first()?.name.clone();
            let values = [(name, Value::Text(answer))].into();
            Some(Outcome::Answered(Answer { values, ..Answer::default() }))
        }
        Response::Dismissed => Some(Outcome::Rejected(Reason::User)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(options: &str) -> Question {
        let params = format!(r#"{{"sessionId":"s","toolCallId":"t","question":"Which?"{options}}}"#);
        read(params.as_bytes(), "made-up").expect("a question")
    }

    #[test]
    fn the_first_recommended_option_is_the_default() {
        let kind = |options: &str| asked(options).fields.remove(0).kind;
        for (options, expected) in [
            (r#","options":["A","B"]"#, None),
            (
                r#","options":["A",{"title":"B","recommended":true},{"title":"C","recommended":true}]"#,
                Some("B"),
            ),
            (r#","options":[{"title":"A","recommended":null},{"title":"B","recommended":false}]"#, None),
        ] {
            let Kind::Choice { default, other: true, .. } = kind(options) else {
                panic!("no choice: {options}")
            };
            assert_eq!(default.as_deref(), expected, "{options}");
        }
        for options in ["", r#","options":null"#, r#","options":[]"#] {
            assert!(matches!(kind(options), Kind::Text { .. }), "{options}");
        }
    }

    #[test]
    fn an_answer_is_one_text() {
        let question = asked(r#","options":["A"]"#);
        for (answer, expected) in
            [(json!({ "values": { "q0": "A" } }), "A"), (json!({ "values": { "q0": "x" } }), "x")]
        {
            let answer = serde_json::from_value(answer).expect("an answer");
            let written = serde_json::to_value(answered(&question, &answer)).expect("JSON");
            assert_eq!(written, json!({ "action": "answered", "answer": expected }));
        }
        // A remark never changes what was chosen.
        let noted = serde_json::from_value(json!({ "values": { "q0": "A" }, "notes": { "q0": "y" } }));
        let written = serde_json::to_value(answered(&question, &noted.expect("an answer"))).expect("JSON");
        let meta = json!({ "askbridge": { "notes": { "0": "y" } } });
        assert_eq!(written, json!({ "action": "answered", "answer": "A", "_meta": meta }));
    }

    #[test]
    fn what_its_own_client_says_is_read() {
        let question = asked("");
        let read = |result: &str| reply(&question, result.as_bytes());
        let answer = serde_json::from_value(json!({ "values": { "q0": "x" } })).expect("an answer");
        assert_eq!(read(r#"{"action":"answered","answer":"x"}"#), Some(Outcome::Answered(answer)));
        assert_eq!(read(r#"{"action":"dismissed"}"#), Some(Outcome::Rejected(Reason::User)));
        for other in ["null", "{}", r#"{"action":"answered"}"#, r#"{"action":"accept"}"#] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
