//! The extension `…/ask_user` of several agents, in the two shapes that are known: one question, answered with a text, and
//! several questions, each answered with its header and the labels that are chosen.
//!
//! Agents choose the name of such a method by themselves, so any name that ends like this is read. What a request cannot
//! say is how its response is read, so that only a request with exactly the members of a known shape is understood. Any
//! other one is forwarded unchanged: nothing is answered by a guess.
//!
//! Source: the code of agentao 0.5.17 (`_agentao.cn/ask_user`), of hrns 0.0.1 (`_hrns/ask_user`) and of
//! pydantic-ai-harness 0.57.0, which checks what hrns gets.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    agent_dialect::{AgentDialect, Rejection, ShownBy},
    unshown::is_too_long,
    values::{join, json},
};
use crate::{
    question::{Answer, Field, FieldOption, Kind, Origin, Question, Value},
    wire::{method::ASK_USER, scan::Text},
};

/// How the response to a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskUserReply {
    /// As one text.
    Text,
    /// As the chosen labels or the typed text for each header.
    Answers,
}

/// How the names of these methods end.
const ENDING: &str = "/ask_user";

/// Returns whether a request with this method may be a question in this dialect.
pub(super) fn is_method(method: &str) -> bool {
    method.len() > ENDING.len() && method.ends_with(ENDING)
}

/// Returns whether a method, as it was written, may be one of this dialect.
pub(super) fn may_ask(method: &Text<'_>) -> bool {
    method.ends_with(ENDING)
}

impl AgentDialect for AskUserReply {
    const METHODS: &'static [&'static str] = &ASK_USER;
    const SHOWN_BY: Option<(&'static str, ShownBy)> = None;

    fn reads(method: &str) -> bool {
        is_method(method)
    }

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        // The client may know a request that the bridge does not.
        if is_too_long(params) {
            return Ok(None);
        }
        Ok(one(params, fallback_id).or_else(|| several(params, fallback_id)))
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        match self {
            AskUserReply::Text => json(&TextResult::of(question, answer)),
            AskUserReply::Answers => json(&AnswersResult::of(question, answer)),
        }
    }

    fn write_rejection(&self, _rejection: Rejection<'_>) -> Box<RawValue> {
        match self {
            AskUserReply::Text => json(&TextResult::Cancelled),
            AskUserReply::Answers => json(&AnswersResult::Cancelled { cancelled: true }),
        }
    }
}

/// A request of one question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct One {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    question: String,
    header: Option<String>,
    options: Option<Vec<String>>,
    multiple: Option<bool>,
    allow_custom: Option<bool>,
    #[serde(rename = "_meta")]
    _meta: Option<serde::de::IgnoredAny>,
}

fn one(params: &[u8], fallback_id: &str) -> Option<(Question, AskUserReply)> {
    let asked: One = serde_json::from_slice(params).ok()?;
    let options: Vec<_> =
        asked.options.unwrap_or_default().into_iter().map(|label| option(label, None)).collect();
    let kind = Kind::choice(options, asked.multiple == Some(true), asked.allow_custom != Some(false));
    let fields = vec![Field::at(0, asked.question, asked.header, kind)];
    let question = Question {
        session: asked.session_id,
        tool_call: asked.tool_call_id,
        // The response has no place for them.
        notes: false,
        ..Question::new(Origin::AskUser, fallback_id, fields)
    };
    Some((question, AskUserReply::Text))
}

/// A request of several questions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Several {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    request_id: String,
    questions: Vec<AskedQuestion>,
    #[serde(rename = "_meta")]
    _meta: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AskedQuestion {
    header: String,
    question: String,
    multi_select: bool,
    options: Vec<AskedOption>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedOption {
    label: String,
    description: Option<String>,
}

fn several(params: &[u8], fallback_id: &str) -> Option<(Question, AskUserReply)> {
    let asked: Several = serde_json::from_slice(params).ok()?;
    // The response names a question by its header.
    let is_known = |(place, question): (usize, &AskedQuestion)| {
        asked.questions[..place].iter().any(|other| other.header == question.header)
    };
    if asked.questions.is_empty() || asked.questions.iter().enumerate().any(is_known) {
        return None;
    }
    let fields = asked.questions.into_iter().enumerate().map(|(place, asked)| {
        let options = asked.options.into_iter().map(|AskedOption { label, description }| {
            option(label, description.filter(|text| !text.is_empty()))
        });
        let kind = Kind::choice(options.collect(), asked.multi_select, true);
        Field::at(place, asked.question, Some(asked.header), kind)
    });
    let id = if asked.request_id.is_empty() { fallback_id } else { &asked.request_id };
    let question = Question {
        session: asked.session_id,
        tool_call: asked.tool_call_id,
        notes: false,
        ..Question::new(Origin::AskUser, id, fields.collect())
    };
    Some((question, AskUserReply::Answers))
}

fn option(label: String, description: Option<String>) -> FieldOption {
    FieldOption { value: label.clone(), label, description, ..FieldOption::default() }
}

/// The result of a request of one question.
#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum TextResult {
    Answered {
        /// The typed text or the chosen options.
        text: String,
    },
    Cancelled,
}

impl TextResult {
    fn of(question: &Question, answer: &Answer) -> Self {
        let said = question.fields.first().map(|field| texts(field, answer)).unwrap_or_default();
        let text = match &*said {
            [only] => only.clone(),
            said => join(said),
        };
        TextResult::Answered { text }
    }
}

