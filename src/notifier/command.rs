//! The person's own command. It gets the question as JSON in a file, whose path is its last argument.

use super::{paper::QuestionFile, programs::run, sound::given, telling::NotifiedQuestion};
use crate::{limits, machine::discovery, notify::Message};

/// Runs the command.
pub(super) async fn run_command(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let words = telling.settings.command.as_deref().unwrap_or_default();
    let folder = discovery::folder().map_err(|error| error.to_string())?;
    let paper =
        QuestionFile::write(&folder, &telling.record).map_err(|error| format!("the file for it: {error}"))?;
    let mut given = given(telling, message);
    given.arguments.push(paper.path().into());
    given.variables.push(("QUESTION_FILE", paper.path().into()));
    run(words, given, limits::NOTIFY_COMMAND).await
}
