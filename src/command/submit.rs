//! `askbridge answer`, `reject` and `extend`: submits to a question.

use std::time::Duration;

use super::{
    CommandError,
    run::{self, look_up},
    typed::{self, AnswerOptions},
};
use crate::{
    control::Inbox,
    desk::{Record, Refusal, Submission},
    exit,
    present::text,
    question::{Provenance, Responder},
};

/// Answers a question.
pub async fn answer(options: &AnswerOptions) -> Result<u8, CommandError> {
    if options.values.is_empty() && options.fields.is_empty() && options.notes.is_empty() {
        return Err(CommandError::NoAnswer(options.id.clone()));
    }
    let read = |record: &Record| {
        let kept = record.kept.as_ref();
        let answer = typed::read(&record.question, kept, options).map_err(Refusal::DoesNotFit)?;
        Ok(Submission::Answer(answer))
    };
    submit(&options.id, "answered", read).await
}

/// Rejects a question.
pub async fn reject(id: &str, reason: Option<&str>) -> Result<u8, CommandError> {
    submit(id, "rejected", |_| Ok(Submission::Reject(reason.map(str::to_owned)))).await
}

/// Gives a question more time.
pub async fn extend(id: &str, by: Duration) -> Result<u8, CommandError> {
    submit(id, "extended", |_| Ok(Submission::Extend(by))).await
}

async fn submit(
    id: &str,
    done: &str,
    read: impl FnOnce(&Record) -> Result<Submission, Refusal>,
) -> Result<u8, CommandError> {
    let refused = |refusal| CommandError::Refused(id.to_owned(), refusal);
    let (machine, typed, record) = look_up(id).await?;
    if !typed.has_number() {
        // A repeated command means the question that was, and not the next one of the same bridge.
        return Err(CommandError::NoNumber(id.to_owned(), record));
    }
    let submission = read(&record).map_err(refused)?;
    machine.submit(&record.id, submission, by()).await.map_err(refused)?;
    Ok(run::done(exit::OK, &format!("{} {done}: {}\n", record.id, text::heading(&record))))
}

fn by() -> Provenance {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
    Provenance { responder: Responder::CommandLine, name }
}
