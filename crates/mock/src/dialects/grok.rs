//! Grok's `_x.ai/ask_user_question`: the answers are keyed by the text of the question, with notes beside them.
//! An empty acknowledgement is not an answer. What the agent says then is left to `dispatch.rs`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    question::MockQuestion,
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};

pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
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
