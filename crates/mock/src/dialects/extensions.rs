//! The responses to the agents' extensions of the protocol, and to questions in permission requests: Qwen's, Kimi's for
//! clients without forms, and pi-acp's. Only Qwen reads answers beside the option's ID.
//! Whether a client advertised one is left to `capabilities.rs`, and what the agent says then to `dispatch.rs`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{
    question::MockQuestion,
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};
use crate::{behaviour::Shape, message::PermissionOutcome};

/// Reads the response to `_sandboxagent/session/request_question`. There must be an answer for each field.
pub(super) fn read_sandboxagent(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match serde_json::from_str(result).ok()? {
        SandboxagentResult::Rejected { meta } => {
            let said = |member| meta.pointer(member).and_then(Value::as_str);
            // The person's own words say more than the name of a reason.
            let reason = said("/askbridge/remark").or_else(|| said("/askbridge/reason"));
            Some(QuestionResponse::Unanswered(NonAnswer::Rejected, reason.map(str::to_owned)))
        }
        SandboxagentResult::Answered { answers } => {
            let fields = question.fields();
            let fits = answers.len() == fields.len();
            // Any answer to a field with options counts as a choice.
            let answers = fields.iter().zip(answers).map(|(field, values)| FieldAnswer {
                written: field.choices.is_empty(),
                ..FieldAnswer::new(field, values, None)
            });
            fits.then(|| QuestionResponse::Answered(answers.collect()))
        }
    }
}

/// The result of `_sandboxagent/session/request_question`.
#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum SandboxagentResult {
    Answered {
        answers: Vec<Vec<String>>,
    },
    Rejected {
        #[serde(rename = "_meta", default)]
        meta: Value,
    },
}

/// Reads the response to `cursor/ask_question`, which has no session ID, no descriptions and no free text.
pub(super) fn read_cursor(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let CursorResult { outcome } = serde_json::from_str(result).ok()?;
    match outcome {
        CursorOutcome::Skipped { reason } => Some(QuestionResponse::Unanswered(NonAnswer::Skipped, reason)),
        CursorOutcome::Cancelled => Some(QuestionResponse::Unanswered(NonAnswer::Cancelled, None)),
        CursorOutcome::Answered { answers } => {
            let fields = question.fields();
            let known = answers.iter().all(|Chosen { question_id, selected_option_ids }| {
                let field = fields.iter().find(|field| field.id == question_id);
                field.is_some_and(|field| {
                    selected_option_ids.iter().all(|id| field.choices.iter().any(|choice| choice.value == id))
                })
            });
            let given = fields.iter().map(|field| {
                let chosen = answers.iter().find(|chosen| chosen.question_id == field.id);
                let ids = chosen.map(|chosen| chosen.selected_option_ids.clone()).unwrap_or_default();
                FieldAnswer::new(field, ids, None)
            });
            known.then(|| QuestionResponse::Answered(given.collect()))
        }
    }
}

#[derive(Deserialize)]
struct CursorResult {
    outcome: CursorOutcome,
}

#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum CursorOutcome {
    Answered { answers: Vec<Chosen> },
    Skipped { reason: Option<String> },
    Cancelled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    question_id: String,
    selected_option_ids: Vec<String>,
}

