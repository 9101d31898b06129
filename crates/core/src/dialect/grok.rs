//! Grok's dialect: choices by label, keyed by the text of the question.
//!
//! Source: the code of clients that support it. Member names differ between versions of Grok.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    agent_dialect::{AgentDialect, Rejection, ShownBy},
    values::{Entries, json, read_params},
};
use crate::{
    question::{Answer, Field, FieldOption, Kind, Origin, Preview, PreviewFormat, Question, Reason, Value},
    wire::{method::GROK_ASK_USER_QUESTION, scan},
};

/// The reply format of Grok's dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrokReply;

impl AgentDialect for GrokReply {
    const METHODS: &'static [&'static str] = &GROK_ASK_USER_QUESTION;
    const SHOWN_BY: Option<(&'static str, ShownBy)> = None;

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        Ok(Some((read(params, fallback_id)?, GrokReply)))
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&write_answer(question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&write_rejection(rejection.reason))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GrokParams {
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    #[serde(alias = "tool_call_id")]
    tool_call_id: Option<String>,
    questions: Vec<GrokQuestion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GrokQuestion {
    question: String,
    header: Option<String>,
    options: Option<Vec<GrokOption>>,
    #[serde(alias = "multi_select")]
    multi_select: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an option is a text or an object with a label")]
enum GrokOption {
    Label(String),
    Object { label: String, description: Option<String>, preview: Option<String> },
}

/// Reads the `params` of a request. Some versions wrap them in `{"method":…,"params":…}`.
fn read(params: &[u8], fallback_id: &str) -> Result<Question, String> {
    let params = match (scan::member(params, "questions"), scan::member(params, "params")) {
        (None, Some(inner)) => inner,
        _ => params,
    };
    let GrokParams { session_id, tool_call_id, questions } = read_params(params)?;
    // The reply is keyed by the question's text, so two questions with one text cannot be told apart.
    for (index, asking) in questions.iter().enumerate() {
        if questions[..index].iter().any(|other| other.question == asking.question) {
            return Err(format!("params.questions: {:?} is asked twice", asking.question));
        }
    }
    let fields = questions.into_iter().enumerate().map(|(index, asking)| asking.into_field(index));
    let question = Question::new(Origin::Grok, fallback_id, fields.collect());
    Ok(Question { session: session_id, tool_call: tool_call_id, ..question })
}

impl GrokQuestion {
    fn into_field(self, index: usize) -> Field {
        let options = self.options.unwrap_or_default().into_iter().map(GrokOption::into_option).collect();
        // Grok accepts any text in place of a label.
        let kind = Kind::choice(options, self.multi_select.unwrap_or(false), true);
        Field::at(index, self.question, self.header, kind)
    }
}

impl GrokOption {
    fn into_option(self) -> FieldOption {
        let (label, description, preview) = match self {
            GrokOption::Label(label) => (label, None, None),
            GrokOption::Object { label, description, preview } => (label, description, preview),
        };
        let preview = preview.map(|text| Preview { format: PreviewFormat::Markdown, text }.into());
        FieldOption { value: label.clone(), label, description, preview, ..FieldOption::default() }
    }
}

/// The `result` of a request. Grok refuses an empty object.
#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum GrokResult {
    /// The question is answered.
    Accepted {
        /// The chosen labels or the typed text, by the text of the question.
        answers: Entries<Vec<String>>,
        /// Notes beside the answers, by the text of the question.
        #[serde(skip_serializing_if = "Option::is_none")]
        annotations: Option<Entries<GrokAnnotation>>,
    },
    /// There will be no answer.
    Cancelled,
    /// The user wants the agent to continue without an answer.
    SkipInterview,
    /// The user wrote in the chat instead.
    ChatAboutThis,
}

/// A note on one question.
#[derive(Debug, Serialize)]
struct GrokAnnotation {
    notes: String,
}

fn write_answer(question: &Question, answer: &Answer) -> GrokResult {
    let answers = question.fields.iter().filter_map(|field| {
        let texts = match answer.values.get(&field.name)? {
            Value::Text(text) => vec![text.clone()],
            Value::Many(texts) => texts.clone(),
            Value::Flag(flag) => vec![flag.to_string()],
            Value::Number(number) => vec![number.to_string()],
            Value::Null => return None,
        };
        Some((field.label.clone(), texts))
    });
    let notes = question.fields.iter().filter_map(|field| {
        let notes = answer.notes.get(&field.name)?.clone();
        Some((field.label.clone(), GrokAnnotation { notes }))
    });
    let notes: Vec<_> = notes.collect();
    GrokResult::Accepted {
        answers: Entries(answers.collect()),
        annotations: (!notes.is_empty()).then_some(Entries(notes)),
    }
}

fn write_rejection(reason: Reason) -> GrokResult {
    match reason {
        Reason::User => GrokResult::SkipInterview,
        Reason::RepliedInChat => GrokResult::ChatAboutThis,
        _ => GrokResult::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(params: &str) -> Question {
        read(params.as_bytes(), "q").expect("a question")
    }

    #[test]
    fn every_spelling_is_read_as_the_same_question() {
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
    fn answer_is_keyed_by_question_text() {
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
            assert_eq!(serde_json::to_string(&write_answer(&question, &answer)).expect("JSON"), expected);
        }
    }

    #[test]
    fn only_the_user_skips_or_moves_to_the_chat() {
        for (reason, expected) in [
            (Reason::User, "skip_interview"),
            (Reason::RepliedInChat, "chat_about_this"),
            (Reason::Cancelled, "cancelled"),
            (Reason::Timeout, "cancelled"),
            (Reason::Shutdown, "cancelled"),
        ] {
            let written = serde_json::to_value(write_rejection(reason)).expect("JSON");
            assert_eq!(written, json!({ "outcome": expected }), "{reason:?}");
        }
    }
}
