//! A program that plays a sound or speaks, and the heartbeat. They get what is told on stdin and in the environment,
//! never as a part of a command line.

use std::time::Duration;

use super::{
    programs::{Given, run},
    telling::Telling,
};
use crate::{limits, notify::Message, settings::kinds::Disclosure};

/// Plays or speaks.
pub(super) async fn tell(telling: &Telling, message: &Message) -> Result<(), String> {
    let words = telling.settings.sound.as_deref().unwrap_or_default();
    run(words, given(telling, message), limits::NOTIFY_COMMAND).await
}

/// Runs the heartbeat command, for no longer than its interval.
pub(super) async fn beat(telling: &Telling) -> Result<(), String> {
    let Some(heartbeat) = &telling.settings.heartbeat else { return Ok(()) };
    let most: Duration = heartbeat.every.min(limits::NOTIFY_COMMAND);
    run(&heartbeat.command, given(telling, &telling.message(Disclosure::Title)), most).await
}

/// Returns what such a program is given: it stays on this machine.
pub(super) fn given(telling: &Telling, message: &Message) -> Given {
    Given {
        arguments: Vec::new(),
        variables: vec![
            ("QUESTION_ID", telling.record.id.to_string().into()),
            ("QUESTION_TITLE", message.text().replace('\n', ": ").into()),
        ],
        stdin: message.text() + "\n",
    }
}
