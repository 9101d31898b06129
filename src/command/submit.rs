//! `askbridge answer`, `reject` and `extend`: what is to become of a question.

use super::{
    CommandError,
    run::{self, join, look_up},
    text, typed,
};
use crate::{
    acp::Submission,
    cli::{AnswerArgs, ExtendArgs, RejectArgs},
    control::old::{Record, Refusal, Source},
    exit,
    question::{Provenance, Responder},
};

/// Answers a question.
pub async fn answer(args: &AnswerArgs) -> Result<u8, CommandError> {
    if args.values.is_empty() && args.field.is_empty() && args.note.is_empty() {
        return Err(CommandError::NoAnswer(args.id.clone()));
    }
    let read = |view: &Record| {
        let answer = typed::read(&view.question, view.kept.as_ref(), args).map_err(Refusal::DoesNotFit)?;
        Ok(Submission::Answer(answer))
    };
    submit(&args.id, "answered", read).await
}

/// Rejects a question.
pub async fn reject(args: &RejectArgs) -> Result<u8, CommandError> {
    submit(&args.id, "rejected", |_| Ok(Submission::Reject(args.reason.clone()))).await
}

/// Gives a question more time.
pub async fn extend(args: &ExtendArgs) -> Result<u8, CommandError> {
    submit(&args.id, "extended", |_| Ok(Submission::Extend(args.duration.into()))).await
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
