//! `askbridge answer`, `reject` and `extend`: what is to become of a question.

use std::time::Duration;

use super::{
    CommandError,
    run::{self, join, look_up},
    typed::{self, AnswerOptions},
};
use crate::{
    acp::Submission,
    control::old::{Record, Refusal, Source},
    exit,
    present::text,
    question::{Provenance, Responder},
};

/// Answers a question.
pub async fn answer(options: &AnswerOptions) -> Result<u8, CommandError> {
    if options.values.is_empty() && options.fields.is_empty() && options.notes.is_empty() {
        return Err(CommandError::NoAnswer(options.id.clone()));
    }
    let read = |view: &Record| {
        let answer = typed::read(&view.question, view.kept.as_ref(), options).map_err(Refusal::DoesNotFit)?;
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
    let joined = join().await?;
    let view = look_up(&joined, id).await?;
    if !id.contains('-') {
        // Whoever says it again means the question that was, and not the one that is next.
        return Err(CommandError::NoNumber(id.to_owned(), view));
    }
    let submission = read(&view).map_err(refused)?;
    joined.submit(&view.id, submission, by()).await.map_err(refused)?;
    Ok(run::done(exit::OK, &format!("{} {done}: {}\n", view.id, text::heading(&view))))
}

fn by() -> Provenance {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
    Provenance { responder: Responder::CommandLine, name }
}
