//! Questions in permission requests: Qwen's, Kimi's for clients without forms, and pi-acp's.
//! The response is the ID of an option; only Qwen reads answers beside it. What the agent says then is left to
//! `dispatch.rs`.

use serde_json::Value;

use super::{
    question::MockQuestion,
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};
use crate::{behaviour::Shape, message::PermissionOutcome};

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
