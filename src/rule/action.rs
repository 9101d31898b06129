//! What a rule does with a question whose conditions hold: what it submits, or that a person decides.

use super::{
    asked::Asked,
    conditions::Conditions,
    given::{Given, is_alone, roles},
};
use crate::{
    desk::Submission,
    question::{Answer, Purpose, Question, Role, Value, check, permission},
};

/// What a rule says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Answer(Given),
    Reject(String),
    Allow,
    Deny(Option<String>),
    Hold,
    Notify(Vec<String>),
}

/// What is done with a question.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// This is submitted.
    Submit(Submission),
    /// A person decides: no later rule applies.
    Hold,
    /// A person decides, and is told in these ways.
    Notify(Vec<String>),
}

impl Action {
    /// Returns what is done with a question.
    ///
    /// # Errors
    /// The rule does not apply to it; the text says why.
    pub(super) fn of(&self, conditions: &Conditions, asked: &Asked<'_>) -> Result<What, String> {
        let question = asked.question;
        match self {
            Action::Hold => return Ok(What::Hold),
            Action::Notify(ways) => return Ok(What::Notify(ways.clone())),
            _ => {}
        }
        if question.dangerous && conditions.dangerous != Some(true) {
            return Err("it is marked as dangerous, and the rule does not say `dangerous = true`".to_owned());
        }
        if let Purpose::Other(purpose) = question.purpose {
            return Err(format!("its purpose {:?} is not known here", purpose.as_str()));
        }
        let is_permission = question.purpose == Purpose::Permission;
        let submission = match self {
            Action::Answer(given) => Submission::Answer(checked(conditions, asked, given.to(question)?)?),
            Action::Allow if is_permission => {
                Submission::Answer(checked(conditions, asked, allowed(question)?)?)
            }
            Action::Deny(reason) if is_permission => Submission::Reject(reason.clone()),
            Action::Reject(reason) if !is_permission => Submission::Reject(Some(reason.clone())),
            Action::Reject(_) => {
                return Err("it asks for a permission: a rule refuses that with `deny`".to_owned());
            }
            _ => return Err("it asks for no permission".to_owned()),
        };
        Ok(What::Submit(submission))
    }
}

/// Returns the answer that allows a permission this time.
fn allowed(question: &Question) -> Result<Answer, String> {
    let options: Vec<_> = permission::options(question, Role::AllowOnce).collect();
    let [option] = options[..] else {
        return Err(match options.len() {
            0 => "it has no option that allows it this time".to_owned(),
            count => {
                format!("it has {count} options that allow it this time: a rule chooses one with `answer`")
            }
        });
    };
    let has_it =
        |kind: &crate::question::Kind| kind.options().iter().any(|other| std::ptr::eq(other, option));
    let field = question.fields.iter().find(|field| has_it(&field.kind));
    let field = field.filter(|field| is_alone(field, option));
    let field = field.ok_or("another of its options has the same value")?;
    let values = [(field.name.clone(), Value::Text(option.value.clone()))].into();
    let answer = Answer { values, ..Answer::default() };
    match check(question, &answer) {
        Ok(()) => Ok(answer),
        Err(_) => Err("it needs more than an option that allows it".to_owned()),
    }
}

/// Checks that an answer grants nothing lasting, nothing unknown, and nothing that the rule does not name (I12).
fn checked(conditions: &Conditions, asked: &Asked<'_>, answer: Answer) -> Result<Answer, String> {
    let is_permission = asked.question.purpose == Purpose::Permission;
    for role in roles(asked.question, &answer) {
        match role {
            Some(Role::RejectOnce | Role::RejectAlways) => {}
            Some(Role::AllowOnce) => conditions.names(asked)?,
            Some(Role::AllowAlways) => {
                return Err("that would allow it from now on, which a rule never does".to_owned());
            }
            None if !is_permission => {}
            Some(_) | None => return Err("it is not known what that option allows".to_owned()),
        }
    }
    Ok(answer)
}
