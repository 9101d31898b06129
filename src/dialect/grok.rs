//! Grok's dialect, `_x.ai/ask_user_question`: choices by label, keyed by the text of the question.
//!
//! Source: the code of clients that take it. Its spellings differ from version to version.

use serde::{Deserialize, Serialize};

use super::{asked::read_params, entries::Entries};
use crate::{
    question::{Answer, Field, FieldOption, Kind, Origin, Preview, PreviewFormat, Question, Reason, Value},
    wire::scan,
};

/// The request's method, as it was seen.
pub const METHODS: [&str; 2] = ["_x.ai/ask_user_question", "x.ai/ask_user_question"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    #[serde(alias = "tool_call_id")]
    tool_call_id: Option<String>,
    questions: Vec<Asking>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asking {
    question: String,
    header: Option<String>,
    options: Option<Vec<Choice>>,
    #[serde(alias = "multi_select")]
    multi_select: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an option is a text or an object with a label")]
enum Choice {
    Label(String),
    Object { label: String, description: Option<String>, preview: Option<String> },
}

/// Reads the `params` of a request, which may stand one level deeper, beside the method.
pub fn read(params: &[u8], made_up: &str) -> Result<Question, String> {
    let params = match (scan::member(params, "questions"), scan::member(params, "params")) {
        (None, Some(inner)) => inner,
        _ => params,
    };
    let Params { session_id, tool_call_id, questions } = read_params(params)?;
    // The answers are keyed by the text alone.
    for (index, asking) in questions.iter().enumerate() {
        if questions[..index].iter().any(|other| other.question == asking.question) {
            return Err(format!("params.questions: {:?} is asked twice", asking.question));
        }
    }
    let fields = questions.into_iter().enumerate().map(|(index, asking)| asking.into_field(index));
    let question = Question::new(Origin::Grok, made_up, fields.collect());
    Ok(Question { session: session_id, tool_call: tool_call_id, ..question })
}

impl Asking {
    fn into_field(self, index: usize) -> Field {
        let options = self.options.unwrap_or_default().into_iter().map(Choice::into_option).collect();
        // A text in the place of a label is an answer as well.
        let kind = Kind::choice(options, self.multi_select.unwrap_or(false), true);
        Field::at(index, self.question, self.header, kind)
    }
}

impl Choice {
    fn into_option(self) -> FieldOption {
        let (label, description, preview) = match self {
            Choice::Label(label) => (label, None, None),
            Choice::Object { label, description, preview } => (label, description, preview),
        };
        let preview = preview.map(|text| Preview { format: PreviewFormat::Markdown, text });
        FieldOption { value: label.clone(), label, description, preview }
    }
}

/// The `result` of a request. An empty object is refused by the agent.
#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Response {
    /// Somebody answered.
    Accepted {
        /// By the text of the question, the labels that were chosen, or what was typed.
        answers: Entries<Vec<String>>,
        /// By the text of the question, what was remarked.
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Entries<Annotation>>,
    },
    /// Nobody will answer.
    Cancelled,
    /// The person wants the agent to go on without an answer.
    SkipInterview,
    /// The person wrote in the chat instead.
    ChatAboutThis,
}

/// What was remarked on one question.
#[derive(Debug, Serialize)]
pub struct Annotation {
    notes: String,
}

/// Says an answer.
pub fn answered(question: &Question, answer: &Answer) -> Response {
    let answers = question.fields.iter().filter_map(|field| {
        let texts = match answer.values.get(&field.name)? {
            Value::Text(text) => vec![text.clone()],
            Value::Many(texts) => texts.clone(),
            Value::Flag(flag) => vec![flag.to_string()],
            Value::Number(number) => vec![number.to_string()],
        };
        Some((field.label.clone(), texts))
    });
    let notes = question.fields.iter().filter_map(|field| {
        let notes = answer.notes.get(&field.name)?.clone();
        Some((field.label.clone(), Annotation { notes }))
    });
    let notes: Vec<_> = notes.collect();
    Response::Accepted {
        answers: Entries(answers.collect()),
        annotations: (!notes.is_empty()).then_some(Entries(notes)),
    }
}

/// Says a rejection, and who gave up.
pub fn rejected(reason: Reason) -> Response {
    match reason {
        Reason::User => Response::SkipInterview,
        Reason::RepliedInChat => Response::ChatAboutThis,
        _ => Response::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(params: &str) -> Question {
        read(params.as_bytes(), "made-up").expect("a question")
    }

    #[test]
    fn every_spelling_is_the_same_question() {
        let questions = r#""questions":[{"question":"Which?","options":[{"label":"A"}],"multiSelect":true}]"#;
        let plain = asked(&format!(r#"{{"sessionId":"s","toolCallId":"t",{questions}}}"#));
        let snake = questions.replace("multiSelect", "multi_select");
        assert_eq!(asked(&format!(r#"{{"session_id":"s","tool_call_id":"t",{snake}}}"#)), plain);
        let wrapped =
            format!(r#"{{"method":"m","params":{{"sessionId":"s","toolCallId":"t",{questions}}}}}"#);
        assert_eq!(asked(&wrapped), plain);
        assert_eq!(asked(&format!(r#"{{"sessionId":"s","toolCallId":"t","params":5,{questions}}}"#)), plain);
        let text = questions.replace(r#"{"label":"A"}"#, r#""A""#);
        assert_eq!(asked(&format!(r#"{{"sessionId":"s","toolCallId":"t",{text}}}"#)), plain);
    }

    #[test]
    fn answers_are_lists_by_the_text_of_the_question() {
        let question = asked(
            r#"{"questions":[{"question":"Which?","options":[{"label":"A"}]},
                {"question":"Which ones?","options":[{"label":"A"}],"multiSelect":true},{"question":"Why?"}]}"#,
        );
        for (answer, expected) in [
            (
                json!({ "values": { "q0": "A", "q1": ["A", "x"], "q2": "so" } }),
                r#"{"outcome":"accepted","answers":{"Which?":["A"],"Which ones?":["A","x"],"Why?":["so"]}}"#,
            ),
            (
                json!({ "values": { "q0": "A" }, "notes": { "q2": "later" } }),
                r#"{"outcome":"accepted","answers":{"Which?":["A"]},"annotations":{"Why?":{"notes":"later"}}}"#,
            ),
        ] {
            let answer = serde_json::from_value(answer).expect("an answer");
            assert_eq!(serde_json::to_string(&answered(&question, &answer)).expect("JSON"), expected);
        }
    }

    #[test]
    fn only_a_person_skips_or_goes_to_the_chat() {
        for (reason, expected) in [
            (Reason::User, "skip_interview"),
            (Reason::RepliedInChat, "chat_about_this"),
            (Reason::Cancelled, "cancelled"),
            (Reason::Timeout, "cancelled"),
            (Reason::Shutdown, "cancelled"),
        ] {
            let written = serde_json::to_value(rejected(reason)).expect("JSON");
            assert_eq!(written, json!({ "outcome": expected }), "{reason:?}");
        }
    }
}
