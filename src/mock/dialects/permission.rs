//! Questions in permission requests: Qwen's, Kimi's for clients without forms, and pi-acp's.
//! The response is the ID of an option; only Qwen reads answers beside it. What the agent says then is left to
//! `dispatch.rs`.

use std::io;

use serde_json::{Value, json};

use super::{
    field::MockField,
    question::{MockQuestion, QuestionRequest},
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};
use crate::mock::{behaviour::Shape, permission_outcome::PermissionOutcome};

const METHOD: &str = "session/request_permission";

pub(super) fn ask_qwen(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let fields = question.fields();
    let questions: Vec<Value> = fields.iter().map(entry).collect();
    let plural = if fields.len() == 1 { "" } else { "s" };
    let params = json!({
        "sessionId": question.session,
        "options": [
            option("proceed_once", "Submit", "allow_once"),
            option("cancel", "Cancel", "reject_once"),
        ],
        "toolCall": {
            "toolCallId": question.tool_call(),
            "title": format!("Ask user {} question{plural}", fields.len()),
            "kind": "think",
            "rawInput": { "questions": questions },
            "_meta": {
                "toolName": "ask_user_question",
                "qwenInteractionKind": "user_question",
                "qwenQuestions": questions,
            },
        },
    });
    QuestionRequest::new(METHOD, &params)
}

fn entry(field: &MockField) -> Value {
    let choices = field.choices.iter();
    let options: Vec<Value> =
        choices.map(|choice| json!({ "label": choice.label, "description": choice.description })).collect();
    let mut entry = json!({ "question": field.question, "header": field.header, "options": options });
    if field.multiple {
        entry["multiSelect"] = json!(true);
    }
    entry
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

pub(super) fn ask_kimi(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let fields = question.fields();
    let field = &fields[0];
    let choices = field.choices.iter().enumerate();
    let mut options: Vec<Value> =
        choices.map(|(at, choice)| option(&format!("q0_opt_{at}"), choice.label, "allow_once")).collect();
    options.push(option("q0_skip", "Skip", "reject_once"));
    QuestionRequest::new(METHOD, &plain(question, field, &options))
}

pub(super) fn read_kimi(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match chosen(result)? {
        Err(response) => Some(response),
        Ok(option) if option == "q0_skip" => Some(QuestionResponse::Unanswered(NonAnswer::Skipped, None)),
        Ok(option) => numbered(question, option.strip_prefix("q0_opt_")?),
    }
}

pub(super) fn ask_pi(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let fields = question.fields();
    let field = &fields[0];
    let choices = field.choices.iter().enumerate();
    let options: Vec<Value> = if question.shape == Shape::Confirm {
        vec![option("yes", "Yes", "allow_once"), option("no", "No", "reject_once")]
    } else {
        choices.map(|(at, choice)| option(&format!("choice-{at}"), choice.label, "allow_once")).collect()
    };
    QuestionRequest::new(METHOD, &plain(question, field, &options))
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

/// Returns the parameters of a permission request that has only the question and its options.
fn plain(question: &MockQuestion, field: &MockField, options: &[Value]) -> Value {
    let tool_call = json!({
        "toolCallId": question.tool_call(), "title": field.question, "kind": "other", "status": "pending",
    });
    json!({ "sessionId": question.session, "toolCall": tool_call, "options": options })
}

fn option(id: &str, name: &str, kind: &str) -> Value {
    json!({ "optionId": id, "name": name, "kind": kind })
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
