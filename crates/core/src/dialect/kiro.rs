//! Kiro's dialect: one question, answered with the title of an option or with any text.
//!
//! Source: notes on the types of Kiro's own client.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    agent_dialect::{AgentDialect, Rejection, Reply, ReplyMeta, ShownBy},
    values::{json, read_params},
};
use crate::{
    question::{Answer, Field, FieldOption, Kind, Origin, Outcome, Question, Reason, Value},
    wire::method::KIRO_USER_INPUT,
};

/// The reply format of Kiro's dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KiroReply;

impl AgentDialect for KiroReply {
    const METHODS: &'static [&'static str] = &[KIRO_USER_INPUT];
    const SHOWN_BY: Option<(&'static str, ShownBy)> = Some((KIRO_USER_INPUT, ShownBy::Kiro));

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        Ok(Some((read(params, fallback_id)?, KiroReply)))
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&write_answer(question, answer))
    }

    fn write_rejection(&self, _rejection: Rejection<'_>) -> Box<RawValue> {
        json(&KiroResult::Dismissed)
    }

    fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
        read_reply(question, result).map_or(Reply::Unknown, Reply::Canonical)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KiroParams {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    question: String,
    options: Option<Vec<KiroOption>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an option is a text or an object with a title")]
enum KiroOption {
    Title(String),
    Object {
        title: String,
        description: Option<String>,
        #[serde(default)]
        recommended: Option<bool>,
    },
}

/// Reads the `params` of a request.
fn read(params: &[u8], fallback_id: &str) -> Result<Question, String> {
    let KiroParams { session_id, tool_call_id, question, options } = read_params(params)?;
    let mut default = None;
    let options = options.unwrap_or_default().into_iter().map(|choice| {
        let (title, description, recommended) = match choice {
            KiroOption::Title(title) => (title, None, false),
            KiroOption::Object { title, description, recommended } => {
                (title, description, recommended == Some(true))
            }
        };
        if recommended {
            default.get_or_insert_with(|| title.clone());
        }
        FieldOption { value: title.clone(), label: title, description, ..FieldOption::default() }
    });
    let options: Vec<_> = options.collect();
    let kind =
        if options.is_empty() { Kind::free_text() } else { Kind::Choice { options, other: true, default } };
    let fields = vec![Field::at(0, question, None, kind)];
    let question = Question::new(Origin::Kiro, fallback_id, fields);
    Ok(Question { session: session_id, tool_call: tool_call_id, ..question })
}

/// The `result` of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum KiroResult {
    /// The question is answered.
    Answered {
        /// The title of the option, or the typed text.
        answer: String,
        /// The note, for which the dialect has no place.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<ReplyMeta>,
    },
    /// There will be no answer. Kiro does not tell reasons apart.
    Dismissed,
}

fn write_answer(question: &Question, answer: &Answer) -> KiroResult {
    let Some(field) = question.fields.first() else { return KiroResult::Dismissed };
    match answer.values.get(&field.name) {
        Some(Value::Text(text)) => KiroResult::Answered {
            answer: text.clone(),
            meta: ReplyMeta::of_notes(question, answer, |_| true),
        },
        _ => KiroResult::Dismissed,
    }
}

/// Reads the `result` of a client that supports this dialect.
fn read_reply(question: &Question, result: &[u8]) -> Option<Outcome> {
    // serde would also read the result from an array, which Kiro's clients do not send.
    match result.starts_with(b"{").then(|| serde_json::from_slice(result).ok()).flatten()? {
        KiroResult::Answered { answer, .. } => {
            Some(Outcome::Answered(Answer::text(&question.fields.first()?.name, answer)))
        }
        KiroResult::Dismissed => Some(Outcome::Rejected(Reason::User)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(options: &str) -> Question {
        let params = format!(r#"{{"sessionId":"s","toolCallId":"t","question":"Which?"{options}}}"#);
        read(params.as_bytes(), "q").expect("a question")
    }

    #[test]
    fn first_recommended_option_is_the_default() {
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
    fn answer_is_one_text() {
        let question = asked(r#","options":["A"]"#);
        for (answer, expected) in
            [(json!({ "values": { "q0": "A" } }), "A"), (json!({ "values": { "q0": "x" } }), "x")]
        {
            let answer = serde_json::from_value(answer).expect("an answer");
            let written = serde_json::to_value(write_answer(&question, &answer)).expect("JSON");
            assert_eq!(written, json!({ "action": "answered", "answer": expected }));
        }
        // A note never changes the chosen option.
        let noted = serde_json::from_value(json!({ "values": { "q0": "A" }, "notes": { "q0": "y" } }));
        let written =
            serde_json::to_value(write_answer(&question, &noted.expect("an answer"))).expect("JSON");
        let meta = json!({ "askbridge": { "notes": { "0": "y" } } });
        assert_eq!(written, json!({ "action": "answered", "answer": "A", "_meta": meta }));
    }

    #[test]
    fn reply_of_a_kiro_client_is_read() {
        let question = asked("");
        let read = |result: &str| read_reply(&question, result.as_bytes());
        let answer = serde_json::from_value(json!({ "values": { "q0": "x" } })).expect("an answer");
        assert_eq!(read(r#"{"action":"answered","answer":"x"}"#), Some(Outcome::Answered(answer)));
        assert_eq!(read(r#"{"action":"dismissed"}"#), Some(Outcome::Rejected(Reason::User)));
        for other in ["null", "{}", r#"{"action":"answered"}"#, r#"{"action":"accept"}"#] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