/// The result of a request of several questions.
#[derive(Serialize)]
#[serde(untagged)]
enum AnswersResult<'a> {
    Answered { answers: Vec<HeaderAnswer<'a>> },
    Cancelled { cancelled: bool },
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeaderAnswer<'a> {
    header: &'a str,
    selected: Vec<String>,
    /// A text in place of the labels: the agent refuses both at once.
    custom_answer: Option<String>,
}

impl<'a> AnswersResult<'a> {
    fn of(question: &'a Question, answer: &Answer) -> Self {
        let answers = question.fields.iter().map(|field| {
            let said = texts(field, answer);
            let options = field.kind.options();
            let are_labels = said.iter().all(|text| options.iter().any(|option| option.value == *text));
            let (selected, custom_answer) = match &*said {
                _ if are_labels => (said, None),
                [only] => (Vec::new(), Some(only.clone())),
                said => (Vec::new(), Some(join(said))),
            };
            HeaderAnswer { header: field.header.as_deref().unwrap_or_default(), selected, custom_answer }
        });
        AnswersResult::Answered { answers: answers.collect() }
    }
}

/// Returns what is chosen or typed in a field.
fn texts(field: &Field, answer: &Answer) -> Vec<String> {
    match answer.values.get(&field.name) {
        Some(Value::Text(text)) => vec![text.clone()],
        Some(Value::Many(texts)) => texts.clone(),
        Some(Value::Flag(flag)) => vec![flag.to_string()],
        Some(Value::Number(number)) => vec![number.to_string()],
        Some(Value::Null) | None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn asked(params: &Json) -> Option<(Question, AskUserReply)> {
        AskUserReply::read("_a/ask_user", params.to_string().as_bytes(), "q").expect("no mistake")
    }

    #[test]
    fn a_method_is_known_by_its_end() {
        for (method, is_one) in [
            ("_agentao.cn/ask_user", true),
            ("_hrns/ask_user", true),
            ("next.example/v1/ask_user", true),
            ("/ask_user", false),
            ("ask_user", false),
            ("_x.ai/ask_user_question", false),
            ("_a/task_user", false),
        ] {
            assert_eq!(is_method(method), is_one, "{method}");
        }
    }

    /// What a request does not say, the bridge does not guess.
    #[test]
    fn only_a_known_shape_is_a_question() {
        let question = json!({ "header": "D", "question": "Which?", "multiSelect": false, "options": [{ "label": "A", "description": "" }] });
        let with = |name: &str, value: Json| {
            let mut question = question.clone();
            question[name] = value;
            json!({ "requestId": "r", "questions": [question] })
        };
        for (params, reply) in [
            (json!({ "sessionId": "s", "question": "Which?" }), Some(AskUserReply::Text)),
            (json!({ "question": "Which?", "options": ["A"], "_meta": {} }), Some(AskUserReply::Text)),
            (json!({ "question": "Which?", "options": null }), Some(AskUserReply::Text)),
            (json!({ "requestId": "r", "questions": [question] }), Some(AskUserReply::Answers)),
            (json!({ "question": "Which?", "options": [{ "label": "A" }] }), None),
            (json!({ "question": "Which?", "choices": ["A"] }), None),
            (json!({ "question": "Which?", "secret": true }), None),
            (json!({ "prompt": "Which?" }), None),
            (json!({ "questions": [question] }), None),
            (json!({ "requestId": "r", "questions": [] }), None),
            (json!({ "requestId": "r", "questions": [question, question] }), None),
            (with("id", json!("1")), None),
            (with("options", json!(["A"])), None),
            (json!({}), None),
            (json!(["Which?"]), None),
        ] {
            assert_eq!(asked(&params).map(|(_, reply)| reply), reply, "{params}");
        }
    }

    #[test]
    fn an_answer_has_the_shape_that_the_agent_reads() {
        let one = json!({ "question": "?", "options": ["A", "B"], "multiple": true });
        let options = json!([{ "label": "A", "description": "" }, { "label": "B", "description": "b" }]);
        let several = json!({ "requestId": "r", "questions": [
            { "header": "H", "question": "?", "multiSelect": true, "options": options },
            { "header": "I", "question": "??", "multiSelect": false, "options": options },
        ] });
        let given = |header: &str, selected: Json, custom: Json| json!({ "header": header, "selected": selected, "customAnswer": custom });
        for (params, values, expected) in [
            (
                &json!({ "question": "?" }),
                json!({ "q0": "a, \"b\"" }),
                json!({ "outcome": "answered", "text": "a, \"b\"" }),
            ),
            (&one, json!({ "q0": ["A", "B"] }), json!({ "outcome": "answered", "text": "A, B" })),
            (
                &several,
                json!({ "q0": ["A", "B"], "q1": "mine" }),
                json!({ "answers": [given("H", json!(["A", "B"]), Json::Null), given("I", json!([]), json!("mine"))] }),
            ),
            (
                &several,
                json!({ "q0": ["A", "mine"], "q1": "B" }),
                json!({ "answers": [given("H", json!([]), json!("A, mine")), given("I", json!(["B"]), Json::Null)] }),
            ),
        ] {
            let (question, reply) = asked(params).expect("a question");
            let answer = serde_json::from_value(json!({ "values": values })).expect("an answer");
            let written: Json =
                serde_json::from_str(reply.write_answer(&question, &answer).get()).expect("JSON");
            assert_eq!(written, expected);
        }
    }
}
