//! The second step of a command that allows what is dangerous (I12): a person takes it at the terminal, and where none can,
//! `--yes` stands for it.

use std::sync::Arc;

use askbridge_core::{
    desk::Record,
    question::{Answer, Purpose},
};

use super::CommandError;
use crate::present::caution::{caution, is_dangerous};

/// Returns why an answer allows what is dangerous, as a sentence; `None` if it does not.
pub(super) fn danger(record: &Record, answer: &Answer) -> Option<String> {
    let question = &record.question;
    let allows = record.is_open() && question.purpose == Purpose::Permission;
    let why = caution(question, answer).filter(|_| allows && is_dangerous(question, answer))?;
    Some(why.into_owned())
}

/// Refuses to allow what is dangerous, where no person can confirm it. `command` is what was given.
///
/// # Errors
/// The answer allows what is dangerous.
pub(super) fn confirmed(
    record: &Record,
    answer: &Answer,
    command: impl FnOnce() -> String,
) -> Result<(), CommandError> {
    match danger(record, answer) {
        Some(why) => {
            Err(CommandError::Unconfirmed { record: Arc::new(record.clone()), why, command: command() })
        }
        None => Ok(()),
    }
}
