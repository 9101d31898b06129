//! The native dialect, `_sandboxagent/session/request_question`: the only one that can express every field.
//! What the agent says about the response is left to `dispatch.rs`.

use serde::Deserialize;
use serde_json::Value;

use super::{
    question::MockQuestion,
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};

/// Reads the response. The number of answers must be the number of fields.
pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match serde_json::from_str(result).ok()? {
        NativeResult::Rejected { meta } => {
            let said = |member| meta.pointer(member).and_then(Value::as_str);
            // The person's own words say more than the name of a reason.
            let reason = said("/askbridge/remark").or_else(|| said("/askbridge/reason"));
            Some(QuestionResponse::Unanswered(NonAnswer::Rejected, reason.map(str::to_owned)))
        }
        NativeResult::Answered { answers } => {
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

/// The result of the request.
#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum NativeResult {
    Answered {
        answers: Vec<Vec<String>>,
    },
    Rejected {
        #[serde(rename = "_meta", default)]
        meta: Value,
    },
}
