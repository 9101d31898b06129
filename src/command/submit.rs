//! `askbridge answer`, `reject` and `extend`: submits to a question, and says what was understood.

use std::{
    io::{self, Read},
    sync::Arc,
    time::Duration,
};

use super::{
    CommandError,
    converse::{can_ask, converse},
    run::{self, look_up, say},
    said::{by, said},
    typed::{self, AnswerOptions},
};
use crate::{
    control::Inbox,
    desk::{Record, Refusal, Submission},
    exit,
    form::dialogue::Dialogue,
    limits,
    present::{
        answer,
        bridges::Bridges,
        text::{self, span},
    },
    question::{Outcome, Purpose},
};

/// The value that stands for stdin.
const STDIN: &str = "-";
/// Bytes of an answer from stdin: with its escapes, it must fit into one request.
const LONGEST_INPUT: usize = limits::REQUEST / 2;

/// Answers a question.
pub async fn answer(options: &AnswerOptions) -> Result<u8, CommandError> {
    let AnswerOptions { values, fields, texts, notes, .. } = options;
    if options.again {
        return by_option(&options.id, again).await;
    }
    let is_empty = [values, fields, texts, notes].into_iter().all(Vec::is_empty);
    if is_empty && can_ask() {
        return talk(&options.id, Dialogue::new).await;
    }
    if is_empty {
        return Err(CommandError::NoAnswer(options.id.clone()));
    }
    // It is read before the question is looked up: a person may take long to type it.
    let options = with_stdin(options)?;
    let read = |record: &Record| {
        let kept = record.kept.as_ref();
        let mut answer = typed::read(&record.question, kept, &options)
            .map_err(|errors| CommandError::DoesNotFit(options.id.clone(), errors.join("; ")))?;
        if !answer.notes.is_empty() && !record.question.notes {
            answer.notes.clear();
            say(&format!("{}: the note is left out: this agent has no place for notes", record.id));
        }
        Ok(Submission::Answer(answer))
    };
    by_option(&options.id, read).await
}

/// Returns the answer of the same question from before.
fn again(record: &Record) -> Result<Submission, CommandError> {
    if record.question.purpose == Purpose::Permission {
        let how = format!("{0}: a permission is given anew: `askbridge allow {0}`", record.id);
        return Err(CommandError::Usage(how));
    }
    match record.earlier.as_deref().map(|earlier| &earlier.outcome) {
        Some(Outcome::Answered(answer)) => Ok(Submission::Answer(answer.clone())),
        _ => Err(CommandError::Usage(format!("{}: no answer to the same question is known", record.id))),
    }
}

/// Puts a question to the person at the terminal. They see which one it is, so that its number may be left out.
pub(super) async fn talk(id: &str, begin: impl FnOnce(Arc<Record>) -> Dialogue) -> Result<u8, CommandError> {
    let (machine, _, record) = look_up(id).await?;
    converse(&machine, begin(record)).await
}

/// Answers a question in the way that is read from it.
pub(super) async fn by_option(
    id: &str,
    read: impl FnOnce(&Record) -> Result<Submission, CommandError>,
) -> Result<u8, CommandError> {
    submit(id, read, |_, record, submission| said(record, submission)).await
}

/// Rejects a question.
pub async fn reject(id: &str, reason: Option<&str>) -> Result<u8, CommandError> {
    reject_if(id, reason, |_| Ok(())).await
}

/// Rejects a question, unless it is one that is not to be rejected.
pub(super) async fn reject_if(
    id: &str,
    reason: Option<&str>,
    check: impl FnOnce(&Record) -> Result<(), CommandError>,
) -> Result<u8, CommandError> {
    let read = |record: &Record| check(record).map(|()| Submission::Reject(reason.map(str::to_owned)));
    submit(id, read, |_, record, submission| said(record, submission)).await
}

/// Gives a question more time.
pub async fn extend(id: &str, by: Duration) -> Result<u8, CommandError> {
    let done = |bridges: &Bridges, record: &Record, _: &Submission| match record.deadline {
        Some(deadline) => {
            let left = deadline.since(bridges.now(record));
            format!("extended: ends in {}, at {deadline}", span(left))
        }
        None => format!("extended: {}", text::headline(record)),
    };
    submit(id, |_| Ok(Submission::Extend(by)), done).await
}

async fn submit(
    id: &str,
    read: impl FnOnce(&Record) -> Result<Submission, CommandError>,
    done: impl FnOnce(&Bridges, &Record, &Submission) -> String,
) -> Result<u8, CommandError> {
    let (machine, typed, record) = look_up(id).await?;
    if !typed.has_number() {
        // A repeated command means the question that was, and not the next one of the same bridge.
        return Err(CommandError::NoNumber(id.to_owned(), record));
    }
    let submission = read(&record).map_err(|error| match error {
        // What does not fit cannot be what settled it. The journal may have no texts that an answer could be read by.
        CommandError::DoesNotFit(id, _) if !record.is_open() => {
            CommandError::Refused(id, Refusal::Conflict(Arc::clone(&record)))
        }
        error => error,
    })?;
    let submitted = machine.submit(&record.id, submission.clone(), by()).await;
    let now: Arc<Record> = submitted.map_err(|refusal| match refusal {
        Refusal::DoesNotFit(errors) => {
            CommandError::DoesNotFit(id.to_owned(), answer::errors(&record.question, &errors))
        }
        refusal => CommandError::Refused(id.to_owned(), refusal),
    })?;
    let said = done(&Bridges::new(machine.status()), &now, &submission);
    Ok(run::done(exit::OK, &format!("{} {said}\n", record.id)))
}

/// Returns the options with what stdin says in the place of `-`.
fn with_stdin(options: &AnswerOptions) -> Result<AnswerOptions, CommandError> {
    let mut options = options.clone();
    let AnswerOptions { id, values, fields, .. } = &mut options;
    let mut values: Vec<_> = values.iter_mut().filter(|value| *value == STDIN).collect();
    let mut fields: Vec<_> = fields
        .iter_mut()
        .filter(|field| field.split_once('=').is_some_and(|(_, value)| value == STDIN))
        .collect();
    match (&mut *values, &mut *fields) {
        ([], []) => {}
        ([value], []) => **value = stdin(id)?,
        ([], [field]) => {
            field.truncate(field.len() - STDIN.len());
            field.push_str(&stdin(id)?);
        }
        _ => {
            let error = "stdin can be one value: `-` stands for it more than once".to_owned();
            return Err(CommandError::Usage(format!("{id}: {error}")));
        }
    }
    Ok(options)
}

/// Reads stdin to its end, and cuts one newline there.
fn stdin(id: &str) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let most = u64::try_from(LONGEST_INPUT).unwrap_or(u64::MAX).saturating_add(1);
    let read = io::stdin().lock().take(most).read_to_end(&mut bytes);
    let failed = |source| CommandError::Read { path: STDIN.into(), source };
    read.map_err(failed)?;
    if bytes.len() > LONGEST_INPUT {
        let error = format!("the answer on stdin is longer than {LONGEST_INPUT} bytes");
        return Err(CommandError::DoesNotFit(id.to_owned(), error));
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let text = text.strip_suffix('\n').map(|text| text.strip_suffix('\r').unwrap_or(text)).unwrap_or(&text);
    Ok(text.to_owned())
}
