//! `askbridge allow` and `deny`: decides on a permission by what its options do, and not by their names.
//! An option of any kind is chosen by `answer`.

use super::{
    CommandError,
    submit::{by_option, reject_if},
};
use crate::{
    desk::{Record, Submission},
    present::{answer, text},
    question::{Answer, Field, FieldOption, Purpose, Question, Role, Value, permission},
};

/// Allows what an agent asks permission for: this time, or from now on.
pub async fn allow(id: &str, always: bool) -> Result<u8, CommandError> {
    let role = if always { Role::AllowAlways } else { Role::AllowOnce };
    by_option(id, |record| choose(record, role).map_err(|error| unfit(record, error))).await
}

/// Denies what an agent asks permission for: this time, if the agent has an option for that.
pub async fn deny(id: &str, reason: Option<&str>) -> Result<u8, CommandError> {
    reject_if(id, reason, |record| check(&record.question).map_err(|error| unfit(record, error))).await
}

fn unfit(record: &Record, error: String) -> CommandError {
    CommandError::DoesNotFit(record.id.to_string(), error)
}

fn check(question: &Question) -> Result<(), String> {
    match question.purpose {
        Purpose::Permission => Ok(()),
        _ => Err(format!(
            "it asks a question, and no permission: `askbridge answer` answers it: {}",
            answer::brief(&question.headline())
        )),
    }
}

/// Chooses the only option with this role.
fn choose(record: &Record, role: Role) -> Result<Submission, String> {
    let question = &record.question;
    check(question)?;
    let options: Vec<_> = permission::options(question, role).collect();
    match (&*options, question.fields.first()) {
        ([option], Some(field)) => Ok(chosen(field, option)),
        ([], _) if role == Role::AllowAlways => {
            Err("the agent has no option that allows it from now on: leave out --always".to_owned())
        }
        ([], _) => Err(format!("the agent has no option that allows it this time: {}", names(question))),
        (several, _) => Err(format!(
            "the agent has {} options for that: `askbridge answer` chooses one: {}",
            several.len(),
            names(question)
        )),
    }
}

fn chosen(field: &Field, option: &FieldOption) -> Submission {
    let values = [(field.name.clone(), Value::Text(option.value.clone()))].into();
    Submission::Answer(Answer { values, ..Answer::default() })
}

fn names(question: &Question) -> String {
    let options = question.fields.iter().flat_map(|field| field.kind.options());
    options.map(|option| text::short(&option.label, 40)).collect::<Vec<_>>().join(", ")
}
