//! What was chosen or typed, in the words that the person saw.

use crate::{
    dialect::sandboxagent::{
        request::{NO, YES},
        response::{self, Response},
    },
    inbox::View,
    question::{Field, Kind, Outcome},
};

/// Returns what was answered, field by field. `None` where the question was not answered.
pub(super) fn chosen(view: &View) -> Option<Vec<Vec<String>>> {
    let Outcome::Answered(answer) = &view.settlement.as_ref()?.outcome else { return None };
    let Response::Answered { answers, .. } = response::answered(&view.question, answer) else { return None };
    let fields = view.question.fields.iter().zip(answers);
    Some(
        fields.map(|(field, values)| values.into_iter().map(|value| label(field, value)).collect()).collect(),
    )
}

fn label(field: &Field, value: String) -> String {
    if matches!(field.kind, Kind::Boolean { .. }) {
        return if value == "true" { YES } else { NO }.to_owned();
    }
    let option = field.kind.options().iter().find(|option| option.value == value);
    option.map_or(value, |option| option.label.clone())
}
