//! Questions that are put as permission requests: Qwen's, Kimi's for clients without forms, and pi-acp's.
//! A permission request is answered with an option's id; only Qwen reads an answer beside it.

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    field::Field,
    heard::{Answer, Heard, How},
    question::{Question, Request},
};
use crate::mock::behaviour::Shape;

const METHOD: &str = "session/request_permission";

pub(super) fn ask_qwen(question: &Question) -> io::Result<Request> {
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
    Request::new(METHOD, &params)
}

fn entry(field: &Field) -> Value {
    let choices = field.choices.iter();
    let options: Vec<Value> =
        choices.map(|choice| json!({ "label": choice.label, "description": choice.description })).collect();
    let mut entry = json!({ "question": field.question, "header": field.header, "options": options });
    if field.multiple {
        entry["multiSelect"] = json!(true);
    }
    entry
}

/// The answers stand beside the outcome, by the place of their question. Without them there is nothing valid.
pub(super) fn hear_qwen(question: &Question, result: &str) -> Option<Heard> {
    match chosen(result)? {
        Err(heard) => Some(heard),
        Ok(option) => match option.as_str() {
            "proceed_once" => {
                let result: Value = serde_json::from_str(result).ok()?;
                let fields = question.fields();
                let answers = fields.iter().enumerate().map(|(at, field)| {
                    let answer = result["answers"][at.to_string()].as_str().map(str::to_owned);
                    let answer = answer.filter(|answer| !answer.is_empty());
                    let chosen =
                        answer.iter().flat_map(|answer| answer.split(", ")).any(|name| field.has(name));
                    Answer {
                        written: answer.is_some() && !chosen,
                        ..Answer::new(field, answer.into_iter().collect(), None)
                    }
                });
                Some(Heard::Answered(answers.collect()))
            }
            "cancel" => Some(Heard::Unanswered(How::Declined, None)),
            _ => None,
        },
    }
}

pub(super) fn ask_kimi(question: &Question) -> io::Result<Request> {
    let fields = question.fields();
    let field = &fields[0];
    let choices = field.choices.iter().enumerate();
    let mut options: Vec<Value> =
        choices.map(|(at, choice)| option(&format!("q0_opt_{at}"), choice.label, "allow_once")).collect();
    options.push(option("q0_skip", "Skip", "reject_once"));
    Request::new(METHOD, &plain(question, field, &options))
}

pub(super) fn hear_kimi(question: &Question, result: &str) -> Option<Heard> {
    match chosen(result)? {
        Err(heard) => Some(heard),
        Ok(option) if option == "q0_skip" => Some(Heard::Unanswered(How::Skipped, None)),
        Ok(option) => numbered(question, option.strip_prefix("q0_opt_")?),
    }
}

pub(super) fn ask_pi(question: &Question) -> io::Result<Request> {
    let fields = question.fields();
    let field = &fields[0];
    let choices = field.choices.iter().enumerate();
    let options: Vec<Value> = if question.shape == Shape::Confirm {
        vec![option("yes", "Yes", "allow_once"), option("no", "No", "reject_once")]
    } else {
        choices.map(|(at, choice)| option(&format!("choice-{at}"), choice.label, "allow_once")).collect()
    };
    Request::new(METHOD, &plain(question, field, &options))
}

pub(super) fn hear_pi(question: &Question, result: &str) -> Option<Heard> {
    match chosen(result)? {
        Err(heard) => Some(heard),
        Ok(option) if question.shape == Shape::Confirm => {
            let known = ["yes", "no"].contains(&option.as_str());
            known.then(|| Heard::Answered(vec![Answer::new(&question.fields()[0], vec![option], None)]))
        }
        Ok(option) => numbered(question, option.strip_prefix("choice-")?),
    }
}

/// A permission request that says nothing but the question and its options.
fn plain(question: &Question, field: &Field, options: &[Value]) -> Value {
    let tool_call = json!({
        "toolCallId": question.tool_call(), "title": field.question, "kind": "other", "status": "pending",
    });
    json!({ "sessionId": question.session, "toolCall": tool_call, "options": options })
}

fn option(id: &str, name: &str, kind: &str) -> Value {
    json!({ "optionId": id, "name": name, "kind": kind })
}

/// The label of the choice with this number, which counts from 0.
fn numbered(question: &Question, number: &str) -> Option<Heard> {
    let fields = question.fields();
    let choice = fields[0].choices.get(number.parse::<usize>().ok()?)?;
    Some(Heard::Answered(vec![Answer::new(&fields[0], vec![choice.label.to_owned()], None)]))
}

/// The option that was chosen, or that the request was cancelled.
fn chosen(result: &str) -> Option<Result<String, Heard>> {
    #[derive(Deserialize)]
    struct Permission {
        outcome: Outcome,
    }

    #[derive(Deserialize)]
    #[serde(tag = "outcome", rename_all = "lowercase")]
    enum Outcome {
        #[serde(rename_all = "camelCase")]
        Selected {
            option_id: String,
        },
        Cancelled,
    }

    let Permission { outcome } = serde_json::from_str(result).ok()?;
    Some(match outcome {
        Outcome::Selected { option_id } => Ok(option_id),
        Outcome::Cancelled => Err(Heard::Unanswered(How::Cancelled, None)),
    })
}