/// Reads the response to `_x.ai/ask_user_question`. The answers are keyed by the text of the question, with notes
/// beside them. An empty acknowledgement is not an answer.
pub(super) fn read_grok(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match serde_json::from_str(result).ok()? {
        GrokResult::Cancelled => Some(QuestionResponse::Unanswered(NonAnswer::Cancelled, None)),
        GrokResult::SkipInterview => Some(QuestionResponse::Unanswered(NonAnswer::Skipped, None)),
        GrokResult::ChatAboutThis => Some(QuestionResponse::Unanswered(NonAnswer::InChat, None)),
        GrokResult::Accepted { answers, annotations } => {
            let fields = question.fields();
            let known = answers.keys().all(|asked| fields.iter().any(|field| field.question == *asked));
            let given = fields.iter().map(|field| {
                let values = answers.get(&field.question).cloned().unwrap_or_default();
                let note = annotations.get(&field.question).and_then(|annotation| annotation.notes.clone());
                FieldAnswer::new(field, values, note)
            });
            known.then(|| QuestionResponse::Answered(given.collect()))
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum GrokResult {
    Accepted {
        answers: BTreeMap<String, Vec<String>>,
        #[serde(default)]
        annotations: BTreeMap<String, Annotation>,
    },
    Cancelled,
    SkipInterview,
    ChatAboutThis,
}

#[derive(Deserialize)]
struct Annotation {
    notes: Option<String>,
}

/// Reads the response to `_kiro/userInput`: one field, whose answer is one text.
pub(super) fn read_kiro(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match serde_json::from_str(result).ok()? {
        KiroResult::Dismissed => Some(QuestionResponse::Unanswered(NonAnswer::Dismissed, None)),
        KiroResult::Answered { answer } => Some(QuestionResponse::Answered(vec![FieldAnswer::new(
            &question.fields()[0],
            vec![answer],
            None,
        )])),
    }
}

#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum KiroResult {
    Answered { answer: String },
    Dismissed,
}

/// Reads the response to `_agentao.cn/ask_user`: one text, in which the client joins several choices. agentao takes an
/// empty text for no answer.
pub(super) fn read_agentao(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let fields = question.fields();
    let field = fields.first()?;
    Some(match serde_json::from_str(result).ok()? {
        AgentaoResult::Answered { text } if !text.is_empty() => {
            let several = field.multiple && text.split(", ").all(|label| field.has(label));
            let values = if several { text.split(", ").map(str::to_owned).collect() } else { vec![text] };
            QuestionResponse::Answered(vec![FieldAnswer::new(field, values, None)])
        }
        AgentaoResult::Answered { .. } | AgentaoResult::Cancelled => {
            QuestionResponse::Unanswered(NonAnswer::Cancelled, None)
        }
    })
}

#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum AgentaoResult {
    Answered { text: String },
    Cancelled,
}

/// Reads the response to `_hrns/ask_user` as strictly as pydantic-ai-harness 0.57.0: an answer for each header, with
/// labels or with a text in place of them.
pub(super) fn read_hrns(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let HrnsResult { cancelled, answers } = serde_json::from_str(result).ok()?;
    if cancelled {
        return Some(QuestionResponse::Unanswered(NonAnswer::Cancelled, None));
    }
    let fields = question.fields();
    let answers = answers.filter(|answers| answers.len() == fields.len())?;
    let given = fields.iter().map(|field| {
        let HrnsAnswer { selected, custom_answer, .. } =
            answers.iter().find(|answer| answer.header == field.header)?;
        let labels = selected.iter().all(|label| field.has(label));
        let fits = match custom_answer {
            Some(text) => selected.is_empty() && !text.trim().is_empty(),
            None => labels && !selected.is_empty() && (field.multiple || selected.len() == 1),
        };
        let values = selected.iter().chain(custom_answer).cloned().collect();
        fits.then(|| FieldAnswer::new(field, values, None))
    });
    Some(QuestionResponse::Answered(given.collect::<Option<_>>()?))
}

#[derive(Deserialize)]
struct HrnsResult {
    #[serde(default)]
    cancelled: bool,
    answers: Option<Vec<HrnsAnswer>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HrnsAnswer {
    header: String,
    #[serde(default)]
    selected: Vec<String>,
    custom_answer: Option<String>,
}

/// Reads Qwen's response: the answers stand beside the outcome, keyed by the index of their question.
pub(super) fn read_qwen(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match chosen(result)? {
        Err(response) => Some(response),
        Ok(option) => match option.as_str() {
            "proceed_once" => {
                let result: Value = serde_json::from_str(result).ok()?;
                let fields = question.fields();
                let answers = fields.iter().enumerate().map(|(at, field)| {
                    let answer = result["answers"][at.to_string()].as_str().map(str::to_owned);
                    let answer = answer.filter(|answer| !answer.is_empty());
                    let chosen =
                        answer.iter().flat_map(|answer| answer.split(", ")).any(|name| field.has(name));
                    FieldAnswer {
                        written: answer.is_some() && !chosen,
                        ..FieldAnswer::new(field, answer.into_iter().collect(), None)
                    }
                });
                Some(QuestionResponse::Answered(answers.collect()))
            }
            "cancel" => Some(QuestionResponse::Unanswered(NonAnswer::Declined, None)),
            _ => None,
        },
    }
}

pub(super) fn read_kimi(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match chosen(result)? {
        Err(response) => Some(response),
        Ok(option) if option == "q0_skip" => Some(QuestionResponse::Unanswered(NonAnswer::Skipped, None)),
        Ok(option) => numbered(question, option.strip_prefix("q0_opt_")?),
    }
}

pub(super) fn read_pi(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match chosen(result)? {
        Err(response) => Some(response),
        Ok(option) if question.shape == Shape::Confirm => {
            let known = ["yes", "no"].contains(&option.as_str());
            known.then(|| {
                QuestionResponse::Answered(vec![FieldAnswer::new(&question.fields()[0], vec![option], None)])
            })
        }
        Ok(option) => numbered(question, option.strip_prefix("choice-")?),
    }
}

/// Returns the answer for the choice with this number, counted from 0.
fn numbered(question: &MockQuestion, number: &str) -> Option<QuestionResponse> {
    let fields = question.fields();
    let choice = fields[0].choices.get(number.parse::<usize>().ok()?)?;
    Some(QuestionResponse::Answered(vec![FieldAnswer::new(&fields[0], vec![choice.label.to_owned()], None)]))
}

/// Returns the ID of the selected option, or the response if the request was cancelled.
fn chosen(result: &str) -> Option<Result<String, QuestionResponse>> {
    Some(match PermissionOutcome::read(result)? {
        PermissionOutcome::Selected { option_id } => Ok(option_id),
        PermissionOutcome::Cancelled => Err(QuestionResponse::Unanswered(NonAnswer::Cancelled, None)),
    })
}
